//! Reads unified diffs, wherever they occur: the files, how they changed, and the changed lines themselves.

mod description;

use weir_core::wording::counted;

use self::description::{by_folder, changes, is_made, listed, repeated, swap};
use crate::kinds::shared::bounded_items::KeptItems;
use crate::kinds::shared::counts::Tally;
use crate::text::{clip, number, starts};
use crate::{Item, Line, Page, Part, Weight};

const MAX_FILES: usize = 2_000;
/// The maximum number of hunks kept in all, and of one file.
const MAX_HUNKS: usize = 400;
const MAX_HUNKS_PER_FILE: usize = 12;
/// The maximum number of changed lines kept of a hunk.
const MAX_CHANGES: usize = 8;
const MAX_LINE_BYTES: usize = 200;

/// A diff of any number of files.
#[derive(Default)]
pub(super) struct Patch {
    files: Vec<File>,
    more_files: u64,
    hunks: Vec<Hunk>,
    /// The remaining lines of the old and of the new text in the hunk.
    left: (u64, u64),
    /// The number of signs at the beginning of a line of the hunk: two in a merge.
    signs: usize,
    added: u64,
    removed: u64,
    all_hunks: u64,
    conflicts: KeptItems<40>,
    /// Replacements of one line by another, with their counts.
    swaps: Option<Tally>,
    /// The removed line that the next added one may replace, while it is the only one.
    removed_now: Option<String>,
    in_head: bool,
    /// Whether lines cannot be counted, because a hunk does not have the lines that its head states: `--word-diff`
    /// prints no signs, and some tools leave lines out.
    uncounted: bool,
    /// Whether there is no room for the current file.
    skipping: bool,
}

#[derive(Default)]
struct File {
    path: String,
    from: Option<String>,
    states: Vec<&'static str>,
    added: u64,
    removed: u64,
    hunks: usize,
}

struct Hunk {
    file: usize,
    place: usize,
    line: u64,
    head: String,
    changes: Vec<String>,
    left_out: usize,
}

pub(super) fn opens(text: &str) -> bool {
    starts(text, &["diff --git ", "diff --cc ", "diff --combined ", "diff -u", "diff -r", "diff -N", "--- a/"])
        || text.starts_with("--- ") && text.contains('\t')
        || text.starts_with("Index: ") && !text.trim_end().ends_with(':')
}

impl Patch {
    pub(super) fn take(&mut self, line: &Line<'_>) -> bool {
        let text = line.text;
        if self.left != (0, 0) {
            if self.take_change(line) {
                return true;
            }
            self.end_early();
        }
        if let Some(names) = text.strip_prefix("diff --git ") {
            self.begin(git_path(names));
        } else if let Some(path) = text.strip_prefix("diff --cc ").or_else(|| text.strip_prefix("diff --combined ")) {
            self.begin(unquote(path));
        } else if text.starts_with("diff -") || text.starts_with("Index: ") {
            self.begin(text.rsplit(' ').next().unwrap_or_default());
        } else if text.starts_with("--- ") && (self.in_head || opens(text)) {
            self.old_name(line);
        } else if let Some(name) = text.strip_prefix("+++ ").filter(|_| self.in_head) {
            self.new_name(name);
        } else if text.starts_with("@@") && !self.files.is_empty() {
            return self.hunk(line);
        } else if self.in_head {
            return self.head(text);
        } else {
            // `\ No newline at end of file`, and what git prints instead of a hunk.
            return !self.files.is_empty() && text.starts_with("\\ No newline");
        }
        true
    }

    pub(super) fn files(&self) -> u64 {
        self.files.len() as u64 + self.more_files
    }

    pub(super) fn lines(&self) -> (u64, u64) {
        (self.added, self.removed)
    }

    pub(super) fn path(&self) -> &str {
        self.files.last().filter(|_| !self.skipping).map_or("", |file| &file.path)
    }

    fn begin(&mut self, path: &str) {
        self.in_head = true;
        self.skipping = self.files.len() >= MAX_FILES;
        if self.skipping {
            self.more_files += 1;
        } else {
            self.files.push(File { path: clip(path, MAX_LINE_BYTES), ..File::default() });
        }
    }

    fn old_name(&mut self, line: &Line<'_>) {
        let name = line.text.strip_prefix("--- ").unwrap_or_default();
        if !self.in_head {
            self.begin(plain_path(name));
        }
        if name.starts_with("/dev/null") {
            self.mark("new");
        }
    }

    fn new_name(&mut self, name: &str) {
        if name.starts_with("/dev/null") {
            self.mark("deleted");
        } else if let Some(file) = self.now() {
            // A plain diff names two files; the new one is the subject.
            file.path = clip(plain_path(name), MAX_LINE_BYTES);
        }
    }

    /// Takes a line between the names of a file and its first hunk.
    fn head(&mut self, text: &str) -> bool {
        if let Some(from) = text.strip_prefix("rename from ").or_else(|| text.strip_prefix("copy from ")) {
            let state = if text.starts_with('r') { "renamed" } else { "copied" };
            self.mark(state);
            if let Some(file) = self.now() {
                file.from = Some(clip(unquote(from), MAX_LINE_BYTES));
            }
        } else if let Some(to) = text.strip_prefix("rename to ").or_else(|| text.strip_prefix("copy to ")) {
            if let Some(file) = self.now() {
                file.path = clip(unquote(to), MAX_LINE_BYTES);
            }
        } else if text.starts_with("new file mode") {
            self.mark("new");
        } else if text.starts_with("deleted file mode") {
            self.mark("deleted");
        } else if text.starts_with("new mode") {
            self.mark("mode changed");
        } else if text.starts_with("Binary files ") || text.starts_with("GIT binary patch") {
            self.mark("binary");
        } else {
            #[rustfmt::skip]
            let known = [
                "index ", "old mode", "similarity index", "dissimilarity index", "mode ", "=====", "literal ", "delta ",
            ];
            return known.iter().any(|word| text.starts_with(word));
        }
        true
    }

    fn hunk(&mut self, line: &Line<'_>) -> bool {
        let signs = line.text.bytes().take_while(|&byte| byte == b'@').count();
        let Some((ranges, context)) = line.text.get(signs..).and_then(|rest| rest.split_once(" @@")) else {
            return false;
        };
        let lengths = ranges.split_whitespace().map(range_length);
        let mut old = 0;
        let mut new = 0;
        for (place, length) in lengths.enumerate() {
            let Some(length) = length else { return false };
            if place + 1 < signs { old = old.max(length) } else { new = length }
        }
        // The end of a merge hunk cannot be found by counting its lines, so it continues while they fit.
        self.left = if signs > 2 { (u64::MAX, u64::MAX) } else { (old, new) };
        self.signs = signs - 1;
        self.in_head = false;
        self.all_hunks += 1;
        let place = self.now().map_or(usize::MAX, |file| {
            file.hunks += 1;
            file.hunks - 1
        });
        if place < MAX_HUNKS_PER_FILE && self.hunks.len() < MAX_HUNKS {
            let head = format!("@@{ranges} @@{}", clip(context.trim_start_matches('@'), 100));
            let file = self.files.len() - 1;
            self.hunks.push(Hunk { file, place, line: line.number, head, changes: Vec::new(), left_out: 0 });
        }
        true
    }

    fn take_change(&mut self, line: &Line<'_>) -> bool {
        let text = line.text;
        if text.starts_with('\\') {
            return true;
        }
        let signs = text.get(..self.signs.min(text.len())).unwrap_or_default();
        let (added, removed) = (signs.contains('+'), signs.contains('-'));
        if !added && !removed && !signs.bytes().all(|byte| byte == b' ')
            || self.signs > 1 && text.starts_with("diff --")
        {
            return false;
        }
        if !added {
            self.left.0 = self.left.0.saturating_sub(1);
        }
        if !removed {
            self.left.1 = self.left.1.saturating_sub(1);
        }
        if !self.uncounted {
            self.count(u64::from(added), u64::from(removed && !added));
        }
        let content = text.get(signs.len()..).unwrap_or_default();
        if added && ["<<<<<<< ", ">>>>>>> "].iter().any(|mark| content.starts_with(mark)) {
            self.conflict(line);
        }
        self.swap(content.trim(), signs);
        if added || removed {
            self.keep(text, !content.trim().is_empty());
        }
        true
    }

    fn count(&mut self, added: u64, removed: u64) {
        self.added += added;
        self.removed += removed;
        if let Some(file) = self.now() {
            file.added += added;
            file.removed += removed;
        }
    }

    /// Ends a hunk before the lines that its head states. The end of a merge hunk is never known from its head.
    fn end_early(&mut self) {
        self.left = (0, 0);
        if self.signs < 2 {
            self.uncounted = true;
            (self.added, self.removed) = (0, 0);
            self.files.iter_mut().for_each(|file| (file.added, file.removed) = (0, 0));
        }
    }

    /// Counts which line replaces which, to find a change that was made in many places.
    fn swap(&mut self, content: &str, signs: &str) {
        let (added, removed) = (signs.contains('+'), signs.contains('-'));
        let before = self.removed_now.take();
        if removed && before.is_none() && (3..=MAX_LINE_BYTES).contains(&content.len()) {
            self.removed_now = Some(content.to_owned());
        } else if let Some(before) = before.filter(|_| added && (3..=MAX_LINE_BYTES).contains(&content.len())) {
            self.swaps.get_or_insert_default().add(&swap(&before, content));
        }
    }

    fn conflict(&mut self, line: &Line<'_>) {
        let text = format!("{}: {}", self.path(), line.clip(MAX_LINE_BYTES));
        self.conflicts.add(|| Item::at(line.number, text));
    }

    /// Keeps a changed line that says something, and counts the others.
    fn keep(&mut self, text: &str, says_something: bool) {
        let file = self.files.len().wrapping_sub(1);
        let place = self.files.last().map_or(0, |file| file.hunks.wrapping_sub(1));
        let Some(hunk) =
            self.hunks.last_mut().filter(|hunk| !self.skipping && hunk.file == file && hunk.place == place)
        else {
            return;
        };
        if says_something && hunk.changes.len() < MAX_CHANGES {
            hunk.changes.push(clip(text, MAX_LINE_BYTES));
        } else {
            hunk.left_out += 1;
        }
    }

    fn now(&mut self) -> Option<&mut File> {
        if self.skipping { None } else { self.files.last_mut() }
    }

    fn mark(&mut self, state: &'static str) {
        if let Some(file) = self.now()
            && !file.states.contains(&state)
        {
            file.states.push(state);
        }
    }

    pub(super) fn what(&self) -> String {
        let mut texts = vec![counted(self.files() as usize, "file", "files")];
        texts.extend((!self.uncounted).then(|| format!("+{} -{} lines", self.added, self.removed)));
        for state in ["new", "deleted", "renamed", "copied", "mode changed", "binary"] {
            let count = self.files.iter().filter(|file| file.states.contains(&state)).count();
            texts.extend((count > 0).then(|| format!("{count} {state}")));
        }
        texts.push(counted(self.all_hunks as usize, "hunk", "hunks"));
        texts.extend((self.conflicts.total > 0).then(|| format!("{} conflict markers", self.conflicts.total)));
        texts.join(", ")
    }

    /// Returns its facts, after the last line.
    pub(super) fn parts(self) -> Page {
        let mut page = Page::default();
        let files = self.files();
        page.push(self.conflicts.part("conflict markers", Weight::Failure));
        let mut order: Vec<usize> = (0..self.files.len()).collect();
        order.sort_by_key(|&place| {
            let file = &self.files[place];
            (is_made(&file.path), std::cmp::Reverse(file.added + file.removed), place)
        });
        page.parts.extend(listed(&self.files, &order, files));
        page.parts.extend(self.swaps.as_ref().and_then(repeated));
        if self.files.len() > 25 {
            page.push(by_folder(&self.files));
        }
        page.parts.extend(changes(&self.files, self.hunks, (self.all_hunks, self.swaps.as_ref()), &order));
        page
    }

    /// Returns the files that were not just modified, if the others are listed elsewhere.
    pub(super) fn became(&self) -> Vec<Part> {
        let mut order: Vec<usize> = (0..self.files.len()).collect();
        order.sort_by_key(|&place| std::cmp::Reverse(self.files[place].added + self.files[place].removed));
        let mut parts = listed(&self.files, &order, 0);
        for part in &mut parts {
            part.weight = Weight::Shape;
        }
        parts
    }

    /// Returns only the changed lines, if the files are listed elsewhere.
    pub(super) fn changes(self) -> Option<Part> {
        let order: Vec<usize> = (0..self.files.len()).collect();
        changes(&self.files, self.hunks, (self.all_hunks, None), &order)
    }
}

/// Returns the path in `a/x b/x`: the second name, since the first is the same or the old one.
fn git_path(names: &str) -> &str {
    if names.ends_with('"') {
        return names.rfind(" \"b/").and_then(|at| names.get(at + 4..names.len() - 1)).unwrap_or(names);
    }
    // In a path with spaces, both halves have the same length.
    let half = names.len() / 2;
    let same = names.get(half + 1..).filter(|_| names.as_bytes().get(half) == Some(&b' '));
    let name = same.or_else(|| names.rfind(" b/").and_then(|at| names.get(at + 1..))).unwrap_or(names);
    name.strip_prefix("b/").unwrap_or(name)
}

/// Returns a name after `---` or `+++`, without its date and the prefix of git.
fn plain_path(name: &str) -> &str {
    let name = name.split('\t').next().unwrap_or(name);
    let name = unquote(name.trim_end());
    name.strip_prefix("b/").or_else(|| name.strip_prefix("a/")).unwrap_or(name)
}

fn unquote(name: &str) -> &str {
    name.strip_prefix('"').and_then(|name| name.strip_suffix('"')).unwrap_or(name)
}

/// Returns the length in `-12,3` or `+12`.
fn range_length(range: &str) -> Option<u64> {
    let range = range.strip_prefix(['-', '+'])?;
    let (_, rest) = number(range)?;
    match rest.strip_prefix(',') {
        Some(length) => number(length).map(|(length, _)| length),
        None => rest.is_empty().then_some(1),
    }
}
