//! The figures of sessions that were played.

use std::collections::BTreeMap;

/// What made an output smaller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Lever {
    /// The beginning of a text that was asked for, with its outline or its end.
    Beginning,
    /// A digest.
    Digest,
    /// Lines that the session had been shown before.
    SeenBefore,
}

impl Lever {
    /// Every lever there is.
    pub(super) const ALL: [Self; 3] = [Self::Beginning, Self::Digest, Self::SeenBefore];

    /// The lever, by the first line of what takes the place of an output.
    pub(super) fn of(shown: &str) -> Self {
        let first = shown.lines().next().unwrap_or_default();
        match first {
            _ if first.contains("; beginning and ") || first.contains("; every line, ") => Self::Beginning,
            _ if first.contains(" held as [ctx:") => Self::Digest,
            _ => Self::SeenBefore,
        }
    }

    /// Its name.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Beginning => "beginning",
            Self::Digest => "digest",
            Self::SeenBefore => "seen before",
        }
    }
}

/// The figures of some results. Prices are in tokens of input.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Figures {
    /// How many results there are.
    pub results: u64,
    /// Their tokens, as the client showed them.
    pub tokens: u64,
    /// How many of them the client had cut by itself.
    pub cut: u64,
    /// How many were replaced.
    pub touched: u64,
    /// How many tokens fewer those had then.
    pub less: i64,
    /// The identifiers that they brought in and that the model used later.
    pub used: u64,
    /// Those of them that could no longer be seen.
    pub unseen: u64,
    /// Those of them that the beginning and the end of the output would have shown, at the same size.
    pub in_ends: u64,
    /// How many results would have been asked for again.
    pub again: u64,
    /// The price of what was left out.
    pub saved: f64,
    /// The price of asking again.
    pub again_price: f64,
}

impl Figures {
    /// What was saved, less what asking again cost.
    pub(super) fn net(&self) -> f64 {
        self.saved - self.again_price
    }

    /// Adds others.
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

/// A session, judged. Prices are in tokens of input.
pub(super) struct Judged {
    /// What it cost as it was.
    pub cost: f64,
    /// What its tool results cost of that.
    pub results_price: f64,
    /// The figures of all its results.
    pub all: Figures,
    /// The same by what the tool is for.
    pub tools: BTreeMap<&'static str, Figures>,
    /// The same by what made them smaller.
    pub levers: BTreeMap<Lever, Figures>,
    /// The tokens that tool descriptions add to every request, and their price.
    pub descriptions: (u64, f64),
    /// The tokens of guides after compactions, and their price.
    pub guides: (u64, f64),
    /// What was used after compactions, and who still had it.
    pub carried: Carried,
    /// What was used later and could not be seen.
    pub unseen: Vec<Unseen>,
    /// The hooks that failed.
    pub faults: Vec<String>,
}

impl Judged {
    /// What would have been saved, all in all.
    pub(super) fn net(&self) -> f64 {
        self.all.net() - self.descriptions.1
    }
}

/// The identifiers that a model used after compactions and that it had seen before them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Carried {
    /// How many compactions there were.
    pub compactions: u64,
    /// How many identifiers were used before they could be had from elsewhere.
    pub used: u64,
    /// Those of them that the client's own summary has.
    pub in_summary: u64,
    /// Those of them that the summary or the guide has.
    pub with_guide: u64,
}

impl Carried {
    /// Adds others.
    pub(super) fn add(&mut self, other: &Self) {
        self.compactions += other.compactions;
        self.used += other.used;
        self.in_summary += other.in_summary;
        self.with_guide += other.with_guide;
    }
}

/// A result of which something was used later that could not be seen.
pub(super) struct Unseen {
    /// What the tool is for.
    pub tool: &'static str,
    /// What it was given.
    pub given: String,
    /// Its tokens as the client showed it, and those of what took its place.
    pub tokens: (u64, u64),
    /// How many identifiers were used later.
    pub used: usize,
    /// How many of them could not be seen.
    pub hidden: usize,
    /// Some of those.
    pub names: Vec<String>,
}
