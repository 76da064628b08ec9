//! Code of a run that calls tools of other servers.

use serde_json::json;

use super::{home_with, probe};
use crate::support::said;

#[test]
fn code_calls_tools_and_only_what_it_prints_comes_back() {
    let home = home_with(&json!({ "my-probe": probe(&["structured"]) }));
    let mut server = home.server();
    let mut run = |language: &str, code: &str| {
        let answer = server.said("ctx_execute", &json!({ "language": language, "code": code }));
        answer.lines().skip(2).filter(|line| !line.ends_with(">>>")).collect::<Vec<_>>().join("\n")
    };
    assert_eq!(run("shell", "weir call my-probe echo '{\"text\": \"hi\"}'"), "hi");
    let python = "from weir_tools import my_probe\nprint(my_probe.echo(text='a'))";
    assert_eq!(run("python", python), "a");
    let denied = run("shell", "weir call my-probe delete_note '{\"name\": \"n\"}'; weir history; echo $?");
    assert!(
        denied.contains("a script calls my-probe/delete_note") || denied.contains("may destroy something"),
        "{denied}"
    );
    assert!(denied.contains("it is not word for word the command that was allowed"), "{denied}");
    // What the entry passes to its server stays there.
    let variables = run("shell", "env; cat /proc/self/environ; ls ~/.config/weir 2>&1");
    assert!(!variables.contains("s3cret-of-the-probe") && !variables.contains("PROBE_TOKEN"), "{variables}");
}

#[test]
fn a_person_calls_tools_from_the_command_line() {
    let home = home_with(&json!({ "probe": probe(&["structured,errors"]) }));
    let call = |tool: &str, arguments: &str| said(&home.piped(&["call", "probe", tool, arguments]));
    assert_eq!(call("echo", "{\"text\": \"hi\"}"), "hi\n");
    assert_eq!(call("rows_only", ""), "{\"rows\":[{\"id\":1,\"title\":\"Row 1\"}]}\n");
    assert_eq!(call("fail", "{}"), "error: it did not work\n");
    // A model that types the same has not been allowed to write.
    let refused = said(&home.weir(&["call", "probe", "fail"]));
    assert!(refused.contains("nothing was called. a script calls probe/fail, which may write"), "{refused}");
}
