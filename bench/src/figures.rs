//! Durations of many runs, and what can be said of them.

use std::time::{Duration, Instant};

/// Measured durations in nanoseconds.
#[derive(Debug, Default, Clone)]
pub(crate) struct Figures(Vec<u64>);

impl Figures {
    /// Runs the work once and adds how long it took.
    pub(crate) fn measure<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = work();
        self.add(start.elapsed());
        result
    }

    /// The same by the time on the processor, which others on the machine do not lengthen.
    pub(crate) fn measure_cpu<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let start = cpu();
        let result = work();
        self.add(cpu().saturating_sub(start));
        result
    }

    pub(crate) fn add(&mut self, duration: Duration) {
        self.0.push(duration.as_nanos() as u64);
    }

    /// The duration that a share of the runs stays below, in microseconds.
    pub(crate) fn quantile(&self, share: f64) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        let at = ((sorted.len() as f64 - 1.0) * share).round() as usize;
        sorted.get(at).map_or(0.0, |nanos| *nanos as f64 / 1_000.0)
    }

    /// The mean in microseconds.
    pub(crate) fn mean(&self) -> f64 {
        self.0.iter().sum::<u64>() as f64 / self.0.len().max(1) as f64 / 1_000.0
    }

    /// One number a line, to pass between processes.
    pub(crate) fn to_lines(&self) -> String {
        self.0.iter().map(|nanos| format!("{nanos}\n")).collect()
    }

    pub(crate) fn extend_from_lines(&mut self, lines: &str) {
        self.0.extend(lines.lines().filter_map(|line| line.parse::<u64>().ok()));
    }
}

/// How long this thread has been on the processor.
fn cpu() -> Duration {
    let time = nix::time::clock_gettime(nix::time::ClockId::CLOCK_THREAD_CPUTIME_ID).unwrap();
    Duration::from(time)
}
