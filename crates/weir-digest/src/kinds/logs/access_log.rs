//! Requests logged by web servers: how many ended with which status, on which paths, from where, and when.

use std::collections::{BTreeMap, HashMap};
use std::io;

use weir_core::wording::size;

use crate::kinds::Kind;
use crate::kinds::fold::Fold;
use crate::kinds::fold::times::{Times, duration};
use crate::kinds::shared::counts::Tally;
use crate::sample::Sample;
use crate::text::{clip, count};
use crate::{Item, Page, Part, Source, Weight};

mod paths;
mod request;

use paths::Paths;
use request::Request;

pub(crate) const KIND: Kind = Kind::data("access log", is, read);

/// The maximum number of paths, clients and programs that are distinguished.
const MAX_DISTINCT: usize = 4_000;
/// The maximum number of each sort kept for showing.
const MAX_ITEMS: usize = 30;
/// The maximum number of clients and programs shown. The rest are like them.
const MAX_CLIENTS_SHOWN: usize = 12;
const ANY_STATUS: u16 = 0;
const MAX_SLOW_REQUESTS: usize = 8;
const MAX_PATH_BYTES: usize = 200;

fn is(sample: &Sample<'_>) -> bool {
    sample.mostly(85, |line| request::of(line).is_some_and(|request| request.path.starts_with(['/', 'h', '*'])))
}

fn read(source: &dyn Source, _: &Sample<'_>) -> io::Result<Option<Page>> {
    let mut seen = AccessStats::default();
    let mut full: u64 = 0;
    let log = Fold::rest_of(source, |line| {
        let blank = line.text.trim().is_empty();
        full += u64::from(!blank);
        blank || request::of(line.text).map(|request| seen.add(&request, line.number, line.text)).is_some()
    })?;
    Ok(log.beside(full, || seen.page()))
}

#[derive(Default)]
struct Client {
    count: u64,
    refused: u64,
    failed: u64,
    /// Paths for which its requests failed.
    paths: Vec<String>,
}

#[derive(Default)]
struct AccessStats {
    requests: u64,
    statuses: BTreeMap<u16, u64>,
    methods: Tally,
    in_vain: Paths,
    paths: Paths,
    clients: HashMap<String, Client>,
    more_clients: u64,
    programs: Tally<MAX_DISTINCT>,
    bytes: u64,
    biggest: (u64, u64, String),
    slow: Vec<(f64, Item)>,
    timed: (u64, f64),
    times: Times,
}

impl AccessStats {
    fn add(&mut self, request: &Request<'_>, line: u64, text: &str) {
        self.requests += 1;
        *self.statuses.entry(request.status).or_default() += 1;
        self.methods.add(request.method);
        let path = clip(request.path, MAX_PATH_BYTES);
        let named = format!("{} {path}", request.method);
        if request.status >= 400 {
            self.in_vain.add((request.status, named.clone()), line, None);
        }
        self.paths.add((ANY_STATUS, named), line, request.took);
        if !request.by.is_empty() && request.by != "-" {
            self.programs.add(&clip(request.by, 120));
        }
        self.add_client(request, path);
        if let Some(bytes) = request.bytes {
            self.bytes = self.bytes.saturating_add(bytes);
            if bytes > self.biggest.0 {
                self.biggest = (bytes, line, clip(request.path, MAX_PATH_BYTES));
            }
        }
        if let Some((text, seconds)) = request.time {
            self.times.add(text, seconds, line);
        }
        if let Some(took) = request.took {
            self.timed = (self.timed.0 + 1, self.timed.1 + took);
            if self.slow.len() < MAX_SLOW_REQUESTS || self.slow.last().is_some_and(|slow| took > slow.0) {
                self.slow.push((took, Item::at(line, clip(text, 240))));
                self.slow.sort_by(|one, two| two.0.total_cmp(&one.0));
                self.slow.truncate(MAX_SLOW_REQUESTS);
            }
        }
    }

    fn add_client(&mut self, request: &Request<'_>, path: String) {
        if request.client.is_empty() {
            return;
        }
        if self.clients.len() >= MAX_DISTINCT && !self.clients.contains_key(request.client) {
            self.more_clients += 1;
            return;
        }
        let client = self.clients.entry(clip(request.client, 60)).or_default();
        client.count += 1;
        client.refused += u64::from((400..500).contains(&request.status));
        client.failed += u64::from(request.status >= 500);
        if (400..500).contains(&request.status) && client.paths.len() < 8 && !client.paths.contains(&path) {
            client.paths.push(path);
        }
    }

    fn page(mut self) -> Page {
        let class = |from: u16| self.statuses.range(from..from + 100).map(|status| status.1).sum::<u64>();
        let [failed, refused, moved, fine] = [500, 400, 300, 200].map(class);
        let answered = format!("{failed} answered 5xx, {refused} 4xx, {moved} 3xx, {fine} 2xx");
        let mut page = Page::new(format!("access log: {}, {answered}", count(self.requests, "request", "requests")));
        let beyond_paths = beyond(self.in_vain.beyond);
        let failed = self.in_vain.items(500..600, MAX_ITEMS);
        page.push(Part::new(format!("server errors by path{beyond_paths}"), Weight::Failure, failed.1).of(failed.0));
        let mut facts = vec![self.status_item()];
        facts.extend(self.time_item());
        facts.push(self.totals_item());
        page.push(Part::new("totals", Weight::Fact, facts));
        let refused = self.in_vain.items(400..500, MAX_ITEMS);
        page.push(Part::new(format!("client errors by path{beyond_paths}"), Weight::Fact, refused.1).of(refused.0));
        let clients = self.client_items();
        let total = self.clients.len() as u64;
        page.push(Part::new(format!("clients{}", beyond(self.more_clients)), Weight::Fact, clients).of(total));
        if self.timed.0 > 0 {
            let slow = std::mem::take(&mut self.slow).into_iter().map(|slow| slow.1).collect();
            page.push(Part::new("slowest requests", Weight::Fact, slow).of(self.timed.0));
        }
        let paths = self.paths.items(ANY_STATUS..ANY_STATUS + 1, MAX_ITEMS);
        page.push(Part::new(format!("paths{}", beyond(self.paths.beyond)), Weight::Shape, paths.1).of(paths.0));
        let programs = self.programs.sorted();
        let programs =
            programs.iter().take(MAX_CLIENTS_SHOWN).map(|(name, count)| Item::plain(format!("×{count} {name}")));
        let name = format!("programs{}", beyond(self.programs.beyond));
        page.push(Part::new(name, Weight::Shape, programs.collect()).of(self.programs.names() as u64));
        page
    }

    fn status_item(&self) -> Item {
        let list: Vec<String> = self.statuses.iter().map(|(status, count)| format!("{status} ×{count}")).collect();
        Item::plain(format!("status {}", list.join(", ")))
    }

    fn time_item(&mut self) -> Option<Item> {
        let (first, last, span) = self.times.span()?;
        let mut text = format!("{first} to {last} ({})", duration(span));
        if let Some((requests, began)) = self.times.busiest().filter(|_| span > 120.0) {
            text.push_str(&format!("; busiest minute {} from {began}", count(requests, "request", "requests")));
        }
        Some(Item::plain(text))
    }

    fn totals_item(&self) -> Item {
        let methods = self.methods.by_name();
        let list: Vec<String> = methods.iter().map(|(method, count)| format!("{method} ×{count}")).collect();
        let mut text = list.join(", ");
        if self.bytes > 0 {
            let (most, line, path) = &self.biggest;
            text.push_str(&format!("; {} bytes sent ({})", self.bytes, size(self.bytes)));
            text.push_str(&format!(", the biggest answer {most} bytes at line {line} for {path}"));
        }
        if self.timed.0 > 0 {
            text.push_str(&format!("; {:.1} ms on average", self.timed.1 / self.timed.0 as f64));
        }
        Item::plain(text)
    }

    /// Returns the clients with the most requests, and those with the most failed requests.
    fn client_items(&self) -> Vec<Item> {
        let mut clients: Vec<(&String, &Client)> = self.clients.iter().collect();
        clients.sort_by_key(|(name, client)| (u64::MAX - client.count, name.as_str()));
        let mut suspects = clients.clone();
        suspects.retain(|(_, client)| client.refused * 2 > client.count && client.refused >= 3);
        suspects.sort_by_key(|(name, client)| (u64::MAX - client.refused, name.as_str()));
        suspects.truncate(3);
        let rest = clients.into_iter().filter(|(name, _)| !suspects.iter().any(|(suspect, _)| suspect == name));
        let order = suspects.clone().into_iter().chain(rest);
        let items = order.take(MAX_CLIENTS_SHOWN).map(|(name, client)| {
            let mut text = format!("{name} ×{}", client.count);
            if client.refused > 0 {
                text.push_str(&format!(", 4xx ×{}", client.refused));
            }
            if client.failed > 0 {
                text.push_str(&format!(", 5xx ×{}", client.failed));
            }
            if suspects.iter().any(|(suspect, _)| *suspect == name) {
                text.push_str(&format!(": {}", client.paths.join(", ")));
            }
            Item::plain(text)
        });
        items.collect()
    }
}

fn beyond(count: u64) -> String {
    if count == 0 {
        String::new()
    } else {
        format!(" (and others in {})", crate::text::count(count, "request", "requests"))
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::check::{check, digest};

    #[test]
    fn the_span_of_rotated_logs_is_that_of_all_requests() {
        let line = |day: u32, minute: u32| {
            format!("192.0.2.1 - - [{day}/Nov/2026:10:{minute:02}:00 +0000] \"GET / HTTP/1.1\" 200 12\n")
        };
        let raw: String = [17, 16].into_iter().flat_map(|day| (0..20).map(move |minute| line(day, minute))).collect();
        let told = digest(&raw, 500);
        assert!(
            told.contains(
                "16/Nov/2026:10:00:00 +0000 to 17/Nov/2026:10:19:00 +0000 (24.3 h); \
                 busiest minute 1 request from 16/Nov/2026:10:00:00 +0000\n"
            ),
            "{told}"
        );
    }

    #[test]
    fn requests_are_counted_by_status_path_and_client() {
        let mut raw = String::new();
        for number in 0..40 {
            let (path, status) = match number % 10 {
                3 => ("/wp-login.php", 404),
                7 => ("/api/pay?id=1", 500),
                _ => ("/", 200),
            };
            let client = if status == 404 { "198.51.100.6" } else { "192.0.2.1" };
            raw.push_str(&format!(
                "{client} - - [15/Nov/2026:09:58:{number:02} +0000] \"GET {path} HTTP/1.1\" {status} {} \"-\" \"curl/8\" 0.0{number:02}\n",
                number * 10
            ));
        }
        raw.push_str("server restarted\n");
        check(&raw, 500).shows(&expect![[r#"
            access log: 40 requests, 4 answered 5xx, 4 4xx, 0 3xx, 32 2xx
            == server errors by path: 1
            8: 500 ×4 GET /api/pay (last at line 38)
            == totals: 3
            status 200 ×32, 404 ×4, 500 ×4
            15/Nov/2026:09:58:00 +0000 to 15/Nov/2026:09:58:39 +0000 (39 s)
            GET ×40; 7800 bytes sent (7.6 KiB), the biggest answer 390 bytes at line 40 for /; 19.5 ms on average
            == client errors by path: 1
            4: 404 ×4 GET /wp-login.php (last at line 34)
            == clients: 2
            198.51.100.6 ×4, 4xx ×4: /wp-login.php
            192.0.2.1 ×36, 5xx ×4
            == slowest requests: 40, 1 shown
            40: 192.0.2.1 - - [15/Nov/2026:09:58:39 +0000] "GET / HTTP/1.1" 200 390 "-" "curl/8" 0.039
            == paths: 3
            ×32 GET /, 19.4 ms on average, 39.0 at most
            ×4 GET /api/pay, 22.0 ms on average, 37.0 at most
            ×4 GET /wp-login.php, 18.0 ms on average, 33.0 at most
            == programs: 1
            ×40 curl/8
            == lines in order: other lines 1
            41: server restarted"#]]);
    }

    #[test]
    fn other_lines_with_quotes_are_not_claimed() {
        let shown = digest(&"he said \"GET out\" 200 times\n".repeat(20), 400);
        assert!(!shown.contains("access log"), "{shown}");
    }
}
