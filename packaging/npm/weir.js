#!/usr/bin/env node
// Starts the program of the package for this platform, with the same arguments, streams, signals and exit code.
// Clients do not come this way: `weir setup` writes the path of the program itself, since node takes longer to start.
"use strict";

const { spawn } = require("node:child_process");
const { closeSync, openSync } = require("node:fs");
const { constants } = require("node:os");

const platform = `${process.platform}-${process.arch}`;
const file = process.platform === "win32" ? "weir.exe" : "weir";

let program;
try {
  program = require.resolve(`weir-cli-${platform}/bin/${file}`);
} catch {
  console.error(`error: cannot find the program for ${platform}: the package weir-cli-${platform} is not installed`);
  console.error("hint: install weir-cli with its optional dependencies; otherwise this platform has no package");
  process.exit(1);
}

const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
// Ctrl-C and the end of a terminal reach the program as well as the shim. If the shim passed them on, the program would
// take the second one as a wish to end at once.
const fromTerminal = hasTerminal() ? ["SIGINT", "SIGHUP"] : [];
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => fromTerminal.includes(signal) || child.kill(signal));
}
child.on("error", (error) => {
  console.error(`error: cannot start ${program}: ${error.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => process.exit(signal ? 128 + constants.signals[signal] : code));

function hasTerminal() {
  if (process.platform === "win32") return true;
  try {
    closeSync(openSync("/dev/tty", "r"));
    return true;
  } catch {
    return false;
  }
}
