// Writes JavaScript and TypeScript projects: js_gen.mjs PROJECT DIR.
import fs from "node:fs";
import path from "node:path";

const [, , project, dir] = process.argv;
process.chdir(dir);

function write(file, text) {
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, text.replace(/^\n/, ""));
}

function random(seed) {
  return () => {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    return seed / 2147483648;
  };
}

function sample(list, n, rnd) {
  return list.map((x) => [rnd(), x]).sort((a, b) => a[0] - b[0]).slice(0, n).map((x) => x[1]);
}

const projects = {};

projects.board = () => {
  write("package.json", '{ "name": "board", "version": "2.1.0", "private": true }\n');
  write("src/cards.js", `
class Card {
  constructor(id, title, points = 1) {
    this.id = id;
    this.title = title;
    this.points = points;
    this.labels = [];
  }

  label(name) {
    this.labels.push(name);
    return this;
  }
}

function move(board, id, to, index = 0) {
  const from = Object.keys(board).find((c) => board[c].some((x) => x.id === id));
  const card = board[from].find((x) => x.id === id);
  board[from] = board[from].filter((x) => x.id !== id);
  board[to].splice(index, 0, card);
  return board;
}

function velocity(sprints) {
  return Math.round(sprints.reduce((a, s) => a + s.done, 0) / sprints.length);
}

module.exports = { Card, move, velocity };
`);
  write("src/dates.js", `
function workdays(from, to) {
  let n = 0;
  for (let d = new Date(from); d < new Date(to); d.setUTCDate(d.getUTCDate() + 1)) {
    if (d.getUTCDay() !== 0) n += 1;
  }
  return n;
}

function ago(ms) {
  const s = Math.round(ms / 1000);
  if (s < 60) return s + " seconds ago";
  if (s < 3600) return Math.round(s / 60) + " minutes ago";
  return Math.round(s / 3600) + " hours ago";
}

module.exports = { workdays, ago };
`);
  write("src/sync.js", `
async function pull(client, since) {
  const page = await client.get("/changes?since=" + since);
  console.warn("pulled " + page.items.length + " changes since " + since);
  return page.items;
}

function merge(local, remote) {
  return { ...local, ...remote };
}

module.exports = { pull, merge };
`);
  write("test/cards.test.js", `
const { Card, move, velocity } = require("../src/cards");

const board = () => ({
  todo: [new Card(1, "Login page", 5), new Card(2, "Dark mode", 3)],
  doing: [new Card(3, "Fix export", 2).label("bug")],
  done: [],
});

describe("move", () => {
  test("puts the card on top", () => {
    expect(move(board(), 1, "doing").doing.map((c) => c.id)).toEqual([1, 3]);
  });

  test("keeps the order when the column stays the same", () => {
    expect(move(board(), 1, "todo", 1).todo.map((c) => c.id)).toEqual([2, 1]);
  });

  test("refuses an unknown card", () => {
    expect(() => move(board(), 99, "done")).toThrow("no card 99");
  });

  test("refuses an unknown column", () => {
    expect(() => move(board(), 1, "archive")).toThrow("no column archive");
  });

  test("does not change the board it was given", () => {
    const before = board();
    move(before, 3, "done");
    expect(before).toEqual(board());
  });
});

describe("velocity", () => {
  test("is the mean", () => {
    expect(velocity([{ done: 20 }, { done: 25 }, { done: 31 }])).toBe(25);
  });

  test("of no sprints is zero", () => {
    expect(velocity([])).toBe(0);
  });
});

describe("labels", () => {
  test.each(Array.from({ length: 60 }, (_, n) => ["label-" + n]))("%s is kept", (name) => {
    expect(new Card(7, "x").label(name).labels).toContain(name);
  });

  test("are not doubled", () => {
    expect(new Card(7, "x").label("bug").label("bug")).toEqual({ id: 7, title: "x", points: 1, labels: ["bug"] });
  });
});
`);
  write("test/dates.test.js", `
const { workdays, ago } = require("../src/dates");

test.each([
  ["2026-03-02", "2026-03-07", 5],
  ["2026-03-02", "2026-03-09", 5],
  ["2026-03-06", "2026-03-07", 1],
  ["2026-03-07", "2026-03-09", 0],
  ["2026-03-01", "2026-04-01", 22],
])("workdays from %s to %s are %d", (from, to, n) => {
  expect(workdays(from, to)).toBe(n);
});

test.each([
  [1000, "1 second ago"],
  [45000, "45 seconds ago"],
  [60000, "1 minute ago"],
  [7200000, "2 hours ago"],
  [90000000, "1 day ago"],
])("ago(%d) is %s", (ms, text) => {
  expect(ago(ms)).toBe(text);
});

test.skip("ago in other languages", () => {});
test.todo("ago in the future");
`);
  write("test/sync.test.js", `
const { pull, merge } = require("../src/sync");

const pages = Array.from({ length: 24 }, (_, n) => n);

test.each(pages)("pull page %d", async (n) => {
  const client = { get: async () => ({ items: new Array(n).fill({ id: n }) }) };
  expect(await pull(client, n * 100)).toHaveLength(n);
});

test("pull retries once", async () => {
  let calls = 0;
  const client = {
    get: async () => {
      calls += 1;
      if (calls === 1) throw new Error("socket hang up: sync.test:443");
      return { items: [] };
    },
  };
  await pull(client, 0);
});

test("merge keeps local edits that are newer", () => {
  const local = { title: "Export as CSV", points: 3, edited: 1720 };
  const remote = { title: "Export", points: 5, edited: 1700, assignee: "api" };
  expect(merge(local, remote)).toEqual({ title: "Export as CSV", points: 3, edited: 1720, assignee: "api" });
});

test("pull gives up in time", async () => {
  await pull({ get: () => new Promise(() => {}) }, 0);
}, 1500);
`);
  write("test/import.test.js", `
const { parse } = require("../src/importer");

test("reads a file of the old tracker", () => {
  expect(parse("a;b")).toHaveLength(2);
});
`);
  write("test/snapshot.test.js", `
const { Card } = require("../src/cards");

test.each(["Login page", "Dark mode", "Fix export", "Faster search"])("card %s prints as before", (title) => {
  expect(new Card(1, title, 8)).toEqual({ id: 1, title, points: 5, labels: [], state: "new" });
});
`);
};

projects.library = () => {
  write("package.json", '{ "name": "library", "version": "0.9.4", "private": true }\n');
  write("src/isbn.js", `
function clean(text) {
  return text.replace(/-/g, "");
}

function valid13(text) {
  const digits = clean(text).split("").map(Number);
  const sum = digits.reduce((a, d, i) => a + d * (i % 2 ? 3 : 1), 0);
  return sum % 10 === 0;
}

function check13(first12) {
  const sum = first12.split("").map(Number).reduce((a, d, i) => a + d * (i % 2 ? 3 : 1), 0);
  return 10 - (sum % 10);
}

module.exports = { clean, valid13, check13 };
`);
  write("src/loans.js", `
class Loans {
  constructor(limit = 5) {
    this.limit = limit;
    this.open = new Map();
  }

  lend(reader, book, day) {
    const list = this.open.get(reader) || [];
    if (list.length > this.limit) throw new Error(reader + " has " + list.length + " books already");
    list.push({ book, due: day + 28 });
    this.open.set(reader, list);
  }

  giveBack(reader, book) {
    const list = this.open.get(reader);
    list.splice(list.findIndex((l) => l.book === book), 1);
  }

  fine(reader, day) {
    return this.open.get(reader).reduce((sum, l) => sum + (day - l.due) * 20, 0);
  }
}

module.exports = { Loans };
`);
  write("test/isbn.test.js", `
const { valid13, check13 } = require("../src/isbn");

const stems = Array.from({ length: 420 }, (_, n) => "978" + String(300000000 + n * 7919).padStart(9, "0"));

describe("check digits", () => {
  test.each(stems)("of %s", (stem) => {
    expect(valid13(stem + check13(stem))).toBe(true);
  });
});

describe("validity", () => {
  test("letters are refused", () => {
    expect(valid13("978-3-16-14841O-0")).toBe(false);
  });

  test("too short is refused", () => {
    expect(valid13("0")).toBe(false);
  });

  test("spaces are ignored", () => {
    expect(valid13("978 3 16 148410 0")).toBe(true);
  });
});
`);
  write("test/loans.test.js", `
const { Loans } = require("../src/loans");

describe("lending", () => {
  let loans;
  beforeEach(() => {
    loans = new Loans();
  });

  test.each(Array.from({ length: 260 }, (_, n) => n + 1))("book %d on its own", (n) => {
    loans.lend("reader-1", "book-" + n, n);
    expect(loans.open.get("reader-1")).toEqual([{ book: "book-" + n, due: n + 28 }]);
  });

  test("a sixth book is refused", () => {
    for (let n = 0; n < 5; n += 1) loans.lend("reader-1", "book-" + n, 1);
    expect(() => loans.lend("reader-1", "book-6", 1)).toThrow(/5 books already/);
  });

  test("giving back a book that was never lent", () => {
    expect(() => loans.giveBack("reader-2", "book-1")).toThrow("reader-2 has no books");
  });

  test("giving back the wrong book keeps the others", () => {
    loans.lend("reader-1", "book-1", 1);
    loans.giveBack("reader-1", "book-9");
    expect(loans.open.get("reader-1")).toHaveLength(1);
  });
});

describe("fines", () => {
  test("before the due day there is none", () => {
    const loans = new Loans();
    loans.lend("reader-1", "book-1", 1);
    expect(loans.fine("reader-1", 10)).toBe(0);
  });

  test("are capped at ten", () => {
    const loans = new Loans();
    loans.lend("reader-1", "book-1", 1);
    expect(loans.fine("reader-1", 400)).toBeLessThanOrEqual(1000);
  });

  test.skip("children pay half", () => {});
});
`);
  write("test/search.test.js", `
const shelf = ["Harbour lights", "The long ledger", "A field guide to moss", "Tides and timetables"];

function search(text) {
  console.log("searching " + text);
  return shelf.filter((t) => t.includes(text));
}

describe("search", () => {
  test.each(["Harbour", "ledger", "moss", "Tides"])("finds %s", (word) => {
    expect(search(word)).toHaveLength(1);
  });

  test("ignores case", () => {
    expect(search("harbour")).toEqual(["Harbour lights"]);
  });

  test("warms up the index", async () => {
    await new Promise((r) => setTimeout(r, 1400));
    expect(search("a").length).toBeGreaterThan(2);
  });
});

describe("remote catalogue", () => {
  beforeAll(() => {
    throw new Error("catalogue.test:7090 does not answer");
  });

  test("finds by author", () => {});
  test("finds by year", () => {});
});
`);
};

projects.courier = () => {
  write("package.json", '{ "name": "courier", "type": "module", "private": true }\n');
  write("vitest.config.js", 'export default { test: { include: ["test/**/*.test.ts"] } };\n');
  write("src/route.ts", `
export interface Stop {
  id: number;
  x: number;
  y: number;
  open?: [number, number];
}

export function distance(a: Stop, b: Stop): number {
  return Math.hypot(a.x - b.x, a.y - b.y);
}

export function nearest(from: Stop, stops: Stop[]): Stop {
  return stops.reduce((best, s) => (distance(from, s) < distance(from, best) ? s : best));
}

export function tour(start: Stop, stops: Stop[]): number[] {
  const left = [...stops];
  const result: number[] = [];
  let at = start;
  while (left.length > 0) {
    at = nearest(at, left);
    left.splice(left.indexOf(at), 1);
    result.push(at.id);
  }
  return result;
}

export function isOpen(stop: Stop, hour: number): boolean {
  return stop.open![0] <= hour && hour < stop.open![1];
}
`);
  write("src/parcel.ts", `
export type Size = "S" | "M" | "L" | "XL";

export function size(cm: [number, number, number]): Size {
  const sum = cm[0] + cm[1] + cm[2];
  if (sum < 50) return "S";
  if (sum < 90) return "M";
  if (sum < 150) return "L";
  return "XL";
}

export function price(size: Size, kg: number): number {
  const base = { S: 390, M: 490, L: 690, XL: 1190 }[size];
  return base + Math.floor(kg) * 50;
}

export function track(code: string): { country: string; number: number } {
  const m = /^([A-Z]{2})(\\d{8})$/.exec(code);
  return { country: m![1], number: Number(m![2]) };
}
`);
  write("test/route.test.ts", `
import { describe, expect, it } from "vitest";
import { distance, isOpen, nearest, tour } from "../src/route";

const depot = { id: 0, x: 0, y: 0 };
const grid = Array.from({ length: 40 }, (_, n) => ({ id: n + 1, x: (n * 37) % 41, y: (n * 17) % 29 }));

describe("tour", () => {
  it.each(grid.map((s) => s.id))("visits stop %i exactly once", (id) => {
    expect(tour(depot, grid).filter((x) => x === id)).toHaveLength(1);
  });
  it("takes the nearer of two stops first", () => {
    expect(tour(depot, [{ id: 1, x: 9, y: 0 }, { id: 2, x: 3, y: 0 }])).toEqual([2, 1]);
  });
  it("prefers the lower number at equal distance", () => {
    expect(tour(depot, [{ id: 5, x: 3, y: 0 }, { id: 2, x: 0, y: 3 }])).toEqual([2, 5]);
  });
});

describe("nearest", () => {
  it("of no stops is undefined", () => {
    expect(nearest(depot, [])).toBeUndefined();
  });
});

describe("isOpen", () => {
  it.each([7, 8, 12, 17, 18, 23])("at %i", (hour) => {
    expect(isOpen({ id: 1, x: 0, y: 0, open: [8, 18] }, hour)).toBe(hour >= 8 && hour <= 18);
  });
  it("a stop without hours is always open", () => {
    expect(isOpen(depot, 3)).toBe(true);
  });
  it("measures in kilometres", () => {
    expect(distance(depot, { id: 1, x: 3, y: 4 })).toBeCloseTo(4.8, 1);
  });
});
`);
  write("test/parcel.test.ts", `
import { describe, expect, it, test } from "vitest";
import { price, size, track } from "../src/parcel";

describe("size", () => {
  it.each([
    [[10, 10, 10], "S"], [[20, 20, 10], "S"], [[30, 30, 30], "M"], [[50, 40, 30], "L"], [[60, 60, 30], "L"], [[90, 60, 40], "XL"],
  ] as const)("of %j is %s", (cm, want) => {
    expect(size(cm as any)).toBe(want);
  });
});

describe("price", () => {
  it.each(Array.from({ length: 31 }, (_, n) => n))("grows with %i kg", (kg) => {
    expect(price("M", kg + 1)).toBeGreaterThan(price("M", kg));
  });
  it("rounds a started kilogram up", () => {
    expect(price("S", 1.2)).toBe(490);
  });
  it("has a heavy surcharge above 20 kg", () => {
    expect({ size: "L", kg: 25, price: price("L", 25) }).toEqual({ size: "L", kg: 25, price: 2440 });
  });
});

describe("track", () => {
  it("reads a code", () => {
    expect(track("DE00004711")).toEqual({ country: "DE", number: 4711 });
  });
  it("explains a bad code", () => {
    expect(() => track("4711")).toThrow("not a tracking code: 4711");
  });
  it.todo("checks the check digit");
  test.skip("asks the server", () => {});
});
`);
  const hubs = ["north", "south", "east", "west", "airport", "harbor", "mall", "campus"];
  for (const hub of hubs) {
    write(`test/hubs/${hub}.test.ts`, `
import { afterEach, beforeEach, describe, expect, it } from "vitest";

const name = "${hub}";
let shelf: Map<string, number>;

beforeEach(() => {
  shelf = new Map([["capacity", ${hub.length * 10}], ["used", ${hub.length}]]);
});
afterEach(() => shelf.clear());

function put(n: number): number {
  const used = shelf.get("used")! + n;
  if (used > shelf.get("capacity")!) throw new RangeError(name + " is full: " + used + " of " + shelf.get("capacity"));
  shelf.set("used", used);
  return used;
}

describe("hub " + name, () => {
  it.each(Array.from({ length: 12 }, (_, n) => n))("takes %i parcels", (n) => {
    expect(put(n)).toBe(${hub.length} + n);
  });
  it("takes a full van", () => {
    expect(put(50)).toBe(${hub.length + 50});
  });
  it("reports its load", () => {
    put(${hub === "mall" ? 3 : 4});
    expect(Object.fromEntries(shelf)).toEqual({ capacity: ${hub.length * 10}, used: ${hub.length + 4}, waiting: 0 });
  });
${hub === "airport" ? '  it("waits for customs", async () => {\n    await new Promise((r) => setTimeout(r, 2300));\n    expect(put(1)).toBe(8);\n  });\n' : ""}});
`);
  }
  write("test/api.test.ts", `
import { expect, it } from "vitest";
import { client } from "../src/api-client";

it("logs in", () => {
  expect(client.login()).toBe(true);
});
`);
};

projects.garden = () => {
  write("package.json", '{ "name": "garden", "type": "module", "private": true }\n');
  write("src/plan.js", `
export const plants = { bean: [4, 9, 15], pea: [3, 6, 8], leek: [5, 11, 20], kale: [6, 12, 40], beet: [4, 10, 10], chard: [4, 10, 25] };

export function canSow(plant, month) {
  const [from, to] = plants[plant];
  return month >= from && month <= to;
}

export function rows(plant, widthCm) {
  return Math.floor(widthCm / plants[plant][2]);
}

export function neighbours(bed) {
  return bed.map((p, i) => [bed[i - 1], p, bed[i + 1]].filter(Boolean));
}

export function water(mm, days) {
  return days.map((d) => mm - d.rain);
}
`);
  write("test/sowing.test.js", `
import { describe, expect, it } from "vitest";
import { canSow, plants } from "../src/plan.js";

describe.each(Object.keys(plants))("%s", (plant) => {
  for (let year = 2020; year < 2030; year += 1) {
    describe("in " + year, () => {
      it.each([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12])("month %i", (month) => {
        const [from, to] = plants[plant];
        expect(canSow(plant, month)).toBe(month >= from && month < to);
      });
    });
  }
});
`);
  write("test/beds.test.js", `
import { describe, expect, it } from "vitest";
import { neighbours, rows, water } from "../src/plan.js";

describe("rows", () => {
  for (let w = 20; w <= 400; w += 1) {
    it("of beans in " + w + " cm", () => {
      expect(rows("bean", w)).toBe(Math.floor(w / 15));
    });
  }
  it("of an unknown plant", () => {
    expect(() => rows("melon", 100)).toThrow("unknown plant melon");
  });
});

describe("neighbours", () => {
  it("wrap around in a round bed", () => {
    expect(neighbours(["bean", "leek", "kale"])[0]).toEqual(["kale", "bean", "leek"]);
  });
});

describe("water", () => {
  it("is never negative", () => {
    expect(water(10, [{ rain: 4 }, { rain: 25 }, { rain: 0 }])).toEqual([6, 0, 10]);
  });
  it("skips broken gauges", () => {
    expect(water(10, [{ rain: 4 }, null])).toEqual([6, 10]);
  });
  it("drips slowly", async () => {
    await new Promise((r) => setTimeout(r, 1650));
  });
  it("times out without a pump", async () => {
    await new Promise(() => {});
  }, 800);
  it.skip("needs a valve on the bus", () => {});
});
`);
};

import("./js_gen_lint.mjs").then((m) => {
  Object.assign(projects, m.default({ write, random, sample }));
  projects[project]();
});
