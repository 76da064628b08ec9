//! Modules with which code calls tools of other MCP servers: `weir_tools` for Python and JavaScript. They run
//! `weir call`, as code in any other language can.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The folder of the modules, below the scratch folder of a run.
const FOLDER: &str = "weir-tools";
const PYTHON: &str = include_str!("modules/weir_tools.py");
const JAVASCRIPT: &str = include_str!("modules/weir_tools.js");
/// The variables that name folders of modules.
const VARIABLES: [&str; 2] = ["PYTHONPATH", "NODE_PATH"];

pub(super) fn files(scratch: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let file = |name: &str, text: &str| (scratch.join(FOLDER).join(name), text.as_bytes().to_vec());
    vec![file("weir_tools.py", PYTHON), file("weir_tools.js", JAVASCRIPT)]
}

/// Adds the folder of the modules to those in which code finds modules.
pub(super) fn add_to(variables: &mut Vec<(OsString, OsString)>, scratch: &Path) {
    for name in VARIABLES {
        let old = variables.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value.clone());
        let folders = [scratch.join(FOLDER)].into_iter().chain(old.iter().flat_map(std::env::split_paths));
        if let Ok(value) = std::env::join_paths(folders) {
            variables.push((name.into(), value));
        }
    }
}
