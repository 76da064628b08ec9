//! Finds tools of MCP servers by requests as a model writes them, next to bare full text.
//!
//! The lists come from `tools/mcp-servers/lists`. A request is answered at a depth if one of its tools is that far up.
//! Invariant: held-out requests are asked over the eight servers that they are about, and those for development over
//! all others, so that nothing was tuned on what is reported.

use std::path::Path;
use std::time::Instant;

use rusqlite::Connection;
use serde_json::Value;
use weir_gateway::find::{Finder, ToolCard};

/// The servers of the held-out requests.
const HELD_OUT: [&str; 8] = ["playwright", "filesystem", "git", "notion", "sentry", "github", "context7", "postgres"];
const DEPTHS: [usize; 4] = [1, 3, 5, 10];
/// How many tools a model is shown.
const SHOWN: usize = 5;

struct Set {
    name: &'static str,
    requests: &'static str,
    over_held_out: bool,
}

const SETS: [Set; 4] = [
    Set {
        name: "development",
        requests: include_str!("../../crates/weir-gateway/tests/fixtures/find/development.jsonl"),
        over_held_out: false,
    },
    Set {
        name: "held-out",
        requests: include_str!("../../crates/weir-gateway/tests/fixtures/find/held-out.jsonl"),
        over_held_out: true,
    },
    Set {
        name: "held-out-2",
        requests: include_str!("../../crates/weir-gateway/tests/fixtures/find/held-out-2.jsonl"),
        over_held_out: true,
    },
    Set {
        name: "other-languages",
        requests: include_str!("../../crates/weir-gateway/tests/fixtures/find/other-languages.jsonl"),
        over_held_out: true,
    },
];

struct Asked {
    request: String,
    /// Tools that do it, as `SERVER/TOOL`.
    right: Vec<String>,
}

pub(crate) fn run(lists: &str, options: &[&str]) -> bool {
    let tools = read(Path::new(lists));
    let misses = options.contains(&"--misses");
    let chosen = options.iter().position(|word| *word == "--set").and_then(|at| options.get(at + 1));
    let sets: Vec<&Set> = SETS.iter().filter(|set| chosen.is_none_or(|name| *name == set.name)).collect();
    if sets.is_empty() {
        println!("no such set; the sets are development, held-out, held-out-2 and other-languages");
        return false;
    }
    println!("| requests | tools | way | first | in 3 | in 5 | in 10 |");
    println!("| --- | --- | --- | --- | --- | --- | --- |");
    for set in sets {
        let pool: Vec<ToolCard> = tools.iter().filter(|tool| is_held_out(tool) == set.over_held_out).cloned().collect();
        measure(set, &pool, misses);
    }
    println!("\n| tools | ready, ms | a request, ms (p50) | p95 | resident, MB more |");
    println!("| --- | --- | --- | --- | --- |");
    let held_out: Vec<ToolCard> = tools.iter().filter(|tool| is_held_out(tool)).cloned().collect();
    cost(&held_out);
    cost(tools.get(..400).unwrap_or(&tools));
    true
}

fn is_held_out(tool: &ToolCard) -> bool {
    HELD_OUT.contains(&tool.server.as_str())
}

/// Reads the tools of all lists, by the names of their servers.
fn read(folder: &Path) -> Vec<ToolCard> {
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let lists = paths.iter().map(|path| serde_json::from_slice::<Value>(&std::fs::read(path).unwrap()).unwrap());
    lists
        .flat_map(|list| {
            list["tools"].as_array().unwrap().iter().map(|tool| card(&list["server"], tool)).collect::<Vec<_>>()
        })
        .collect()
}

fn card(server: &Value, tool: &Value) -> ToolCard {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let parameters = tool["inputSchema"]["properties"].as_object();
    ToolCard {
        server: text(server),
        name: text(&tool["name"]),
        description: text(&tool["description"]),
        parameters: parameters
            .into_iter()
            .flatten()
            .map(|(name, schema)| (name.clone(), text(&schema["description"])))
            .collect(),
    }
}

fn asked(set: &Set) -> Vec<Asked> {
    let asked = |line: &str| {
        let line: Value = serde_json::from_str(line).unwrap();
        let right = line["tools"].as_array().unwrap().iter().map(|tool| tool.as_str().unwrap().to_owned());
        Asked { request: line["request"].as_str().unwrap().to_owned(), right: right.collect() }
    };
    set.requests.lines().map(asked).collect()
}

/// Finds the places of tools.
type Search<'a> = &'a dyn Fn(&str) -> Vec<usize>;

fn measure(set: &Set, tools: &[ToolCard], misses: bool) {
    let asked = asked(set);
    let labels: Vec<String> = tools.iter().map(|tool| format!("{}/{}", tool.server, tool.name)).collect();
    for right in asked.iter().flat_map(|asked| &asked.right) {
        assert!(labels.contains(right), "{right} is in no list");
    }
    let finder = Finder::new(tools);
    let bare = FullText::new(tools);
    let ways: [(&str, Search<'_>); 2] =
        [("full text (FTS5, porter)", &|request| bare.find(request)), ("weir", &|request| finder.find(request, 10))];
    for (way, find) in ways {
        let found: Vec<Vec<usize>> = asked.iter().map(|asked| find(&asked.request)).collect();
        let is_right = |asked: &Asked, place: &usize| asked.right.contains(&labels[*place]);
        let depth = |(asked, found): (&Asked, &Vec<usize>)| found.iter().position(|place| is_right(asked, place));
        let depths: Vec<Option<usize>> = asked.iter().zip(&found).map(depth).collect();
        let share = |most: usize| {
            let hits = depths.iter().flatten().filter(|depth| **depth < most).count();
            format!("{:.1} %", 100.0 * hits as f64 / asked.len() as f64)
        };
        let shares = DEPTHS.map(share).join(" | ");
        println!("| {}, {} | {} | {way} | {shares} |", set.name, asked.len(), tools.len());
        let missed = (0..asked.len()).filter(|at| misses && depths[*at].is_none_or(|depth| depth >= SHOWN));
        for at in missed {
            let first: Vec<&str> = found[at].iter().take(SHOWN).map(|place| labels[*place].as_str()).collect();
            println!("  {} → {}; found {}", asked[at].request, asked[at].right.join(", "), first.join(", "));
        }
    }
}

/// The tools in a bare full-text index: any word of the request, ranked by BM25 with a heavier name.
struct FullText(Connection);

impl FullText {
    fn new(tools: &[ToolCard]) -> Self {
        let db = Connection::open_in_memory().unwrap();
        db.execute_batch(
            "CREATE VIRTUAL TABLE t USING fts5(server, name, description, parameters, tokenize = 'porter')",
        )
        .unwrap();
        for (place, tool) in tools.iter().enumerate() {
            let parameters: Vec<String> = tool.parameters.iter().map(|(name, text)| format!("{name} {text}")).collect();
            let row = (place as i64, &tool.server, &tool.name, &tool.description, parameters.join(" "));
            db.execute("INSERT INTO t(rowid, server, name, description, parameters) VALUES (?, ?, ?, ?, ?)", row)
                .unwrap();
        }
        Self(db)
    }

    fn find(&self, request: &str) -> Vec<usize> {
        let words: Vec<String> = request
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty() && !weir_core::words::is_stop_word(&word.to_lowercase()))
            .map(|word| format!("\"{word}\""))
            .collect();
        if words.is_empty() {
            return Vec::new();
        }
        let query = "SELECT rowid FROM t WHERE t MATCH ? ORDER BY bm25(t, 2, 3, 1, 0.5) LIMIT 10";
        let mut query = self.0.prepare(query).unwrap();
        let rows = query.query_map([words.join(" OR ")], |row| row.get::<_, i64>(0)).unwrap();
        rows.map(|place| usize::try_from(place.unwrap()).unwrap()).collect()
    }
}

/// Prints what it takes to make a list ready, and to ask it every request.
fn cost(tools: &[ToolCard]) {
    let before = resident();
    let started = Instant::now();
    let finder = Finder::new(tools);
    let ready = started.elapsed();
    let mut times: Vec<f64> = SETS
        .iter()
        .flat_map(asked)
        .map(|asked| {
            let started = Instant::now();
            std::hint::black_box(finder.find(&asked.request, 5));
            started.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    let more = resident().saturating_sub(before);
    times.sort_by(f64::total_cmp);
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
    let (p50, p95) = (at(0.5), at(0.95));
    let ready = ready.as_secs_f64() * 1e3;
    println!("| {} | {ready:.1} | {p50:.2} | {p95:.2} | {:.1} |", tools.len(), more as f64 / 1e6);
}

/// Returns the resident memory of this process in bytes.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").trim().parse::<u64>().ok()).unwrap_or(0) * 1024
}
