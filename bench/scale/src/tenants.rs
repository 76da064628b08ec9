//! Tenants by Zipf's law, their projects, and what of them lives together. Invariant: the shares of all tenants sum up
//! to 1, and so do those of all units.

use crate::random::mix;

/// How strongly the projects of a tenant differ in size: the exponent of their law.
const PROJECT_EXPONENT: f64 = 0.8;
/// How many projects the largest tenant has at most. Smaller ones have fewer, in proportion.
const MAX_PROJECTS: usize = 2_000;

/// What is placed as a whole: a tenant, or a project of a tenant that is too large for one shard.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Unit {
    /// A hash of its key.
    pub(crate) hash: u64,
    /// Its share of all data and all load.
    pub(crate) share: f64,
}

/// Returns the shares of tenants by Zipf's law, largest first. The exponent gives the largest its share.
pub(crate) fn shares(tenants: usize, largest: f64) -> Vec<f64> {
    let (mut low, mut high) = (0.0, 10.0);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if 1.0 / sum_of_powers(tenants, middle) < largest { low = middle } else { high = middle }
    }
    by_power(tenants, low)
}

/// Returns how many projects a tenant has.
pub(crate) fn projects_of(share: f64, largest: f64) -> usize {
    ((share / largest * MAX_PROJECTS as f64).ceil() as usize).clamp(1, MAX_PROJECTS)
}

/// Returns what is placed. A tenant with more than `split_above` of everything is placed project by project.
pub(crate) fn units(shares: &[f64], split_above: f64) -> Vec<Unit> {
    let largest = shares.first().copied().unwrap_or(1.0);
    let mut units = Vec::new();
    for (tenant, &share) in shares.iter().enumerate() {
        let key = tenant as u64 + 1;
        if share <= split_above {
            units.push(Unit { hash: mix(key), share });
            continue;
        }
        let projects = by_power(projects_of(share, largest), PROJECT_EXPONENT).into_iter().enumerate();
        units.extend(
            projects.map(|(project, part)| Unit { hash: mix(mix(key) ^ (project as u64 + 1)), share: share * part }),
        );
    }
    units
}

fn by_power(count: usize, exponent: f64) -> Vec<f64> {
    let sum = sum_of_powers(count, exponent);
    (1..=count).map(|rank| (rank as f64).powf(-exponent) / sum).collect()
}

fn sum_of_powers(count: usize, exponent: f64) -> f64 {
    (1..=count).map(|rank| (rank as f64).powf(-exponent)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_tenant_has_the_share_that_was_asked_for() {
        let shares = shares(100_000, 0.08);
        assert!((shares[0] - 0.08).abs() < 1e-6, "{}", shares[0]);
        assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        assert!(shares.windows(2).all(|pair| pair[0] >= pair[1]));
    }

    #[test]
    fn splitting_loses_nothing_and_leaves_no_large_unit_but_projects() {
        let shares = shares(10_000, 0.08);
        for split_above in [1.0, 0.01, 0.001] {
            let units = units(&shares, split_above);
            assert!((units.iter().map(|unit| unit.share).sum::<f64>() - 1.0).abs() < 1e-9);
            assert_eq!(units.len() == shares.len(), split_above == 1.0);
        }
    }
}
