//! Finds the columns of a table: by its rule, its bars, the gaps of its header, or the positions that stay blank.

mod cut;

use cut::{cut_at, cut_before, last_word, pieces, split_words, starts_after_gaps, starts_of};

const MAX_ROWS: usize = 300;
const MAX_COLUMNS: usize = 200;
/// The maximum width of a table that is searched for blank columns.
const MAX_WIDTH: usize = 2_000;

/// The columns of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) names: Vec<String>,
    /// How a row is split.
    cut: ColumnSplit,
    pub(super) header: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum ColumnSplit {
    /// Each column begins at one of these positions, counted in characters.
    Starts(Vec<usize>),
    /// Each column is one word, and the last column has the rest.
    Words,
    /// The character between columns.
    Bars(char),
}

/// The characters of a rule under a header.
const RULE: &str = "-=+| :─═┼│├┤┌┐└┘┬┴╞╪╡━┃┏┓┡┩╇┳";

/// Returns whether a line is only a rule under a header.
pub(super) fn is_rule(line: &str) -> bool {
    let text = line.trim();
    text.len() >= 3
        && text.chars().all(|c| RULE.contains(c))
        && text.chars().filter(|c| matches!(c, '-' | '=' | '─' | '═' | '━')).count() >= 3
}

/// Recognises `(12 rows)`, after the last row.
pub(super) fn is_end(line: &str) -> bool {
    let inner = line.strip_prefix('(').and_then(|line| line.strip_suffix(')'));
    inner.is_some_and(|inner| inner.ends_with(" rows") || inner.ends_with(" row"))
}

/// Finds the columns of a table that begins within the first lines.
pub(super) fn find<'a>(lines: impl Iterator<Item = &'a str> + Clone) -> Option<Layout> {
    let first: Vec<&str> = lines.clone().take(10).collect();
    if let Some(rule) = first.iter().position(|line| is_rule(line)) {
        return ruled(&first, rule, lines);
    }
    // Only a few lines may precede a table.
    for (place, header) in first.iter().enumerate().filter(|(_, line)| is_header(line)) {
        let rows: Vec<&str> = lines.clone().skip(place + 1).take(MAX_ROWS).collect();
        if rows.len() < 3 {
            return None;
        }
        let found = gaps(header, &rows).or_else(|| rivers(header, &rows)).or_else(|| words(header, &rows));
        if let Some(layout) = found {
            return Some(layout.joined(&rows));
        }
    }
    None
}

/// The names of last columns that hold free text.
const FREE: [&str; 8] = ["COMMAND", "CMD", "Description", "DESCRIPTION", "ARGS", "MESSAGE", "Message", "Command"];

impl Layout {
    /// Merges columns whose names are two words of one name: no row has anything below the second word.
    fn joined(mut self, rows: &[&str]) -> Self {
        let ColumnSplit::Starts(starts) = &self.cut else { return self };
        let cells: Vec<Vec<&str>> = rows.iter().filter_map(|row| cut_at(row, starts)).collect();
        let header: Vec<char> = self.header.chars().collect();
        let is_second = |place: &usize| {
            let start = starts.get(*place).copied().unwrap_or(0);
            let near = start >= 2 && header.get(start - 1) == Some(&' ') && header.get(start - 2) != Some(&' ');
            near && !cells.is_empty() && cells.iter().all(|row| row.get(*place).is_none_or(|cell| cell.is_empty()))
        };
        let seconds: Vec<usize> = (1..starts.len()).filter(is_second).collect();
        let mut starts = starts.clone();
        for &place in seconds.iter().rev() {
            let second = self.names.remove(place);
            starts.remove(place);
            self.names[place - 1] = format!("{} {second}", self.names[place - 1]);
        }
        self.cut = ColumnSplit::Starts(starts);
        self
    }

    /// Returns whether the last column holds free text.
    pub(super) fn is_free(&self) -> bool {
        self.names.last().is_some_and(|name| FREE.contains(&name.as_str()))
    }

    /// Returns the cells of a row, or `None` if the line cannot be a row.
    pub(super) fn cells<'a>(&self, line: &'a str) -> Option<Vec<&'a str>> {
        let count = self.names.len();
        match &self.cut {
            ColumnSplit::Bars(bar) => {
                let inner = line.trim();
                let inner = inner.strip_prefix(*bar).unwrap_or(inner);
                let inner = inner.strip_suffix(*bar).unwrap_or(inner);
                let cells: Vec<&str> = inner.split(*bar).map(str::trim).collect();
                (cells.len() == count).then_some(cells)
            }
            ColumnSplit::Words => split_words(line, count),
            ColumnSplit::Starts(starts) if self.is_free() => cut_at(line, starts).or_else(|| split_words(line, count)),
            ColumnSplit::Starts(starts) => {
                let words =
                    || split_words(line, count).filter(|cells| cells.last().is_some_and(|last| !last.contains(' ')));
                cut_at(line, starts).or_else(words).or_else(|| cut_before(line, starts))
            }
        }
    }
}

/// Finds the columns of a table with a rule: dashes under each column, or bars between them.
fn ruled<'a>(first: &[&str], rule: usize, lines: impl Iterator<Item = &'a str>) -> Option<Layout> {
    let drawn = first.get(rule).filter(|line| line.len() <= MAX_WIDTH * 3)?;
    // If the first line is a rule, the table is in a box and the header follows.
    let header = if rule == 0 { *first.get(1)? } else { *first.get(rule - 1)? };
    let bar = ['│', '┃', '|'].into_iter().find(|bar| header.contains(*bar));
    let rows: Vec<&str> = lines.skip(rule + 1).filter(|line| !is_rule(line) && !is_end(line)).take(MAX_ROWS).collect();
    let layout = match bar.filter(|_| !header.starts_with("||/")) {
        Some(bar) => {
            let inner = header.trim().trim_start_matches(bar).trim_end_matches(bar);
            let names: Vec<String> = inner.split(bar).map(|name| name.trim().to_owned()).collect();
            // Box drawings separate the cells below a heavy header by light bars.
            let bar = if bar == '┃' { '│' } else { bar };
            Layout { names, cut: ColumnSplit::Bars(bar), header: header.to_owned() }
        }
        None => {
            // dpkg joins its columns with a dash; others leave a space.
            let gap = if drawn.contains('=') && drawn.contains('-') { '-' } else { ' ' };
            let starts = starts_of(drawn, gap);
            if starts.len() > MAX_COLUMNS {
                return None;
            }
            let names = names_at(header, &starts);
            Layout { names, cut: ColumnSplit::Starts(starts), header: header.to_owned() }
        }
    };
    if layout.names.len() > MAX_COLUMNS {
        return None;
    }
    let fit = rows.iter().filter(|row| layout.cells(row).is_some()).count();
    let named =
        layout.names.iter().filter(|name| !name.is_empty()).count() >= layout.names.len().saturating_sub(1).max(1);
    let bars_fit = !matches!(layout.cut, ColumnSplit::Bars(_)) || drawn.contains(['+', '|', '┼', '╪', '┬', '┳', '╇']);
    (layout.names.len() >= 2 && named && bars_fit && rows.len() >= 3 && fit * 10 >= rows.len() * 9).then_some(layout)
}

/// Returns whether a line names columns: words that are in capitals or capitalised, and no numbers.
pub(super) fn is_header(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    let capital = |word: &&&str| word.starts_with(|c: char| c.is_uppercase() || matches!(c, '%' | '#'));
    let plain =
        |word: &&str| word.chars().all(|c| c.is_alphanumeric() || "%#_-/()+:.".contains(c)) && !word.ends_with('.');
    let all_capital = |word: &&&str| word.chars().all(|c| !c.is_lowercase());
    let count = words.len();
    count >= 2
        && line.len() <= 400
        && words.iter().all(plain)
        && !words.iter().any(|word| word.ends_with(':') || word.starts_with(|c: char| c.is_ascii_digit()))
        && (words.iter().filter(all_capital).count() * 10 >= count * 8
            || count >= 4 && words.iter().filter(capital).count() * 10 >= count * 7 && line.contains("  ")
            || line.contains("   ") && words.iter().filter(capital).count() * 10 >= count * 8)
}

/// Finds columns that begin under their names, which are at least two spaces apart.
fn gaps(header: &str, rows: &[&str]) -> Option<Layout> {
    let starts = starts_after_gaps(header);
    if starts.len() < 2 {
        return None;
    }
    let fits = |row: &&&str| {
        let mut letters = row.chars();
        let mut at = 0;
        let mut before = ' ';
        for &start in &starts {
            while at < start {
                let Some(letter) = letters.next() else { return true };
                before = letter;
                at += 1;
            }
            let Some(letter) = letters.next() else { return true };
            if start > 0 && before != ' ' || letter == ' ' && start == 0 {
                return false;
            }
            before = letter;
            at += 1;
        }
        true
    };
    // Where numbers are right-aligned under their names, the gaps are elsewhere.
    let inside = |row: &&&str| {
        cut_at(row, &starts).is_some_and(|cells| cells.iter().filter(|cell| !cell.is_empty()).count() >= 2)
    };
    let fit = rows.iter().filter(fits).filter(inside).count();
    let left = (1..starts.len()).all(|place| {
        let filled = |row: &&&str| pieces(row, &starts).get(place).is_some_and(|cell| !cell.trim().is_empty());
        let begun = |row: &&&str| starts.get(place).is_some_and(|&start| begins_at(row, start));
        let (filled, begun) = (rows.iter().filter(filled).count(), rows.iter().filter(begun).count());
        begun * 2 >= filled
    });
    (fit * 100 >= rows.len() * 95 && left).then(|| layout_at(header, divided(header, rows, starts)))
}

/// Splits the columns whose name and rows all have a blank at the same position.
fn divided(header: &str, rows: &[&str], starts: Vec<usize>) -> Vec<usize> {
    let letters: Vec<char> = header.chars().collect();
    let mut all = Vec::new();
    for (place, &start) in starts.iter().enumerate() {
        let end = starts.get(place + 1).copied().unwrap_or(letters.len());
        let mut from = start;
        all.push(start);
        for blank in start + 1..end.saturating_sub(1) {
            if letters.get(blank) != Some(&' ') || letters.get(blank + 1).is_none_or(|&c| c == ' ') {
                continue;
            }
            let parted = |row: &&&str| {
                let mut cell = row.chars().skip(from).take(blank - from);
                let mut rest = row.chars().skip(blank);
                let before = cell.any(|c| c != ' ');
                before && rest.next() == Some(' ') && rest.take(end.saturating_sub(blank)).any(|c| c != ' ')
            };
            let clear = |row: &&&str| row.chars().nth(blank).is_none_or(|c| c == ' ');
            let (clear, parted) = (rows.iter().filter(clear).count(), rows.iter().filter(parted).count());
            if clear * 100 >= rows.len() * 97 && parted * 2 >= rows.len() {
                from = blank + 1;
                all.push(from);
            }
        }
    }
    all
}

fn begins_at(row: &str, start: usize) -> bool {
    row.chars().nth(start).is_some_and(|letter| letter != ' ')
}

/// Finds columns between the positions that are blank in the header and in every row.
fn rivers(header: &str, rows: &[&str]) -> Option<Layout> {
    let last = last_word(header)?;
    if last > MAX_WIDTH {
        return None;
    }
    let mut filled = vec![0_u32; last + 1];
    for row in rows {
        for (place, letter) in row.chars().take(last + 1).enumerate() {
            if letter != ' '
                && let Some(count) = filled.get_mut(place)
            {
                *count += 1;
            }
        }
    }
    let few = rows.len() as u32 * 3 / 100;
    let names: Vec<char> = header.chars().collect();
    let blank = |place: usize| {
        filled.get(place).is_none_or(|&count| count <= few) && names.get(place).is_none_or(|&c| c == ' ')
    };
    let mut starts: Vec<usize> = Vec::new();
    let mut begin = None;
    for place in 0..=last {
        let is_blank = blank(place);
        if let (true, Some(start)) = (is_blank, begin) {
            let any = filled.get(start..place).is_some_and(|counts| counts.iter().any(|&count| count > 0));
            // A single space after a word with nothing below it is inside a name of two words.
            if any || blank(place + 1) {
                starts.push(start);
                begin = None;
            }
        } else if !is_blank && begin.is_none() {
            begin = Some(place);
        }
    }
    starts.push(begin.unwrap_or(last));
    let layout = layout_at(header, starts);
    let fit = rows.iter().filter(|row| layout.cells(row).is_some()).count();
    let is_name = |name: &String| !name.is_empty() && name.split_whitespace().count() <= 3 && !name.contains("  ");
    let named = layout.names.iter().all(is_name);
    (layout.names.len() >= 3 && named && fit * 100 >= rows.len() * 95).then_some(layout)
}

/// Finds columns that are single words.
fn words(header: &str, rows: &[&str]) -> Option<Layout> {
    // The only two-word name that tools of this sort print.
    let joined = header.replace("Mounted on", "Mounted");
    let names: Vec<String> = joined.split_whitespace().map(str::to_owned).collect();
    let count = names.len();
    let layout = Layout { names, cut: ColumnSplit::Words, header: header.to_owned() };
    let free = layout.is_free();
    // In a row with more words than names, the grouping is unknown, unless the last column holds free text.
    let fits = |row: &&&str| {
        let words = row.split_whitespace().count();
        words == count || free && words > count
    };
    let fit = rows.iter().filter(fits).count();
    (count >= 3 && fit * 100 >= rows.len() * 95).then_some(layout)
}

fn layout_at(header: &str, starts: Vec<usize>) -> Layout {
    Layout { names: names_at(header, &starts), cut: ColumnSplit::Starts(starts), header: header.to_owned() }
}

fn names_at(header: &str, starts: &[usize]) -> Vec<String> {
    pieces(header, starts).iter().map(|name| (*name).trim().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Option<Vec<String>> {
        find(text.lines()).map(|layout| layout.names)
    }

    #[test]
    fn columns_of_several_tools() {
        let ps = "USER       PID %CPU COMMAND\nroot         1  0.4 /sbin/init splash\nroot        12  0.0 [kthreadd]\nwww     12345 99.9 nginx: worker\n";
        assert_eq!(names(ps).unwrap(), ["USER", "PID", "%CPU", "COMMAND"]);
        let pods = "NAME        READY   STATUS    RESTARTS   AGE\nweb-1       1/1     Running   0          5d\nweb-22      0/1     Error     3          5d\ndb-0        1/1     Running   0          5d\n";
        assert_eq!(names(pods).unwrap(), ["NAME", "READY", "STATUS", "RESTARTS", "AGE"]);
        let docker = "CONTAINER ID   STATUS                     PORTS     NAMES\n86755fcb8362   Up 3 days                            shop-0\n8a5676a2911e   Exited (137) 3 hours ago             shop-2\n99b29728c7ba   Up 3 days                  80/tcp    shop-4\n";
        assert_eq!(names(docker).unwrap(), ["CONTAINER ID", "STATUS", "PORTS", "NAMES"]);
        let psql = " id | name \n----+------\n  1 | a\n  2 | b\n  3 | c\n(3 rows)\n";
        assert_eq!(names(psql).unwrap(), ["id", "name"]);
        let df = "Filesystem      Size  Used Avail Use% Mounted on\n/dev/sda1        50G   20G   30G  40% /\ntmpfs           1.6G  1.8M  1.6G   1% /run\n/dev/sdb1       100G   99G    1G  99% /var/lib/data\n";
        assert_eq!(names(df).unwrap(), ["Filesystem", "Size", "Used", "Avail", "Use%", "Mounted on"]);
    }

    #[test]
    fn other_texts_have_no_columns() {
        for text in [
            "Reading package lists...\nBuilding dependency tree...\nA\nB\n",
            "This is a text. It has lines.\nAnother line of it is here.\nAnd one more.\nAnd the last.\n",
            "2025-01-01 INFO  started\n2025-01-01 INFO  ready\n2025-01-01 WARN  slow\n2025-01-01 INFO  done\n",
        ] {
            assert_eq!(names(text), None, "{text}");
        }
    }
}
