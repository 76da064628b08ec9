//! Time is linear in the output, and memory does not grow with it, whatever the output is.

use std::cell::Cell;
use std::hint::black_box;
use std::io::{self, BufRead};

use rustix::time::{ClockId, clock_gettime};
use weir_digest::select::{Wanted, select};
use weir_digest::{About, Source, intent};

use crate::hostile::{Endless, HOSTILE, in_turn};
use crate::openers::OPENERS;
use crate::outputs::{page, render};

/// The number of bytes that are compared with four times as many.
const DIGESTED_BYTES: usize = 128 << 10;
const EXAMINED_BYTES: usize = 48 << 10;
/// Four times the bytes may take at most this many times the time: that allows for caches and for costs that begin only
/// later, but not for the factor of sixteen of quadratic time.
const MAX_RATIO: f64 = 7.0;
/// The maximum number of nanoseconds per byte, as the tests are built.
const MAX_NANOS_PER_BYTE: f64 = 1_500.0;
/// How long the work takes that the machine is measured by, in nanoseconds, where that limit was set.
const REFERENCE_NANOS: f64 = 2_600_000.0;
/// How often a measurement that is too long is repeated. The minimum counts.
const MAX_TRIES: usize = 4;
/// How often an output may be read from beginning to end, and the maximum number of bytes of its facts.
const MAX_PASSES: f64 = 4.0;
const MAX_FACT_BYTES: usize = 256 << 10;
/// The size of an output whose memory is measured, and the maximum growth of memory.
const HUGE_BYTES: u64 = 16 << 20;
const MAX_MEMORY_KIB: u64 = 8 << 10;
/// The outputs with the most to remember.
#[rustfmt::skip]
const MEMORABLE: [&str; 6] = [
    "templates that are all different", "a diff of many files", "rows with their own names", "CSV of many columns",
    "a string that never ends", "tags that never close",
];

#[test]
fn digests_take_linear_time() {
    none(HOSTILE.iter().filter_map(|output| slow(output.name, |size| output.first(size * DIGESTED_BYTES), digest)));
}

#[test]
fn digests_of_lines_of_any_kind_take_linear_time() {
    none(OPENERS.iter().filter_map(|opener| slow(opener, |size| in_turn(&[opener], size * EXAMINED_BYTES), digest)));
    none(slow("all kinds in turn", |size| in_turn(OPENERS, size * DIGESTED_BYTES), digest));
}

#[test]
fn intents_take_linear_time() {
    let question = format!("why did the connection fail? {}", "error in word1 and word2 of x, ".repeat(20));
    let find = |raw: &[u8]| drop(black_box(intent::find(&raw, &question)));
    none(HOSTILE.iter().filter_map(|output| slow(output.name, |size| output.first(size * EXAMINED_BYTES), find)));
}

#[test]
fn selections_take_linear_time() {
    let wanted = Wanted { first: 1, last: 1_000, room: 100_000 };
    for what in ["[].a", "a,b"] {
        let take = |raw: &[u8]| drop(black_box(select(&raw, what, wanted, &|_| true)));
        none(HOSTILE.iter().filter_map(|output| slow(output.name, |size| output.first(size * EXAMINED_BYTES), take)));
    }
}

#[test]
fn an_output_is_read_a_few_times_and_little_of_it_is_kept() {
    for output in HOSTILE {
        let raw = output.first(DIGESTED_BYTES);
        let source = CountedSource { raw: &raw, read: Cell::new(0) };
        let page = weir_digest::read(&source, About::default()).unwrap();
        let passes = source.read.get() as f64 / raw.len() as f64;
        assert!(passes <= MAX_PASSES, "{}: read {passes:.1} times", output.name);
        let texts = page.parts.iter().flat_map(|part| &part.items).map(|item| item.text.len());
        let kept: usize = texts.sum();
        assert!(kept <= MAX_FACT_BYTES, "{}: {kept} bytes of facts", output.name);
    }
}

#[test]
#[ignore = "needs a process of its own, which nextest gives it; .ci/run runs it"]
fn memory_does_not_grow_with_the_output() {
    // One-time allocations are made before the first measurement.
    digest(&in_turn(OPENERS, DIGESTED_BYTES));
    let before = most_memory();
    for name in MEMORABLE {
        let output = HOSTILE.iter().find(|output| output.name == name).unwrap();
        black_box(weir_digest::read(&Endless { output, left: HUGE_BYTES }, About::default()).unwrap());
        let more = most_memory() - before;
        assert!(more <= MAX_MEMORY_KIB, "{name}: {more} KiB more");
    }
}

fn digest(raw: &[u8]) {
    black_box(render(&page(raw), raw, weir_digest::budget(raw.len() as u64)));
}

/// Measures some work at one size and at four times that size, and reports if the second takes too long.
fn slow(name: &str, make: impl Fn(usize) -> Vec<u8>, work: impl Fn(&[u8])) -> Option<String> {
    let inputs = [make(1), make(4)];
    let mut least = [f64::MAX; 2];
    let mut said = None;
    for _ in 0..MAX_TRIES {
        for (input, least) in inputs.iter().zip(&mut least) {
            let before = processor_time();
            work(input);
            *least = least.min(processor_time() - before);
        }
        let [small, big] = least;
        // Work that takes almost no time has no meaningful ratio.
        let ratio = big / small.max(inputs[0].len() as f64);
        let per_byte = big / inputs[1].len() as f64;
        if ratio <= MAX_RATIO && per_byte <= MAX_NANOS_PER_BYTE * slowness() {
            return None;
        }
        said =
            Some(format!("{name}: {per_byte:.0} ns per byte, and four times as much takes {ratio:.1} times as long"));
    }
    said
}

/// Returns how many times slower this machine is at the moment than the one where the limit was set; 1 if it is faster.
fn slowness() -> f64 {
    let text = "a few words in a line, as in most outputs\n".repeat(1_600);
    let before = processor_time();
    let words: usize = text.lines().map(|line| line.split([' ', ',']).filter(|word| word.trim() != "as").count()).sum();
    black_box(words);
    ((processor_time() - before) / REFERENCE_NANOS).max(1.0)
}

fn none(slow: impl IntoIterator<Item = String>) {
    let slow: Vec<String> = slow.into_iter().collect();
    assert!(slow.is_empty(), "{}", slow.join("\n"));
}

/// Returns the processor time of this thread in nanoseconds, which does not depend on how busy the machine is.
fn processor_time() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}

/// Returns the peak memory of this process, in KiB.
fn most_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

struct CountedSource<'a> {
    raw: &'a [u8],
    read: Cell<usize>,
}

impl Source for CountedSource<'_> {
    fn open(&self) -> io::Result<Box<dyn BufRead + '_>> {
        Ok(Box::new(CountingReader { left: self.raw, read: &self.read }))
    }

    fn bytes(&self) -> u64 {
        self.raw.len() as u64
    }
}

struct CountingReader<'a> {
    left: &'a [u8],
    read: &'a Cell<usize>,
}

impl io::Read for CountingReader<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let length = io::Read::read(&mut self.left, into)?;
        self.read.set(self.read.get() + length);
        Ok(length)
    }
}

impl BufRead for CountingReader<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        Ok(self.left)
    }

    fn consume(&mut self, amount: usize) {
        self.left = &self.left[amount..];
        self.read.set(self.read.get() + amount);
    }
}
