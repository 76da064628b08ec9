//! What a digest is made of: parts with their counts, the most important first.

/// The facts of an output.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Page {
    /// What this is, in our words and its numbers: `pytest: 3 failed, 309 passed`. No text of the output may stand
    /// here, since it is shown outside the marks.
    pub what: String,
    /// In the order in which they are shown.
    pub parts: Vec<Part>,
    /// The names of the kinds that read it, in the order of their first lines.
    pub kinds: Vec<&'static str>,
}

/// Facts of one sort.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// What they are, in our words: `failures`.
    pub name: String,
    /// How many there are in the output, kept here or not. For parts that are samples, how many lines there are. 0
    /// where the items are no things that could be counted.
    pub total: u64,
    /// What goes first when there is little room.
    pub weight: Weight,
    /// The facts, the most important first. No more than could ever be shown need be kept.
    pub items: Vec<Item>,
    /// Whether its items are lines of a fold. All such parts of a page are shown as one, by line number.
    pub folded: bool,
}

/// How much it would hurt to leave something out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Weight {
    /// What was asked for in words.
    Asked,
    /// What went wrong.
    Failure,
    /// What the command was run for: results, totals, versions.
    Fact,
    /// What the rest is like: templates with counts, columns, folders.
    Shape,
    /// Lines as examples.
    Sample,
}

impl Weight {
    /// All of them, the most important first.
    pub(crate) const ALL: [Self; 5] = [Self::Asked, Self::Failure, Self::Fact, Self::Shape, Self::Sample];
}

/// One fact: lines of the output as they are, or what was counted of it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Item {
    /// The number of its first line in the output, if it is to be shown.
    pub line: Option<u64>,
    /// The number of the last line that it stands for, if it stands for several.
    pub until: Option<u64>,
    /// The text, one line or more.
    pub text: String,
    /// What to show instead where the text does not fit: the one line that matters.
    pub brief: Option<String>,
}

impl Page {
    /// A page without parts.
    pub fn new(what: impl Into<String>) -> Self {
        Self { what: what.into(), ..Self::default() }
    }

    /// Adds a part that has something to say.
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
    }
}

impl Part {
    /// A part of all these items.
    pub fn new(name: impl Into<String>, weight: Weight, items: Vec<Item>) -> Self {
        Self { name: name.into(), total: items.len() as u64, weight, items, folded: false }
    }

    /// A part whose items are no things that could be counted.
    pub fn uncounted(name: impl Into<String>, weight: Weight, items: Vec<Item>) -> Self {
        Self::new(name, weight, items).of(0)
    }

    /// The same, of which there are `total` in the output.
    pub fn of(self, total: u64) -> Self {
        Self { total, ..self }
    }

    /// The same as lines of a fold.
    pub fn folded(self) -> Self {
        Self { folded: true, ..self }
    }
}

impl Item {
    /// A line of the output, shown with its number.
    pub fn at(line: u64, text: impl Into<String>) -> Self {
        Self { line: Some(line), text: text.into(), ..Self::default() }
    }

    /// Something that was counted, or a line whose number does not matter.
    pub fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// Standing for lines up to this one, or for itself alone.
    pub fn until(self, line: u64) -> Self {
        Self { until: (self.line != Some(line)).then_some(line), ..self }
    }

    /// With the one line that matters, for where the text does not fit.
    pub fn or(self, brief: impl Into<String>) -> Self {
        Self { brief: Some(brief.into()), ..self }
    }
}
