// Tools of other MCP servers: `const { github } = require("weir_tools"); github.list_issues({ owner: "o", repo: "r" })`.
"use strict";

const { spawnSync } = require("node:child_process");

/** Calls a tool, and returns its answer: parsed if it is JSON, otherwise as text. */
function call(server, tool, input = {}) {
  const done = spawnSync("weir", ["call", server, tool, JSON.stringify(input)], {
    encoding: "utf8",
    maxBuffer: 64 << 20,
  });
  if (done.error) throw done.error;
  if (done.status !== 0) throw new Error((done.stderr || done.stdout).trim());
  try {
    return JSON.parse(done.stdout);
  } catch {
    return done.stdout;
  }
}

const tools = (server) => new Proxy({}, { get: (_, tool) => (input) => call(server, tool, input) });

module.exports = new Proxy({ call }, { get: (own, name) => own[name] ?? tools(name) });
