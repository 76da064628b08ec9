//! The pages of `weir ui`: time to the first byte of each.

use std::time::Instant;

use super::home::Home;
use crate::figures::Figures;
use crate::http::Connection;

const ROUNDS: usize = 40;
/// The largest 95th percentile of a page, in milliseconds.
const MAX_MILLIS: f64 = 100.0;
const PAGES: [&str; 9] = [
    "/", "/sessions", "/search?q=entry", "/search?q=unique4000", "/notes", "/window", "/projects", "/health",
    "/settings",
];

/// Asks for every page of the project a number of times.
pub(super) fn run(home: &Home) -> bool {
    let (server, line) = home.start_and_read(&["ui"]);
    let (_, rest) = line.trim().split_once("http://").unwrap();
    let (address, link) = rest.split_once('/').unwrap();
    let mut connection = Connection::open(address.parse().unwrap());
    let opened = connection.get(&format!("/{link}"), "", || ());
    let cookie = opened.header("set-cookie").and_then(|cookie| cookie.split(';').next()).unwrap().to_owned();
    let start = opened.header("refresh").and_then(|going_on| going_on.split_once("url=")).map_or("/", |(_, to)| to);
    let start = start.to_owned();
    let headers = format!("Cookie: {cookie}\r\n");
    println!("\n{:<28} {:>9} {:>9} {:>9}   time to the first byte, ms", "page", "p50", "p95", "KB");
    let mut is_good = true;
    for page in PAGES {
        let path = format!("{}{page}", start.trim_end_matches('/'));
        let (mut figures, mut bytes) = (Figures::default(), 0);
        for _ in 0..ROUNDS {
            let asked = Instant::now();
            let reply = connection.get(&path, &headers, || figures.add(asked.elapsed()));
            reply.expect_ok();
            bytes = reply.body.len();
        }
        let (half, late) = (figures.quantile(0.5) / 1e3, figures.quantile(0.95) / 1e3);
        println!("{page:<28} {half:>9.1} {late:>9.1} {:>9.1}", bytes as f64 / 1e3);
        is_good &= late <= MAX_MILLIS;
    }
    server.end();
    is_good
}
