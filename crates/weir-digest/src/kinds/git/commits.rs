//! Gathers commits: their authors, their dates, the unusual ones, and their messages, in the order of the output.

use crate::kinds::shared::counts::Tally;
use crate::kinds::shared::dates::{Range, Stamp};
use crate::text::{clip, count};
use crate::{Item, Part, Weight};

/// The maximum number of commits kept, besides the last.
const MAX_COMMITS: usize = 3_000;
const MAX_MONTHS: usize = 18;
const MAX_BODY_LINES: usize = 30;
const MAX_BODY_LINES_SHOWN: usize = 6;

#[derive(Default, Clone)]
pub(super) struct Commit {
    pub(super) line: u64,
    /// Its hash, at full length.
    pub(super) hash: String,
    /// The branches and tags next to it.
    pub(super) refs: String,
    pub(super) author: String,
    /// Its date, as printed.
    pub(super) date: String,
    /// Its date, if it could be parsed.
    pub(super) when: Option<Stamp>,
    /// Whether it has several parents.
    pub(super) merge: bool,
    /// The first line of its message.
    pub(super) subject: String,
    /// The other lines of its message.
    pub(super) body: Vec<String>,
    pub(super) files: u64,
    pub(super) added: u64,
    pub(super) removed: u64,
}

impl Commit {
    pub(super) fn say(&mut self, text: &str) {
        if self.subject.is_empty() {
            self.subject = clip(text, 300);
        } else if self.body.len() < MAX_BODY_LINES && !text.is_empty() && !text.starts_with("This reverts commit ") {
            self.body.push(clip(text, 300));
        }
    }

    fn size(&self) -> u64 {
        self.added.saturating_add(self.removed)
    }

    fn short(&self) -> &str {
        self.hash.get(..8.min(self.hash.len())).unwrap_or(&self.hash)
    }

    /// Returns `1a2b3c4d subject`.
    fn brief(&self) -> String {
        if self.hash.is_empty() { self.subject.clone() } else { format!("{} {}", self.short(), self.subject) }
    }

    fn describe(&self) -> String {
        let refs = if self.refs.is_empty() { String::new() } else { format!(" {}", self.refs) };
        let date = if self.date.is_empty() { String::new() } else { format!(" {}", self.date) };
        let author = if self.author.is_empty() { String::new() } else { format!(" {}:", self.author) };
        format!("{}{refs}{date}{author} {}{}", self.short(), self.subject, self.counts())
    }

    /// Returns its counts in the words of `--stat`.
    fn counts(&self) -> String {
        if self.files == 0 {
            return String::new();
        }
        let plural = |count: u64| if count == 1 { "" } else { "s" };
        let mut text = format!(" [{} file{} changed", self.files, plural(self.files));
        if self.added > 0 {
            text.push_str(&format!(", {} insertion{}(+)", self.added, plural(self.added)));
        }
        if self.removed > 0 {
            text.push_str(&format!(", {} deletion{}(-)", self.removed, plural(self.removed)));
        }
        text.push(']');
        text
    }

    fn whole(&self) -> Item {
        let mut text = self.describe();
        for line in &self.body {
            text.push('\n');
            text.push_str(line);
        }
        Item::at(self.line, text).or(self.describe())
    }

    /// Returns the commit with its author and the beginning of its message, because it differs from the others.
    fn unusual(&self) -> Item {
        let author = if self.author.is_empty() { String::new() } else { format!(" ({})", self.author) };
        let head = format!("{}{author}{}", self.brief(), self.counts());
        if self.body.is_empty() {
            return Item::at(self.line, head);
        }
        let kept = self.body.iter().take(MAX_BODY_LINES_SHOWN).map(String::as_str).collect::<Vec<_>>().join("\n");
        Item::at(self.line, format!("{head}\n{kept}")).or(head)
    }
}

#[derive(Default)]
pub(super) struct Commits {
    pub count: u64,
    /// The number of commits that the output marks as merges, and of those that are only called so.
    merges: u64,
    called_merge: u64,
    kept: Vec<Commit>,
    last: Option<Commit>,
    authors: Tally<1_000>,
    months: Tally<1_000>,
    topics: Tally<1_000>,
    range: Range,
}

impl Commits {
    pub(super) fn add(&mut self, mut commit: Commit) {
        self.count += 1;
        self.merges += u64::from(commit.merge);
        self.called_merge += u64::from(commit.subject.starts_with("Merge "));
        if !commit.author.is_empty() {
            self.authors.add(&commit.author);
        }
        if let Some(when) = commit.when {
            self.range.add(when);
            self.months.add(&when.month());
        }
        if let Some(topic) = topic(&commit.subject) {
            self.topics.add(topic);
        }
        if self.count > 3 {
            commit.body.truncate(MAX_BODY_LINES_SHOWN);
        }
        if self.kept.len() < MAX_COMMITS {
            self.kept.push(commit);
        } else {
            self.last = Some(commit);
        }
    }

    pub(super) fn what(&self, command: &str) -> String {
        let plural = |count: u64, word: &str| format!("{count} {word}{}", if count == 1 { "" } else { "s" });
        let mut texts = vec![plural(self.count, "commit")];
        texts.extend(self.range.days());
        let authors = if self.authors.names() == 1 { "author" } else { "authors" };
        texts.extend((self.authors.names() > 0).then(|| format!("{} {authors}", self.authors.different())));
        match (self.merges, self.called_merge) {
            (0, 0) => {}
            (0, called) => texts.push(format!("{called} called \"Merge …\"")),
            (merges, _) => texts.push(plural(merges, "merge")),
        }
        format!("{command}: {}", texts.join(", "))
    }

    /// Returns their facts, after the last.
    pub(super) fn parts(mut self) -> Vec<Part> {
        if self.count <= 3 {
            return vec![Part::new("commits", Weight::Fact, self.kept.iter().map(Commit::whole).collect())];
        }
        let last = self.last.take().or_else(|| self.kept.pop());
        let ends = self.kept.first().into_iter().chain(&last).map(|commit| Item::at(commit.line, commit.describe()));
        let mut parts = vec![Part::new("first and last commit of the output", Weight::Fact, ends.collect())];
        parts.push(self.counts());
        let between = self.kept.get(1..).unwrap_or_default();
        let mut shown = vec![false; between.len()];
        let mut chosen: Vec<Part> = Self::biggest(&self.kept, last.as_ref()).into_iter().collect();
        chosen.push(choose("releases and tags", between, &mut shown, |commit| {
            !commit.refs.is_empty() || is_release(&commit.subject)
        }));
        chosen.push(choose("reverts, fixups and breaking changes", between, &mut shown, |commit| {
            is_marked(&commit.subject)
        }));
        chosen.extend(self.rare(between, &mut shown));
        if self.count > MAX_COMMITS as u64 + 1 {
            chosen.iter_mut().for_each(|part| part.name.push_str(&format!(" of the first {MAX_COMMITS} commits")));
        }
        parts.extend(chosen);
        let rest = between.iter().zip(&shown).filter(|(_, shown)| !**shown);
        let rest = rest.map(|(commit, _)| Item::plain(commit.brief())).take(400).collect();
        let told = shown.iter().filter(|&&shown| shown).count() as u64;
        parts.push(Part::new("other commits", Weight::Shape, rest).of(self.count.saturating_sub(2 + told)));
        parts.retain(|part| part.total > 0);
        parts
    }

    /// Returns commits by rare authors or about rare topics.
    fn rare(&self, between: &[Commit], shown: &mut [bool]) -> Option<Part> {
        let few = (self.count / 100).max(1);
        if self.count < 20 {
            return None;
        }
        let by_author =
            self.authors.names() > 1 && self.authors.sorted().first().is_some_and(|(_, most)| *most > few * 5);
        let by_topic = self.topics.sorted().first().is_some_and(|(_, most)| *most > few * 5);
        let mut part = choose("commits of rare authors or topics", between, shown, |commit| {
            let author = by_author && (1..=few).contains(&self.authors.get(&commit.author));
            let topic =
                by_topic && topic(&commit.subject).is_some_and(|topic| (1..=few).contains(&self.topics.get(topic)));
            author || topic
        });
        let of_author = |item: &Item| {
            let place = between.binary_search_by_key(&item.line.unwrap_or(0), |commit| commit.line);
            place.ok().and_then(|place| between.get(place)).map_or(u64::MAX, |commit| self.authors.get(&commit.author))
        };
        part.items.sort_by_cached_key(|item| (of_author(item), item.line));
        Some(part)
    }

    fn biggest(kept: &[Commit], last: Option<&Commit>) -> Option<Part> {
        let mut sized: Vec<&Commit> = kept.iter().chain(last).filter(|commit| commit.files > 0).collect();
        sized.sort_by(|a, b| b.files.cmp(&a.files).then(b.size().cmp(&a.size())).then(a.line.cmp(&b.line)));
        sized.truncate(5);
        let items: Vec<Item> = sized
            .iter()
            .map(|commit| Item::at(commit.line, format!("{}{}", commit.brief(), commit.counts())))
            .collect();
        (!items.is_empty()).then(|| Part::new("commits that touch most files", Weight::Fact, items))
    }

    fn counts(&self) -> Part {
        let mut items = Vec::new();
        items.extend(self.authors.line("commits by author", 1, 12));
        if self.months.names() > 1 {
            let months = self.months.by_name();
            let shown = months.iter().rev().take(MAX_MONTHS).map(|(month, count)| format!("{month} {count}"));
            let mut shown: Vec<String> = shown.collect();
            let earlier = &months[..months.len().saturating_sub(MAX_MONTHS)];
            if !earlier.is_empty() {
                let commits: u64 = earlier.iter().map(|(_, count)| count).sum();
                shown.push(format!("{} {commits}", count(earlier.len() as u64, "earlier month", "earlier months")));
            }
            items.push(Item::plain(format!("by month: {}", shown.join(", "))));
        }
        items.extend(self.topics.line("by the text before the colon", 2, 15));
        Part::new("counts", Weight::Fact, items)
    }
}

/// Returns the commits for which `is` holds and that were not shown before.
fn choose(name: &str, commits: &[Commit], shown: &mut [bool], is: impl Fn(&Commit) -> bool) -> Part {
    let mut items = Vec::new();
    let mut total = 0;
    for (commit, shown) in commits.iter().zip(shown) {
        if !*shown && is(commit) {
            *shown = true;
            total += 1;
            if items.len() < 60 {
                let mut item = commit.unusual();
                if !commit.refs.is_empty() {
                    item = Item::at(commit.line, format!("{} {} {}", commit.short(), commit.refs, commit.subject));
                }
                items.push(item);
            }
        }
    }
    Part::new(name, Weight::Fact, items).of(total)
}

/// Returns whether a subject announces a release: a version, alone or after a few words for it.
fn is_release(subject: &str) -> bool {
    let lower = subject.get(..subject.floor_char_boundary(60)).unwrap_or(subject).to_ascii_lowercase();
    let lower =
        ["chore: ", "build: ", "chore(release): "].iter().find_map(|topic| lower.strip_prefix(topic)).unwrap_or(&lower);
    let words = lower.split([' ', ':', '\'']).filter(|word| !word.is_empty());
    let before = words.clone().take_while(|word| RELEASE_WORDS.contains(word)).count();
    let version = words.clone().nth(before).unwrap_or_default();
    let digits = version.strip_prefix('v').unwrap_or(version);
    let is_version =
        digits.starts_with(|c: char| c.is_ascii_digit()) && digits.contains('.') && !digits.contains("dev");
    is_version && (before > 0 || digits.split('.').count() > 2)
}

/// The words between the beginning of a subject and the version that it releases.
const RELEASE_WORDS: [&str; 9] =
    ["release", "releases", "released", "version", "bump", "to", "merge", "tag", "prepare"];

fn is_marked(subject: &str) -> bool {
    let lower = subject.to_ascii_lowercase();
    ["revert", "fixup!", "squash!", "wip", "hotfix"].iter().any(|word| lower.starts_with(word))
        || lower.contains("breaking")
        || lower.split_once(": ").is_some_and(|(topic, _)| topic.ends_with('!') && !topic.contains(' '))
}

/// Returns `runner` of `runner: what changed`, `fix` of `fix(parser)!: what changed`.
fn topic(subject: &str) -> Option<&str> {
    let (topic, _) = subject.split_once(": ")?;
    let topic = topic.split(['(', '!', ',']).next().unwrap_or(topic).trim();
    (!topic.is_empty() && topic.len() <= 30 && !topic.contains(['"', '`', '\'']) && topic.split(' ').count() <= 2)
        .then_some(topic)
}
