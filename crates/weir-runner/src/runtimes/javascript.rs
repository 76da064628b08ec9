//! JavaScript, with Bun, Node or Deno. TypeScript shares the prelude of the first two.

use std::ffi::{OsStr, OsString};

use super::{Language, Plan, PlanRequest, Runtime, on_first_line};

/// Code may use `import`, `require` and top-level `await`: from 20.19 on, Node detects from its syntax that a `.js`
/// file is a module.
pub(super) const JAVASCRIPT: Language = Language {
    name: "javascript",
    aliases: &["js", "node", "nodejs", "bun", "mjs", "cjs", "ecmascript"],
    extensions: &["js", "mjs", "cjs", "jsx"],
    runtimes: &[
        Runtime { program: "bun", versions: &[], install: INSTALL_BUN, plan: |request| bun(request, "code.js") },
        Runtime {
            program: "node",
            versions: &[],
            install: &["apt install nodejs", "dnf install nodejs", "brew install node"],
            plan: |request| node(request, "code.js", &[]),
        },
        Runtime { program: "deno", versions: &[], install: INSTALL_DENO, plan: |request| deno(request, "code.js") },
    ],
};

pub(super) const INSTALL_BUN: &[&str] = &["npm install --global bun", "brew install oven-sh/bun/bun"];
pub(super) const INSTALL_DENO: &[&str] = &["npm install --global deno", "brew install deno"];

/// Loaded before the code. Packages are resolved next to the code, which is in the scratch folder, so the nearest
/// `node_modules` of the current folder is linked there. Relative names, as in `require("./package.json")`, are
/// resolved in the current folder; for `import` that takes Node a thread, so only if the code has such a name. Modules
/// have no `require`, but models mix both.
const PRELUDE: &str = r#"const fs = require("node:fs");
const path = require("node:path");
const Module = require("node:module");
const RELATIVE = /^\.\.?(\/|$)/;
const isCode = (file) => file !== undefined && path.dirname(file) === __dirname;
if (globalThis.Bun) {
  const find = (asked) => (isCode(asked.importer) ? { path: Bun.resolveSync(asked.path, process.cwd()) } : undefined);
  Bun.plugin({ name: "weir", setup: (build) => build.onResolve({ filter: RELATIVE }, find) });
} else {
  const resolve = Module._resolveFilename;
  Module._resolveFilename = function (name, parent, ...rest) {
    return resolve.call(this, RELATIVE.test(name) && isCode(parent?.filename) ? path.resolve(name) : name, parent, ...rest);
  };
  const [folder, here] = [__dirname, process.cwd()].map((name) => require("node:url").pathToFileURL(name).href);
  // The thread loads this file too, without arguments.
  const code = process.argv[1] === undefined ? "" : fs.readFileSync(process.argv[1], "utf8");
  if (/\bimport\b[^;]*["'`]\.\.?\//.test(code)) {
    Module.register?.("data:text/javascript," + encodeURIComponent(`export const resolve = (name, context, next) => next(
      ${RELATIVE}.test(name) && context.parentURL?.startsWith("${folder}/") ? new URL(name, "${here}/").href : name, context)`));
  }
}
for (let folder = process.cwd(); ; folder = path.dirname(folder)) {
  const modules = path.join(folder, "node_modules");
  if (fs.existsSync(modules)) {
    try { fs.symlinkSync(modules, path.join(__dirname, "node_modules")); } catch (error) { if (error.code !== "EEXIST") throw error; }
    break;
  }
  if (folder === path.dirname(folder)) break;
}
globalThis.require ??= Module.createRequire(path.join(process.cwd(), "code.js"));
if (process.env.WEIR_FILE !== undefined) {
  globalThis.FILE_PATH = process.env.WEIR_FILE;
  globalThis.FILE_CONTENT = fs.readFileSync(globalThis.FILE_PATH, "utf8");
}
"#;

/// Deno may not support preloading a file, so this goes in front of the code.
const DENO_PRELUDE: &str = "globalThis.FILE_PATH = Deno.env.get(\"WEIR_FILE\"); \
    globalThis.FILE_CONTENT = new TextDecoder().decode(Deno.readFileSync(globalThis.FILE_PATH)); ";

/// Plans a run with Bun. Bun would install missing packages from the network and read `.env` files, so both are off.
pub(super) fn bun(request: &PlanRequest<'_>, name: &str) -> Plan {
    let step = request.step(["run", "--no-install", "--no-env-file"].map(OsStr::new));
    with_prelude(request, name, step, "--preload")
        .set("BUN_RUNTIME_TRANSPILER_CACHE_PATH", "0")
        .set("DO_NOT_TRACK", "1")
}

pub(super) fn node(request: &PlanRequest<'_>, name: &str, flags: &[&str]) -> Plan {
    let mut step = request.step([]);
    step.extend(flags.iter().map(Into::into));
    with_prelude(request, name, step, "--require")
}

/// Loads the prelude only if it may be needed: reading it more than doubles the startup time of Bun (from 5 ms to 12
/// ms).
fn with_prelude(request: &PlanRequest<'_>, name: &str, mut step: Vec<OsString>, option: &str) -> Plan {
    let (code, prelude) = (request.path(name), request.path("prelude.cjs"));
    let mut plan = Plan::default().write(code.clone(), request.code);
    if request.has_file || ["import", "require"].iter().any(|word| request.code.contains(word)) {
        step.extend([option.into(), prelude.clone().into()]);
        plan = plan.write(prelude, PRELUDE);
    }
    step.push(code.into());
    plan.run(step)
}

/// Plans a run with Deno. The sandbox is the boundary, so Deno's own permissions are all granted.
pub(super) fn deno(request: &PlanRequest<'_>, name: &str) -> Plan {
    let code = request.path(name);
    let step = request.step([OsStr::new("run"), "--quiet".as_ref(), "--allow-all".as_ref(), code.as_ref()]);
    Plan::default()
        .write(code, on_first_line(request.prelude(DENO_PRELUDE), request.code))
        .run(step)
        .set("DENO_NO_UPDATE_CHECK", "1")
        .set_cache("DENO_DIR", request.path("deno"))
}
