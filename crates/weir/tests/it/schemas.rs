//! `weir schema`, next to the official SDKs of the providers. They are found in the folder WEIR_SDKS.
#![expect(clippy::disallowed_methods, reason = "the tests start the program")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::serve::support::{Request, Server};
use crate::support::{Home, said};

const FORMS: [&str; 6] = ["anthropic", "gemini", "mcp", "openai-chat", "openai-responses", "openapi"];

fn schema(home: &Home, arguments: &[&str]) -> Output {
    home.weir(&[&["schema"], arguments].concat())
}

#[test]
fn a_form_has_the_tools_that_are_listed_or_named() {
    let home = Home::new();
    let names = |arguments: &[&str]| -> Vec<String> {
        let output = schema(&home, arguments);
        let tools: Vec<serde_json::Value> =
            serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", said(&output)));
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(&["anthropic"]), ["ctx_execute", "ctx_annotate", "ctx_search", "ctx_get"]);
    assert_eq!(names(&["anthropic", "--tool", "ctx_get"]), ["ctx_get"]);
    assert!(names(&["anthropic", "--all"]).len() > 10);
    let unknown = schema(&home, &["cobol"]);
    assert!(!unknown.status.success(), "{}", said(&unknown));
}

#[test]
#[ignore = "needs the SDKs that .ci/runtimes installs"]
fn the_official_sdks_accept_every_form() {
    let folder =
        |name: &str| {
            let folder = std::env::var_os(name);
            PathBuf::from(folder.unwrap_or_else(|| {
                panic!("{name} is not set: `.ci/run tests` sets it to what `.ci/runtimes` installed")
            }))
        };
    let (sdks, typescript) = (folder("WEIR_SDKS"), folder("WEIR_ORACLE_TYPESCRIPT"));
    let here = Home::new();
    let checks = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sdks");
    let mut check = std::fs::read_to_string(checks.join("check.ts")).unwrap();
    for form in FORMS {
        let output = schema(&here, &[form, "--all"]);
        assert!(output.status.success(), "{form}: {}", said(&output));
        let text = String::from_utf8(output.stdout).unwrap();
        check = check.replace(&format!("FORM(\"{form}\")"), text.trim());
        std::fs::write(here.path().join(format!("{form}.json")), text).unwrap();
    }
    let document = Server::start(&here).send(&Request::get("/openapi.json")).text();
    std::fs::write(here.path().join("document.json"), document).unwrap();
    let python = Command::new(sdks.join("python/bin/python")).arg(checks.join("check.py")).arg(here.path()).output();
    let python = python.unwrap();
    assert!(python.status.success(), "{}", said(&python));
    assert_eq!(said(&python).matches("accepted").count(), FORMS.len() + 1);

    std::os::unix::fs::symlink(sdks.join("typescript/node_modules"), here.path().join("node_modules")).unwrap();
    std::fs::write(here.path().join("package.json"), "{ \"type\": \"module\" }").unwrap();
    std::fs::write(here.path().join("check.ts"), check).unwrap();
    let compiler = typescript.join("node_modules/typescript/lib/tsc.js");
    let options = ["--noEmit", "--strict", "--skipLibCheck", "--module", "nodenext", "--target", "es2022", "check.ts"];
    let compiled = Command::new("node").arg(compiler).args(options).current_dir(here.path()).output().unwrap();
    assert!(compiled.status.success(), "{}", said(&compiled));
}
