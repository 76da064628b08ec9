//! Durations of many runs, and their statistics.

use std::time::{Duration, Instant};

/// Measured durations in nanoseconds.
#[derive(Debug, Default, Clone)]
pub(crate) struct Figures(Vec<u64>);

impl Figures {
    /// Runs the work once and adds its duration.
    pub(crate) fn measure<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = work();
        self.add(start.elapsed());
        result
    }

    /// Runs the work once and adds its CPU time, which other processes on the machine do not affect.
    pub(crate) fn measure_cpu<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let start = cpu();
        let result = work();
        self.add(cpu().saturating_sub(start));
        result
    }

    pub(crate) fn add(&mut self, duration: Duration) {
        self.0.push(duration.as_nanos() as u64);
    }

    pub(crate) fn and(mut self, others: Self) -> Self {
        self.0.extend(others.0);
        self
    }

    pub(crate) fn count(&self) -> usize {
        self.0.len()
    }

    /// Returns the duration that this share of the runs stays below, in microseconds.
    pub(crate) fn quantile(&self, share: f64) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        let at = ((sorted.len() as f64 - 1.0) * share).round() as usize;
        sorted.get(at).map_or(0.0, |nanos| *nanos as f64 / 1_000.0)
    }

    /// Returns the mean in microseconds.
    pub(crate) fn mean(&self) -> f64 {
        self.0.iter().sum::<u64>() as f64 / self.0.len().max(1) as f64 / 1_000.0
    }

    /// Formats one number per line, to pass between processes.
    pub(crate) fn to_lines(&self) -> String {
        self.0.iter().map(|nanos| format!("{nanos}\n")).collect()
    }

    pub(crate) fn extend_from_lines(&mut self, lines: &str) {
        self.0.extend(lines.lines().filter_map(|line| line.parse::<u64>().ok()));
    }
}

fn cpu() -> Duration {
    let time = nix::time::clock_gettime(nix::time::ClockId::CLOCK_THREAD_CPUTIME_ID).unwrap();
    Duration::from(time)
}
