//! Measures a peer's own server with the same Markdown: the cost of indexing and searching.

use std::path::Path;

use serde_json::json;

use super::made;
use crate::server::Server;

/// The number of searches after which the server is restarted, since one peer holds back answers after more of them.
const SEARCHES_PER_START: usize = 3;

/// Indexes this many megabytes through `ctx_index`, and searches through `ctx_search`.
pub(super) fn measure(command: &str, megabytes: u64, sorts: &[(&str, Vec<String>)]) {
    let words: Vec<&str> = command.split_whitespace().collect();
    let (home, project) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut server = Server::start_any(&words, home.path(), project.path());
    let before = server.cpu_seconds();
    for batch in made::batches(megabytes << 20) {
        // One text for a batch: with a call for each small file, the calls would dominate.
        let text: String = batch.iter().map(|file| format!("{}\n\n", file.text)).collect();
        let path = project.path().join("batch.md");
        std::fs::write(&path, text).unwrap();
        let label = format!("part {}", batch[0].path);
        let answer = server.call("ctx_index", &json!({ "path": path, "source": label }));
        assert!(!answer.to_lowercase().contains("error"), "{answer}");
    }
    let speed = megabytes as f64 / (server.cpu_seconds() - before);
    let (memory, disk) = (server.kilobytes("VmHWM") as f64 / 1024.0, size(home.path()) as f64 / 1e6);
    println!("| peer | {speed:.1} | {memory:.0} | {disk:.1} | – |\n");
    for (sort, texts) in sorts {
        server.kill();
        server = Server::start_any(&words, home.path(), project.path());
        server.call("ctx_search", &json!({ "queries": ["warm up"] }));
        let before = server.cpu_seconds();
        for text in texts.iter().take(SEARCHES_PER_START - 1) {
            server.call("ctx_search", &json!({ "queries": [text] }));
        }
        let each = (server.cpu_seconds() - before) * 1e3 / (SEARCHES_PER_START - 1) as f64;
        println!("peer, search, {sort}: {each:.0} ms of CPU");
    }
    server.kill();
}

fn size(folder: &Path) -> u64 {
    let items = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let each = items.map(|item| match item.metadata() {
        Ok(about) if about.is_dir() => size(&item.path()),
        Ok(about) => about.len(),
        Err(_) => 0,
    });
    each.sum()
}
