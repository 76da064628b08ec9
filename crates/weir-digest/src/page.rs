//! The building blocks of a digest: parts with their counts, the most important first.

/// The maximum budget in tokens of a digest that shows records.
const MAX_RECORDS_BUDGET: usize = 5_000;

/// The facts of an output.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Page {
    /// What this is, in our words and with its numbers: `pytest: 3 failed, 309 passed`. It must not contain text of the
    /// output, because it is shown outside the marks.
    pub what: String,
    pub parts: Vec<Part>,
    /// The names of the kinds that read the output, in the order of their first lines.
    pub kinds: Vec<&'static str>,
    /// What the output says, without names of fields and what says little, if its names are to be taken from that.
    pub words: Option<String>,
    /// Whether it shows every record in full, so that no question needs more.
    pub is_complete: bool,
}

/// Facts of one sort.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// What the facts are, in our words: `failures`.
    pub name: String,
    /// How many there are in the output, kept here or not. For a part of samples, the number of lines. 0 where the
    /// items cannot be counted.
    pub total: u64,
    /// Decides which parts come first when there is little room.
    pub weight: Weight,
    /// The facts, the most important first. Parts keep no more than could ever be shown.
    pub items: Vec<Item>,
    /// Whether its items are lines of a fold. All such parts of a page are merged into one, ordered by line number.
    pub folded: bool,
}

/// How much the reader would lose if something were left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Weight {
    /// What the intent asked for.
    Asked,
    Failure,
    /// The records of a list, each in one line, chosen to fit.
    Record,
    /// What the command was run for: results, totals, versions.
    Fact,
    /// What the remaining output looks like: templates with counts, columns, folders.
    Shape,
    Sample,
}

impl Weight {
    /// All weights, the most important first.
    pub(crate) const ALL: [Self; 6] = [Self::Asked, Self::Failure, Self::Record, Self::Fact, Self::Shape, Self::Sample];
}

/// One fact: verbatim lines of the output, or something counted in it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Item {
    /// The number of its first line in the output, if it is to be shown.
    pub line: Option<u64>,
    /// The number of the last line that it represents, if it represents several.
    pub until: Option<u64>,
    /// The text, one line or more.
    pub text: String,
    /// The one line that matters, shown where the text does not fit.
    pub brief: Option<String>,
}

impl Page {
    pub fn new(what: impl Into<String>) -> Self {
        Self { what: what.into(), ..Self::default() }
    }

    /// Returns the budget in tokens for the digest of an output of this many bytes. Where records are what matters,
    /// there is more room for them.
    pub fn budget(&self, bytes: u64) -> usize {
        let most = crate::budget(bytes);
        let is_record = |part: &&Part| part.weight == Weight::Record;
        let records = self.parts.iter().filter(is_record).flat_map(|part| &part.items);
        let needed: usize = records.map(|item| weir_tokens::count(&item.text) + 1).sum();
        most.max((needed + most / 4).min(MAX_RECORDS_BUDGET))
    }

    /// Adds a part, unless it is empty.
    pub fn push(&mut self, part: Part) {
        if part.total > 0 || !part.items.is_empty() {
            self.parts.push(part);
        }
    }

    /// Adds the facts of another stretch of the same output.
    pub fn join(&mut self, other: Self) {
        if !other.what.is_empty() {
            if !self.what.is_empty() {
                self.what.push_str("; ");
            }
            self.what.push_str(&other.what);
        }
        self.parts.extend(other.parts);
        self.kinds.extend(other.kinds);
        (self.words, self.is_complete) = (None, false);
    }
}

impl Part {
    pub fn new(name: impl Into<String>, weight: Weight, items: Vec<Item>) -> Self {
        Self { name: name.into(), total: items.len() as u64, weight, items, folded: false }
    }

    /// Returns a part whose items cannot be counted.
    pub fn uncounted(name: impl Into<String>, weight: Weight, items: Vec<Item>) -> Self {
        Self::new(name, weight, items).of(0)
    }

    /// Sets how many there are in the output.
    pub fn of(self, total: u64) -> Self {
        Self { total, ..self }
    }

    /// Marks its items as lines of a fold.
    pub fn folded(self) -> Self {
        Self { folded: true, ..self }
    }
}

impl Item {
    /// Returns a line of the output, shown with its number.
    pub fn at(line: u64, text: impl Into<String>) -> Self {
        Self { line: Some(line), text: text.into(), ..Self::default() }
    }

    /// Returns something that was counted, or a line whose number does not matter.
    pub fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// Sets the last line that it represents; none, if that is its only line.
    pub fn until(self, line: u64) -> Self {
        Self { until: (self.line != Some(line)).then_some(line), ..self }
    }

    /// Sets the one line that matters, shown where the text does not fit.
    pub fn or(self, brief: impl Into<String>) -> Self {
        Self { brief: Some(brief.into()), ..self }
    }
}
