//! The figures of replayed sessions.

use std::collections::BTreeMap;

use weir_hook::hold::HELD_AS;

/// What made an output smaller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Lever {
    /// The beginning of a text that was asked for, with its outline or its end.
    Beginning,
    Digest,
    /// Lines that the session had been shown before.
    SeenBefore,
}

impl Lever {
    pub(super) const ALL: [Self; 3] = [Self::Beginning, Self::Digest, Self::SeenBefore];

    /// Returns the lever, from the line of a replacement that names the reference.
    pub(super) fn of(shown: &str) -> Self {
        let is_ours = |line: &&str| line.contains(HELD_AS);
        match shown.lines().find(is_ours).unwrap_or_default() {
            "" => Self::SeenBefore,
            line if ["beginning", "every line,"].iter().any(|what| line.contains(&format!(" {what}"))) => {
                Self::Beginning
            }
            _ => Self::Digest,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Beginning => "beginning",
            Self::Digest => "digest",
            Self::SeenBefore => "seen before",
        }
    }
}

/// The figures of a group of results. Prices are in tokens of input.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Figures {
    pub results: u64,
    /// The tokens of the results, as the client showed them.
    pub tokens: u64,
    /// The number of results that the client itself had cut.
    pub cut: u64,
    /// The number of results that were replaced.
    pub touched: u64,
    /// The tokens saved by replacing them.
    pub less: i64,
    /// The number of identifiers that the replaced results introduced and that the model used later.
    pub used: u64,
    /// The number of these that could no longer be seen.
    pub unseen: u64,
    /// The number of these that the beginning and the end of the output would have shown, at the same size.
    pub in_ends: u64,
    /// The number of results that would have been requested again.
    pub again: u64,
    /// The price of what was left out.
    pub saved: f64,
    pub again_price: f64,
}

impl Figures {
    /// Returns the savings, less the price of requesting again.
    pub(super) fn net(&self) -> f64 {
        self.saved - self.again_price
    }

    fn forget_prices(&mut self) {
        (self.saved, self.again_price) = (0.0, 0.0);
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.results += other.results;
        self.tokens += other.tokens;
        self.cut += other.cut;
        self.touched += other.touched;
        self.less += other.less;
        self.used += other.used;
        self.unseen += other.unseen;
        self.in_ends += other.in_ends;
        self.again += other.again;
        self.saved += other.saved;
        self.again_price += other.again_price;
    }
}

/// The judgement of a session. Prices are in tokens of input.
pub(super) struct Judgement {
    pub cost: f64,
    /// The part of the cost that was due to tool results.
    pub results_price: f64,
    pub all: Figures,
    pub tools: BTreeMap<&'static str, Figures>,
    pub levers: BTreeMap<Lever, Figures>,
    /// The tokens that tool descriptions add to every request, and their price.
    pub descriptions: (u64, f64),
    /// The tokens of guides after compactions, and their price.
    pub guides: (u64, f64),
    /// What was used after compactions, and whether it was carried over.
    pub carried: CarriedIdentifiers,
    /// The sizes of the results that were replaced and of those that were not, in tokens.
    pub touched_sizes: Vec<u64>,
    pub other_sizes: Vec<u64>,
    /// Results of which something was used later that could not be seen.
    pub unseen: Vec<UnseenResult>,
    pub faults: Vec<String>,
}

impl Judgement {
    /// Returns whether the cost of the session is known. Without usage of its requests, it is not.
    pub(super) fn has_cost(&self) -> bool {
        self.cost > 0.0
    }

    /// Removes the prices. They mean nothing without the cost of the session.
    pub(super) fn forget_prices(&mut self) {
        (self.results_price, self.descriptions.1, self.guides.1) = (0.0, 0.0, 0.0);
        let groups = self.tools.values_mut().chain(self.levers.values_mut());
        groups.chain([&mut self.all]).for_each(Figures::forget_prices);
    }

    pub(super) fn net(&self) -> f64 {
        self.all.net() - self.descriptions.1
    }
}

/// The identifiers that a model used after compactions and that it had seen before them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct CarriedIdentifiers {
    pub compactions: u64,
    /// The number of identifiers used before they were available from elsewhere.
    pub used: u64,
    /// The number of these that the client's own summary contains.
    pub in_summary: u64,
    /// The number of these that the summary or the guide contains.
    pub with_guide: u64,
    /// The number of the others that the model itself had written before.
    pub missing_written: u64,
}

impl CarriedIdentifiers {
    pub(super) fn add(&mut self, other: &Self) {
        self.compactions += other.compactions;
        self.used += other.used;
        self.in_summary += other.in_summary;
        self.with_guide += other.with_guide;
        self.missing_written += other.missing_written;
    }
}

/// A result of which something was used later that could not be seen.
pub(super) struct UnseenResult {
    pub tool: &'static str,
    pub given: String,
    /// The tokens of the result as the client showed it, and those of its replacement.
    pub tokens: (u64, u64),
    /// The number of identifiers that were used later.
    pub used: usize,
    /// The number of these that could not be seen.
    pub hidden: usize,
    pub names: Vec<String>,
}
