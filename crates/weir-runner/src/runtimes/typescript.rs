//! TypeScript, with Bun, Deno or Node. Types are removed and not checked. tsx is not supported: it talks to its child
//! over a Unix socket, which runs may not use.

use super::javascript::{INSTALL_BUN, INSTALL_DENO, bun, deno, node};
use super::{Language, NEWEST, Runtime};

/// Node removes types by default from 22.18 and 23.6 on, and with an option from 22.6 on. It does not support `enum`,
/// `namespace` and parameter properties, which are more than types; the others do.
pub(super) const TYPESCRIPT: Language = Language {
    name: "typescript",
    aliases: &["ts", "tsx", "mts", "cts"],
    extensions: &["ts", "mts", "cts", "tsx"],
    runtimes: &[
        Runtime { program: "bun", versions: &[], install: INSTALL_BUN, plan: |request| bun(request, "code.ts") },
        Runtime { program: "deno", versions: &[], install: INSTALL_DENO, plan: |request| deno(request, "code.ts") },
        Runtime {
            program: "node",
            versions: &[((22, 18), (23, 0)), ((23, 6), NEWEST)],
            install: INSTALL_NODE,
            plan: |request| node(request, "code.ts", &[QUIET]),
        },
        Runtime {
            program: "node",
            versions: &[((22, 6), (22, 18)), ((23, 0), (23, 6))],
            install: INSTALL_NODE,
            plan: |request| node(request, "code.ts", &["--experimental-strip-types", QUIET]),
        },
    ],
};

const INSTALL_NODE: &[&str] = &["npm install --global node@lts", "brew install node"];

/// On every start, Node warns that this is experimental and that the module type of the file is unknown.
const QUIET: &str = "--no-warnings";
