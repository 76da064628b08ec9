// TypeScript and JavaScript sources with the usual faults, for tsc and eslint; see js_gen.mjs.
export default ({ write, random, sample }) => {
  const cap = (w) => w[0].toUpperCase() + w.slice(1);
  const fill = (t, w) => t.replace(/__W__/g, cap(w)).replace(/__w__/g, w);

  const museumWords = ["archive", "audio", "badge", "cabinet", "catalog", "courtyard", "curator", "donor", "exhibit", "frame", "gallery", "guide",
    "hall", "insurance", "label", "lender", "locker", "member", "object", "patron", "pedestal", "poster", "print", "relic", "room", "school",
    "sculpture", "shop", "sketch", "statue", "ticket", "tour", "vault", "visitor", "vitrine", "wing"];
  const museum = [
    "export interface __W__ {\n  id: number;\n  name: string;\n  tags?: string[];\n}\n",
    "export function find__W__(list: __W__[], id: string): __W__ {\n  return list.find((x) => x.id === id);\n}\n",
    "export function __w__Label(item: __W__): string {\n  return item.title.toUpperCase() + item.tags.length;\n}\n",
    "export async function load__W__(url: string): __W__ {\n  const answer = await fetch(url);\n  return answer.json();\n}\n",
    "export const default__W__: __W__ = { id: \"1\", name: \"none\", colour: \"red\" };\n",
    "export function count__W__s(list: __W__[]) {\n  let total: string = 0;\n  for (const x of list) total += x.id;\n  return total;\n}\n",
    "export function sort__W__s(list: readonly __W__[]) {\n  return list.sort((a, b) => a.name - b.name);\n}\n",
    "export class __W__Store implements Store<__W__> {\n  private rows = new Map<number, __W__>();\n  add(row: __W__): number {\n    this.rows.set(row.name, row);\n  }\n}\n",
    "export function pick__W__(kind: \"a\" | \"b\" | \"c\"): number {\n  switch (kind) {\n    case \"a\": return 1;\n    case \"d\": return 4;\n  }\n}\n",
    "export function print__W__(item, times) {\n  var unused = 1;\n  for (var i = 0; i < times; i++) console.log(item);\n}\n",
    "export function same__W__(a: any, b: any): boolean {\n  if (a == b) { return true }\n  else { }\n  return a.id == b.id;\n}\n",
  ];

  function tsProject(words, parts, seed, extra) {
    const rnd = random(seed);
    write("package.json", '{ "name": "app", "type": "module", "private": true }\n');
    write("src/types.ts", "export interface Store<T> {\n  add(row: T): number;\n  remove(id: number): void;\n}\n\nexport type Result<T> = { ok: true; value: T } | { ok: false; error: string };\n");
    for (const w of words) {
      const chosen = [parts[0], ...sample(parts.slice(1), 4 + Math.floor(rnd() * (parts.length - 5)), rnd)];
      write("src/" + w + ".ts", 'import type { Store, Result } from "./types.js";\n\n' + chosen.map((p) => fill(p, w)).join("\n"));
    }
    extra();
  }

  return {
    museum() {
      const more = museumWords.flatMap((w) => [w, w + "Plan", w + "Log", w + "View"]);
      tsProject(more, museum, 91, () => {
        write("tsconfig.json", '{ "compilerOptions": { "target": "es2022", "module": "nodenext", "strict": true, "noUnusedLocals": true, "types": [], "lib": ["es2022"] }, "include": ["src"] }\n');
        write("eslint.config.js", 'import js from "@eslint/js";\nimport ts from "typescript-eslint";\nexport default ts.config(js.configs.recommended, ...ts.configs.recommended, { rules: { eqeqeq: "warn", "no-console": "warn", "no-var": "error", curly: "warn" } });\n');
        write("src/main.ts", 'import { archive } from "./archive.js";\nimport { Kiosk } from "./kiosk.js";\nimport type { Result } from "./types.js";\n\nexport function open(result: Result<number>): number {\n  debugger;\n  eval("1 + 1");\n  return result.value;\n}\n\nconst port: number = process.env.PORT;\nopen({ ok: true, value: "nine" });\nopen();\n');
      });
    },
    airfield() {
      const base = ["apron", "beacon", "crew", "fuel", "glider", "hangar", "landing", "mast", "pilot", "radar", "runway", "slotPlan", "taxiway", "tower", "weather", "windsock", "baggage", "ferry"];
      const parts = [
        "export type __W__State = \"idle\" | \"busy\" | \"closed\";\n\nexport interface __W__ {\n  readonly code: string;\n  state: __W__State;\n  since: Date;\n  next?: __W__;\n}\n",
        "export function close__W__(x: __W__): void {\n  x.code = x.code.toLowerCase();\n  x.state = \"shut\";\n}\n",
        "export function wait__W__(x: __W__): number {\n  return x.since - new Date();\n}\n",
        "export function chain__W__(x: __W__): string[] {\n  const out = [];\n  while (x) {\n    out.push(x.code);\n    x = x.next;\n  }\n  return out;\n}\n",
        "export const __w__Names: Record<__W__State, string> = { idle: \"Idle\", busy: \"Busy\" };\n",
        "export function group__W__s<T extends __W__>(rows: T[]): Map<string, T[]> {\n  const m = new Map<string, T>();\n  for (const r of rows) m.set(r.code, r);\n  return m;\n}\n",
        "export const is__W__ = (x: unknown): x is __W__ => x.code !== undefined;\n",
        "export function set__W__(x: Partial<__W__>, key: string, value: string) {\n  x[key] = value;\n  return x.next.state;\n}\n",
        "export abstract class __W__Base {\n  abstract run(minutes: number): Promise<void>;\n}\n\nexport class __W__Job extends __W__Base {\n  run(minutes: string) {\n    return minutes;\n  }\n}\n\nnew __W__Base();\n",
        "export function log__W__(x: __W__, ...rest: number[]) {\n  const text = `${x.code} ${rest}`;\n  let n = rest.length;\n  if (n = 1) return text;\n  return x.hasOwnProperty(\"code\") ? text : text;\n}\n",
        "export function parse__W__(s: string): Result<__W__> {\n  try {\n    return JSON.parse(s);\n  } catch (e) {\n    return { ok: false, error: e.message };\n  }\n}\n",
      ];
      const words = base.flatMap((w) => [w, w + "Api", w + "Log", w + "Store", w + "View"]);
      tsProject(words, parts, 17, () => {
        write("tsconfig.json", '{ "compilerOptions": { "target": "es2022", "module": "nodenext", "strict": true, "types": [] }, "include": ["src"] }\n');
        write("eslint.config.js", 'import js from "@eslint/js";\nimport ts from "typescript-eslint";\nexport default ts.config(js.configs.recommended, ...ts.configs.strict, ...ts.configs.stylistic, { rules: { "no-undef": "off", "prefer-template": "warn", "id-length": ["warn", { min: 2 }], "no-magic-numbers": "warn" } });\n');
        write("src/control.ts", 'import { Runway, runwayLength } from "./runway.js";\nimport type { Pilot } from "./pilot.js";\n\nexport class Control {\n  #queue: Pilot[] = [];\n\n  admit(p: Pilot, priority: number): boolean {\n    this.queue.push(p);\n    return this.#queue.length;\n  }\n\n  get first(): Pilot {\n    return this.#queue.at(0);\n  }\n}\n\nnew Control().admit({ code: "D-1", state: "idle" }, "high");\nwhile (true) { }\n');
      });
    },
  };
};
