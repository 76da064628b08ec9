//! Runs the seeds through every target: whole, cut, and with changed bytes.

use weir_fuzz::{TARGETS, seeds};

/// The number of cuts of each seed: enough to reveal a broken target, and few enough for every test run.
const CUTS: usize = 6;

#[test]
fn every_target_takes_its_seeds() {
    for target in TARGETS {
        let seeds = seeds(target);
        assert!(!seeds.is_empty(), "{} has no seeds", target.name);
        for seed in &seeds {
            (target.run)(seed);
            let step = seed.len().div_ceil(CUTS).max(1);
            for at in (0..seed.len()).step_by(step) {
                (target.run)(&seed[..at]);
                let mut changed = seed.clone();
                changed[at] = changed[at].wrapping_add(97);
                (target.run)(&changed);
            }
        }
    }
}
