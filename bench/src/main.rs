//! Measures Weir next to bare engines, side by side in one run. The ratios are the result; absolute times say little.
#![allow(clippy::print_stdout, reason = "a benchmark prints its table")]
#![allow(clippy::unwrap_used, reason = "a benchmark that fails should stop where it failed")]
#![allow(clippy::disallowed_methods, reason = "benchmarks start processes and open bare databases")]

mod context;
mod digest;
mod figures;
mod gateway_find;
mod hooks;
mod http;
mod import;
mod index;
mod layers;
mod load;
mod map;
mod mcp;
mod outline;
mod recall;
mod redaction;
mod retrieval;
mod run;
mod scale;
mod semantic;
mod serve;
mod server;
mod sessions;
mod shown;
mod soak;
mod start;
mod storm;
mod team;
mod text;
mod vectors;

use std::process::ExitCode;

const USAGE: &str = "\
usage: weir-bench storm                  8 processes append events and notes, next to bare inserts
       weir-bench storm PATH-OF-WEIR --minutes N
                                         8 workers call everything, with kills, stops and a full disk; then what is left
       weir-bench scale [SIZE…]          keep and search at each size, next to bare FTS5 (1000 100000 1000000)
       weir-bench context PATH-OF-WEIR   size and CPU time of `ctx_context` on 200 notes, next to a call that reads one event
       weir-bench digest                 MB/s of every kind of digest, next to `wc -l` and to a scan for line ends
       weir-bench recall PATH-OF-WEIR [--set flood] [--half development] [--peer COMMAND] [--program COMMAND]
                                      [--misses] [--write FILE]
                                         answers found in digests, next to head and tail, to clients and to peers
       weir-bench statements FOLDER      statements of the digests of all files there, checked against the files
       weir-bench gateway-find LISTS [--set NAME] [--misses]
                                         tools found among those of MCP servers (tools/mcp-servers/lists), next to
                                         full text; time and memory
       weir-bench redaction PATH… [--show]
                                         what is marked in real files, and MB/s, next to a scan for line ends
       weir-bench retrieval [--half development|held-out|both] [--set NAME,…] [--ceiling FOLDER]
                                         what is found again, next to bare full text, peers' ways and a ceiling
       weir-bench import PATH-OF-WEIR MB past sessions of every format, next to bare reading of their rows
       weir-bench index [MB…]            indexing and searching Markdown, next to bare FTS5 (1 10 100)
       weir-bench index searchers [MB]   8 search while another indexes
       weir-bench index peer COMMAND MB… the same of a peer's MCP server
       weir-bench map change-log FOLDER NEWER-CHANGELOG
                                         files a commit changes, found from one of them, next to PageRank
       weir-bench map git REPOSITORY [N] the same of the newest N (100) commits of a repository
       weir-bench map cost PATH-OF-WEIR FOLDER
                                         the first map of a folder, and later ones
       weir-bench mcp PATH-OF-WEIR FOLDER…
                                         recorded runs with MCP servers played through the hooks, next to both ends
       weir-bench outline savings FOLDER tokens and signatures kept, next to other programs (tools/outline-peers)
       weir-bench outline latency FOLDER outlines of files of every size below a folder, next to a bare parse
       weir-bench vectors [CHUNKS…]      finding by meaning at each size (10000 100000 1000000)
       weir-bench hooks PATH-OF-WEIR [--peer 'NODE FOLDER-OF-HOOKS']
                                         every event of a hook, next to /bin/true and to a peer's hooks
       weir-bench hooks PATH-OF-WEIR PATH…
                                         the same of several builds, in turn
       weir-bench run PATH-OF-WEIR       `echo hi` and 1 GiB through `ctx_execute`, next to bare `sh -c`
       weir-bench layers PATH-OF-WEIR    runs with and without a layer, in projects of 10 to 100,000 files
       weir-bench serve PATH-OF-WEIR [ENTRIES]
                                         searches and notes over HTTP, next to the store and a bare handler; pages
       weir-bench sessions PATH-OF-WEIR FOLDER [--half NAME]
                                         recorded sessions played through the hooks, by halves.json of the folder
       weir-bench shown                  looking for lines that a session has been shown, as it grows
       weir-bench soak PATH-OF-WEIR [N]  N runs (1000) that end in every way, and what is left of them
       weir-bench start PATH-OF-WEIR     start of `weir mcp` to its first answer, next to /bin/true
       weir-bench team [--entries N] [--json]
                                         a team server's log and search, next to bare inserts, bare tantivy and GIN
                                         (needs the feature `team`, and `.ci/postgres run --` in front)";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let good = match words.as_slice() {
        ["storm"] => storm::run(),
        ["storm", path, "--minutes", minutes] => load::run(path, minutes.parse().unwrap()),
        ["storm-child", kind, folder, number] => storm::child(kind, folder.as_ref(), number),
        ["scale", sizes @ ..] => scale::run(sizes),
        ["context", path] => context::run(path),
        ["digest"] => digest::run(),
        ["recall", path, options @ ..] => recall::run(path, options),
        ["statements", folder] => recall::statements_below(folder),
        ["gateway-find", lists, options @ ..] => gateway_find::run(lists, options),
        ["redaction", paths @ ..] => redaction::run(paths),
        ["retrieval", options @ ..] => retrieval::run(options),
        ["import", path, megabytes] => import::run(path, megabytes),
        ["index", "searchers", sizes @ ..] => index::crowd(sizes),
        ["index", "peer", command, sizes @ ..] => index::peer(command, sizes),
        ["index", sizes @ ..] => index::run(sizes),
        ["index-child", engine, size, folder] => index::child(engine, size, folder.as_ref()),
        ["map", "change-log", folder, newer] => map::change_log(folder, newer),
        ["map", "git", repository] => map::git(repository, 100),
        ["map", "git", repository, newest] => map::git(repository, newest.parse().unwrap()),
        ["map", "cost", path, folder] => map::cost(path, folder),
        ["mcp", path, folders @ ..] => mcp::run(path, folders),
        ["outline", "savings", folder] => outline::savings(folder),
        ["outline", "latency", folder] => outline::latency(folder),
        ["vectors", sizes @ ..] => vectors::run(sizes),
        ["hooks", path] => hooks::run(path, None),
        ["hooks", path, "--peer", folder] => hooks::run(path, Some(folder)),
        ["hooks", builds @ ..] if !builds.is_empty() => hooks::compare(builds),
        ["run", path] => run::run(path),
        ["layers", path] => layers::run(path),
        ["serve", path] => serve::run(path, None),
        ["serve", path, entries] => serve::run(path, Some(entries.parse().unwrap())),
        ["sessions", path, folder, options @ ..] => sessions::run(path, folder, options),
        ["shown"] => shown::run(),
        ["soak", path] => soak::run(path, 1000),
        ["soak", path, runs] => soak::run(path, runs.parse().unwrap()),
        ["start", path] => start::run(path),
        ["team", options @ ..] => team::run(options),
        _ => {
            println!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    if good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
