//! Checks invariants of the parsers for arbitrary input: one function per parser, each with seeds to start from.
//!
//! A target panics if an invariant is violated; the sanitizer finds crashes in C.

mod digests;
mod hooks;
mod network;
mod outlines;
mod pages;
mod policy;
mod redaction;
mod repositories;
mod seeds;

pub use seeds::seeds;

/// A parser and its invariants.
pub struct Target {
    pub name: &'static str,
    /// Checks one input.
    pub run: fn(&[u8]),
}

pub const TARGETS: &[Target] = &[
    Target { name: "outline", run: outlines::outline },
    Target { name: "outline-answer", run: outlines::answer },
    Target { name: "shell", run: policy::shell },
    Target { name: "settings", run: policy::settings },
    Target { name: "page", run: pages::page },
    Target { name: "proxy", run: network::proxy },
    Target { name: "broker", run: network::broker },
    Target { name: "hook", run: hooks::hook },
    Target { name: "transcript", run: hooks::transcript },
    Target { name: "repository", run: repositories::repository },
    Target { name: "remote", run: repositories::remote },
    Target { name: "redact", run: redaction::redact },
    Target { name: "digest", run: digests::digest },
    Target { name: "lines", run: digests::lines },
    Target { name: "intent", run: digests::intent },
    Target { name: "select", run: digests::select },
];

pub fn find(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}

/// Splits off the first line as text, and returns the bytes after it.
fn first_line(data: &[u8]) -> (String, &[u8]) {
    let end = data.iter().position(|&byte| byte == b'\n').unwrap_or(0);
    let rest = data.get(end + 1..).unwrap_or_default();
    (String::from_utf8_lossy(&data[..end]).into_owned(), rest)
}
