//! A server whose disk is full for a while.

use serde_json::json;

use crate::support::{Home, Server, WEIR, text_of};

/// Mounts a small disk at the home folder, stores one note, fills the disk, and becomes the server.
const FILLED: &str = r#"set -e
mount -t tmpfs -o size=8m none "$HOME"
mkdir "$HOME/project"; cd "$HOME/project"
"$0" note first >/dev/null
dd if=/dev/zero of="$HOME/fill" bs=4k 2>/dev/null || true
exec "$0" "$@""#;

#[test]
fn a_server_that_met_a_full_disk_writes_again_once_there_is_room() {
    let home = Home::new();
    let mut server = Server::start(home.command("unshare", &["-m", "sh", "-c", FILLED, WEIR, "mcp"]));
    server.initialise("2025-11-25");
    let note = json!({ "name": "ctx_annotate", "arguments": { "text": "while the disk is full" } });
    let refused = server.ask("tools/call", note);
    assert!(text_of(&refused).contains("full"), "{refused}");
    // The disk is mounted for the server only.
    let fill = format!("/proc/{}/root{}/fill", server.id(), home.path().display());
    std::fs::remove_file(fill).unwrap();
    let kept = server.call("ctx_annotate", &json!({ "text": "room again" }));
    assert!(kept.contains("kept [ctx:"), "{kept}");
    assert!(server.call("ctx_search", &json!({ "queries": ["room"] })).contains("room again"));
}
