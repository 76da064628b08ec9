/// <reference types="node" />
/**
 * Orders and how they are filled. Nothing is charged here.
 */
import type { Clock } from "./clock";
import { log } from "./log";

export { log };
export { open as start, type Clock } from "./clock";
export * from "./errors";
export * as shapes from "./shapes";

/** How many may wait. */
export const LIMIT = 100;
export const a = 1, b: string = "two";
export const { left, right: [up, ...down] } = spread();
export const LONG = {
  text: "a value that is much longer than anything that one would want to read in an outline",
} as const;
const hidden = 1;
let later: number, never = 2;

/** Adds one. */
export const increment = async <T extends number>(value: T, by = 1): Promise<number> => {
  return value + by;
};

export type Id = string | number;
export type Shape<T> =
  // a round one
  | { kind: "circle"; radius: number }
  | {
      kind: "square"
      side: T
    };

/** What a thing is. */
export enum Status {
  Open,
  Closed = "closed",
  "odd name" = 3,
}
export const enum Flag { A = 1 << 0, B }

/** Something with a name. */
export interface Named<out T = unknown> extends Base, Other<T> {
  readonly name: string;
  /** Its age. */
  age?: number,
  [key: string]: unknown
  (input: string): T
  new (input: string): Named<T>
  greet(who: string): void
  get size(): number
  <type>(a: type): void
}

@Component({ selector: "app" })
export abstract class Service<T> extends Parent<T> implements Named {
  static readonly instances = new Map<string, Service<unknown>>();
  #secret = 1;
  private count = 0;
  protected kept: T[] = [];
  declare name: string;
  onClick = (event: Event): void => {
    log(event);
  };

  constructor(private readonly clock: Clock, public label?: string) {
    super();
  }

  @Input() size: number = 1;

  get total(): number { return this.count; }
  set total(value: number) { this.count = value; }

  find(id: number): T;
  find(id: string): T;
  /** Finds one. */
  @memo
  find(id: number | string): T {
    return this.kept[0];
  }

  abstract run(input: string): Promise<void>;
  static async *all<U>(this: Service<U>): AsyncGenerator<U> {}
  private helper(): void {}
  [Symbol.iterator](): Iterator<T> { return this.kept.values(); }
}

export function pay(what: number): number;
export function pay(what: string): string;
export function pay(what: unknown): unknown {
  return what;
}

export function isNamed(x: unknown): x is Named {
  return true;
}

function used(x: number) {
  return x;
}
class Local {
  go(): void {}
}

export namespace Tools {
  export const version = "1";
  export function hammer(nail: string): void {}
  function own() {}
  export namespace Deep {
    export type T = 1;
  }
}

declare global {
  interface Window {
    app: Service<string>;
  }
}

declare module "untyped" {
  export function f(x: number): string;
  const value: number;
}

export declare function later(x: import("./clock").Clock<string>): void;
declare const ambient: string;

export { used, Local as Renamed, later as later };
export default class extends Service<string> {
  async run() {}
}
