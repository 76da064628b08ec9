//! Hooks and files together: outlines of large reads, and the line in the guide.

use serde_json::json;

use super::texts::{fenced, source};
use crate::support::Home;

#[test]
fn a_large_source_file_that_a_client_reads_is_shown_by_its_beginning_and_its_outline() {
    let home = Home::new();
    let text = source(140);
    home.write("big.rs", &text);
    home.write(
        "big.json",
        format!("[{}]", (0..9_000).map(|n| format!("{{\"id\":{n}}}")).collect::<Vec<_>>().join(",")),
    );
    let answer = |path: &str, content: &str| {
        let full = home.project().join(path);
        let file = json!({ "filePath": full, "content": content, "numLines": 1, "startLine": 1, "totalLines": 1 });
        let told = json!({ "tool_name": "Read", "tool_use_id": "t", "tool_input": { "file_path": full },
            "tool_response": { "type": "text", "file": file } });
        let answer = home.hook("s1", "PostToolUse", &told);
        answer["hookSpecificOutput"]["updatedToolOutput"]["file"]["content"].as_str().unwrap_or_default().to_owned()
    };
    let shown = answer("big.rs", &text);
    // The client numbers the lines of the replacement, so those of the file come first.
    let (beginning, rest) = shown.split_once("[weir: beginning and outline; lines ").unwrap();
    assert!(text.starts_with(beginning) && rest.contains(" left out; ") && rest.contains("held as [ctx:"), "{shown}");
    let (_, outline) = rest.split_once("these are not lines of the file:\n").unwrap();
    assert!(outline.contains("add_139(n: u64) -> u64") && !outline.contains("println"), "{outline}");
    // An outline that is too long is cut, and says so.
    home.write("huge.rs", source(500));
    let huge = answer("huge.rs", &source(500));
    assert!(huge.contains(" more lines of the outline"), "{huge}");
    assert!(huge.len() < 20_000 && huge.contains("add_20"), "{huge}");
    // For data, the values matter, so it gets a digest.
    let json = answer("big.json", &home.read("big.json"));
    assert!(json.contains("held as [ctx:") && !json.contains("beginning"), "{json}");
}

#[test]
fn the_guide_names_the_files_at_hand() {
    let home = Home::new();
    for name in ["a.rs", "b.rs", "c.rs", "d.rs", "e.rs"] {
        home.write(name, source(2));
    }
    home.hook("s1", "UserPromptSubmit", &json!({ "prompt": "rename it everywhere, please" }));
    let mut server = home.session("s1");
    for name in ["a.rs", "b.rs", "c.rs", "d.rs", "e.rs"] {
        server.read(name);
    }
    server.call("context_edit", &json!({ "path": "b.rs", "old": "add_0", "new": "sum_0" }));
    let guide = home.hook("s1", "SessionStart", &json!({ "source": "compact" })).to_string();
    assert!(
        guide.contains("by file (what the model wrote or was shown, last and most):\\n- b.rs (changed)"),
        "{guide}"
    );
    assert!(guide.contains("- elsewhere: e.rs d.rs c.rs a.rs"), "{guide}");
    assert_eq!(fenced(&server.read("b.rs")), home.read("b.rs").trim_end_matches('\n'), "the text is given again");
}
