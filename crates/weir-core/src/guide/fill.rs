//! Fills a guide up to its budget. Invariants: the result never has more tokens than the budget, and nothing is written
//! without the first line.

use super::Wanted;
use super::sections::GuideSection;
use crate::wording::counted;

/// Maximum lengths in bytes to which an item's text is cut if it does not fit in full. They are tried in this order.
const CUT_LENGTHS_BYTES: [usize; 3] = [240, 120, 60];

/// The part of a section that is written so far.
struct FilledSection<'s> {
    section: &'s GuideSection<'s>,
    /// The lines of the items, with the tokens of each.
    lines: Vec<(String, usize)>,
    /// The tokens of the heading.
    heading: usize,
    /// Whether the section gets no more lines.
    closed: bool,
}

impl FilledSection<'_> {
    /// Returns the tokens of the section with another line of `line` tokens.
    fn with(&self, count: fn(&str) -> usize, line: usize) -> usize {
        let lines: usize = self.lines.iter().map(|(_, tokens)| tokens).sum();
        let more = self.more(self.lines.len() + 1);
        self.heading + lines + line + if more.is_empty() { 0 } else { count(&more) }
    }

    fn count(&self, count: fn(&str) -> usize) -> usize {
        if self.lines.is_empty() {
            return 0;
        }
        let lines: usize = self.lines.iter().map(|(_, tokens)| tokens).sum();
        let more = self.more(self.lines.len());
        self.heading + lines + if more.is_empty() { 0 } else { count(&more) }
    }

    /// Returns the line that says how many items are left out if `shown` are shown.
    fn more(&self, shown: usize) -> String {
        match self.section.items.len().saturating_sub(shown) {
            0 => String::new(),
            1 => format!("- +1 more {}\n", self.section.called.0),
            more => format!("- +{more} more {}\n", self.section.called.1),
        }
    }
}

/// Writes the opening lines, then as much of each section as the budget allows. Empty if the first line does not fit.
pub(super) fn fill(mut opening: Vec<String>, sections: &[GuideSection<'_>], wanted: &Wanted<'_>) -> String {
    let count = wanted.count;
    let start = |section| {
        let section: &GuideSection<'_> = section;
        let heading = count(&format!("{}\n", section.heading));
        FilledSection { section, lines: Vec::new(), heading, closed: section.items.is_empty() }
    };
    let mut written: Vec<FilledSection<'_>> = sections.iter().map(start).collect();
    let mut taken: Vec<usize> = Vec::new();
    let mut spent = count(&opening_text(&opening));
    while let Some(next) = next(&written) {
        let section = &written[next];
        let before = section.count(count);
        let left = (wanted.budget + before).saturating_sub(spent);
        let item = &section.section.items[section.lines.len()];
        let lengths =
            std::iter::once(item.longest).chain(CUT_LENGTHS_BYTES.into_iter().filter(|most| *most < item.longest));
        let lines = lengths.map(|most| item.line(most));
        let mut counted = lines.map(|line| {
            let tokens = count(&format!("{line}\n"));
            (line, tokens)
        });
        let fitting = counted.find(|(_, tokens)| section.with(count, *tokens) <= left);
        match fitting {
            Some((line, tokens)) => {
                spent = spent - before + section.with(count, tokens);
                written[next].lines.push((line, tokens));
                written[next].closed = written[next].lines.len() == written[next].section.items.len();
                taken.push(next);
            }
            None => written[next].closed = true,
        }
    }
    // Tokens may span the end of a line, so the sum is only an estimate: count the whole text.
    loop {
        let text = render(&opening, &written);
        let whole = format!("{text}{}", not_shown(&opening, &written)).trim_end().to_owned();
        if count(&whole) <= wanted.budget {
            return whole;
        }
        if taken.is_empty() && count(text.trim_end()) <= wanted.budget {
            return text.trim_end().to_owned();
        }
        match taken.pop() {
            Some(last) => drop(written[last].lines.pop()),
            // The line below the first one is the request that began the work, which matters less than the last one.
            None if opening.len() > 1 => drop(opening.remove(1)),
            None => return String::new(),
        }
    }
}

/// Returns the section whose turn it is: one without a line, otherwise the one whose next item matters most, and of
/// those the one with the fewest lines.
fn next(written: &[FilledSection<'_>]) -> Option<usize> {
    let open = written.iter().enumerate().filter(|(_, section)| !section.closed);
    let rank = |section: &FilledSection<'_>| {
        let shown = section.lines.len();
        (shown > 0, (shown > 0).then(|| section.section.items[shown].priority), shown)
    };
    open.min_by_key(|(place, section)| (rank(section), *place)).map(|(place, _)| place)
}

fn opening_text(opening: &[String]) -> String {
    opening.iter().map(|line| format!("{line}\n")).collect()
}

fn render(opening: &[String], written: &[FilledSection<'_>]) -> String {
    let mut text = opening_text(opening);
    for section in written.iter().filter(|section| !section.lines.is_empty()) {
        text.push_str(&section.section.heading);
        text.push('\n');
        for (line, _) in &section.lines {
            text.push_str(line);
            text.push('\n');
        }
        text.push_str(&section.more(section.lines.len()));
    }
    text
}

/// Returns the line that says how many sections have items but no room for them. Alone below the first line, it would
/// say nothing.
fn not_shown(opening: &[String], written: &[FilledSection<'_>]) -> String {
    let is_hidden = |section: &&FilledSection<'_>| section.lines.is_empty() && !section.section.items.is_empty();
    let is_alone = opening.len() == 1 && written.iter().all(|section| section.lines.is_empty());
    match written.iter().filter(is_hidden).count() {
        0 => String::new(),
        _ if is_alone => String::new(),
        hidden => format!("+{} not shown\n", counted(hidden, "section", "sections")),
    }
}
