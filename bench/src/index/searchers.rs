//! Measures eight concurrent searchers while another thread writes and indexes. Invariant: no search fails.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

use super::engines::{Engine as _, Weir};
use super::made;
use crate::figures::Figures;
use crate::text::word;

const SEARCHERS: u64 = 8;

pub(super) fn run(megabytes: u64) -> bool {
    let folder = tempfile::tempdir().unwrap();
    let mut keeper = Weir::open(folder.path());
    made::batches(megabytes << 20).for_each(|batch| keeper.keep(batch));
    keeper.embed();
    let (done, errors) = (AtomicBool::new(false), AtomicUsize::new(0));
    let start = Instant::now();
    let figures: Vec<Figures> = std::thread::scope(|scope| {
        let searchers: Vec<_> = (0..SEARCHERS)
            .map(|number| {
                let (folder, done, errors) = (folder.path(), &done, &errors);
                scope.spawn(move || search(&mut Weir::open(folder).by_meaning(), number, done, errors))
            })
            .collect();
        // The same amount again, under other names.
        made::batches_from(1 << 30, megabytes << 20).for_each(|batch| keeper.keep(batch));
        done.store(true, Ordering::Relaxed);
        searchers.into_iter().map(|searcher| searcher.join().unwrap()).collect()
    });
    let seconds = start.elapsed().as_secs_f64();
    let mut all = Figures::default();
    figures.iter().for_each(|figures| all.extend_from_lines(&figures.to_lines()));
    let searches = figures.iter().map(|figures| figures.to_lines().lines().count()).sum::<usize>();
    let errors = errors.load(Ordering::Relaxed);
    println!("### {SEARCHERS} searchers while {megabytes} MB are indexed beside {megabytes} MB\n");
    println!("| searches | errors | p50 | p95 | longest | indexed in |");
    println!("| --- | --- | --- | --- | --- | --- |");
    let [half, late, longest] = [0.5, 0.95, 1.0].map(|share| all.quantile(share) / 1e3);
    println!("| {searches} | {errors} | {half:.1} ms | {late:.1} ms | {longest:.0} ms | {seconds:.1} s |\n");
    errors == 0
}

/// Searches until the writer is done.
fn search(store: &mut Weir, number: u64, done: &AtomicBool, errors: &AtomicUsize) -> Figures {
    let mut figures = Figures::default();
    let mut round = number * 1_000;
    while !done.load(Ordering::Relaxed) {
        let text = format!("{} {}", word(900 + round % 700), word(2_000 + round % 1_100));
        if let Err(error) = figures.measure(|| store.try_search(&text)) {
            println!("{text}: {error}");
            errors.fetch_add(1, Ordering::Relaxed);
        }
        round += 1;
    }
    figures
}
