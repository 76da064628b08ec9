#!/usr/bin/env node
// Copyright somebody

/**
 * @file Reads settings. Writes nothing.
 */
import fs, { readFile } from "node:fs";
export * from "./defaults.js";
export { one, two as deux } from "./numbers.js";

/** How deep. */
export const DEPTH = 3;
export let x = 1, { y, z: [w] } = pair();
const hidden = "h";

/**
 * Reads a file.
 * @param {string} path
 */
export async function read(path, { encoding = "utf8", ...rest } = {}) {
  return readFile(path);
}

export function* steps(n) { yield n; }

export const double = (x) => x * 2;
export const wrap = function named(f, ...args) {
  return () => f(...args);
};

export class Store extends Map {
  static count = 0;
  #secret = 1;
  limit = 10;
  handler = async (event) => { await event; };

  constructor(path) { super(); }
  get size() { return 0; }
  set size(value) {}
  static async open(path) {}
  *[Symbol.iterator]() {}
  #hide() {}
}

function later() {}
class Other { go() {} }

export { later, Other as Renamed };
export default { name: "store", Store };
