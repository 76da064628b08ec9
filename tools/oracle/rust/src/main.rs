//! Reads file names, and prints the public items of each file as a line of JSON.
#![allow(clippy::print_stdout, reason = "the lines are what it is for")]

fn main() -> std::io::Result<()> {
    for path in std::io::stdin().lines() {
        let path = path?;
        let items = std::fs::read_to_string(&path).ok().and_then(|text| weir_oracle::public(&text));
        let line = match items {
            Some(items) => serde_json::json!({ "file": path, "items": items }),
            None => serde_json::json!({ "file": path, "error": "syn cannot read it" }),
        };
        println!("{line}");
    }
    Ok(())
}
