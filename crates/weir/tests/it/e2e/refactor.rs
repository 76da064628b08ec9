//! Renames a function across four files, with the client's own tools and with ours, and compares what the model must
//! read.

use serde_json::{Value, json};

use super::{Client, Outcome, TestHome, WEIR};

const FILES: [(&str, usize); 4] = [("parse", 300), ("plan", 450), ("run", 600), ("report", 900)];

/// Returns a file of about this many lines that defines or uses the function.
fn source(name: &str, lines: usize) -> String {
    let definition =
        "/// Adds up what there is.\npub fn compute_total(values: &[u64]) -> u64 {\n    values.iter().sum()\n}\n\n";
    let mut text = format!("//! The part that is called {name}.\n\n{definition}");
    for number in 0..(lines - 8) / 12 {
        let call = if number % 9 == 4 { "crate::parse::compute_total(&values)" } else { "values.len() as u64" };
        text.push_str(&format!(
            "/// Step {number} of {name}: looks at the values and says what came of it.\n\
             pub fn {name}_step_{number}(values: Vec<u64>, limit: u64) -> Result<u64, String> {{\n\
             \x20   let count = {call};\n    if count > limit {{\n        \
             return Err(format!(\"step {number}: {{count}} is more than {{limit}}\"));\n    }}\n    \
             let mut found = Vec::with_capacity(values.len());\n    for value in values {{\n        found.push(value * {number} + count);\n    \
             }}\n    Ok(found.into_iter().max().unwrap_or(limit))\n}}\n\n"
        ));
    }
    text
}

fn run(scenario: &str, with_weir: bool) -> (TestHome, Outcome) {
    let place = TestHome::with_all_tools();
    for (name, lines) in FILES {
        place.write(&format!("project/src/{name}.rs"), &source(name, lines));
    }
    let weir = json!({ "weir": { "type": "stdio", "command": WEIR, "args": ["mcp"] } });
    let servers = json!({ "mcpServers": if with_weir { weir } else { json!({}) } });
    place.write("servers.json", &servers.to_string());
    let outcome = place.run(&Client {
        name: "claude",
        scenario: Some(scenario),
        environment: &[
            "ANTHROPIC_BASE_URL=http://127.0.0.1:{PORT}",
            "ANTHROPIC_API_KEY=made-up",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
            "DISABLE_AUTOUPDATER=1",
            "IS_SANDBOX=1",
        ],
        arguments: &[
            "--print",
            "Rename compute_total to sum_all everywhere",
            "--output-format=json",
            "--strict-mcp-config",
            "--mcp-config=../servers.json",
            "--dangerously-skip-permissions",
        ],
    });
    (place, outcome)
}

/// Returns the number of requests, their total tokens, and the tokens of the last one.
fn cost(outcome: &Outcome) -> [usize; 3] {
    let requests: Vec<&Value> = outcome.requests.iter().filter(|request| request["why"] != "stray").collect();
    let tokens: Vec<usize> = requests.iter().map(|request| weir_tokens::count(&request["body"].to_string())).collect();
    [requests.len(), tokens.iter().sum(), tokens.last().copied().unwrap_or(0)]
}

#[test]
#[ignore = "needs the real clients; .ci/run installs them"]
fn a_refactoring_over_four_files_costs_less_with_outlines() {
    let (own_place, own) = run("refactor_own.json", false);
    let (parts_place, parts) = run("refactor_parts.json", false);
    let (place, with) = run("refactor_context.json", true);
    for (name, lines) in FILES {
        let expected = source(name, lines).replace("compute_total", "sum_all");
        let path = format!("project/src/{name}.rs");
        assert_eq!(own_place.read(&path), expected, "{name} with the client's own tools");
        assert_eq!(parts_place.read(&path), expected, "{name} with the client's own tools, read in part");
        assert_eq!(place.read(&path), expected, "{name} with ours");
    }
    let [own, parts, with] = [own, parts, with].map(|outcome| cost(&outcome));
    println!(
        "requests, tokens of all, tokens of the last: {own:?} with the client's own tools, {parts:?} if they read 40 lines, \
         {with:?} with context_*"
    );
    assert!(own.iter().zip(&with).all(|(own, with)| with < own), "{with:?} of {own:?}");
}
