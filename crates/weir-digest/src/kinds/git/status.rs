//! `git status`, long and short: the branch, and what is staged, changed, in conflict or untracked.

mod short;

use crate::kinds::shared::counts::{Tally, extension};
use crate::kinds::{Kind, Stretch};
use crate::text::{clip, starts};
use crate::{About, Item, Line, Page, Part, Weight};

pub(crate) const KIND: Kind = Kind::lines::<Status>("git status", opens);

/// The short format, whose lines cannot be recognised one by one.
pub(crate) const SHORT: Kind = Kind::whole("git status --short", short::is, short::read);

const MAX_PATHS: usize = 300;
const MAX_PATH_BYTES: usize = 300;

fn opens(text: &str, _: About<'_>) -> bool {
    match text.as_bytes().first() {
        Some(b'O') => text.starts_with("On branch "),
        Some(b'H') => text.starts_with("HEAD detached "),
        Some(b'N') => text == "Not currently on any branch.",
        Some(b'i' | b'r' | b'Y') => {
            starts(text, &["interactive rebase in progress", "rebase in progress", "You are currently "])
        }
        Some(b'C') => text == "Changes to be committed:" || text.starts_with("Changes not staged for commit"),
        Some(b'U') => text == "Untracked files:" || text == "Unmerged paths:",
        _ => false,
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Default, PartialOrd, Ord, Debug)]
enum StatusSection {
    #[default]
    None,
    Unmerged,
    Staged,
    Unstaged,
    Untracked,
    Ignored,
}

impl StatusSection {
    fn name(self) -> &'static str {
        match self {
            Self::None => "other",
            Self::Unmerged => "unmerged",
            Self::Staged => "staged",
            Self::Unstaged => "not staged",
            Self::Untracked => "untracked",
            Self::Ignored => "ignored",
        }
    }
}

/// The paths of one section in one state.
#[derive(Default)]
struct PathGroup {
    section: StatusSection,
    state: &'static str,
    count: u64,
    paths: Vec<Item>,
    names: Vec<String>,
}

#[derive(Default)]
struct Status {
    section: StatusSection,
    open: bool,
    about: Vec<Item>,
    groups: Vec<PathGroup>,
    extensions: Tally<500>,
}

impl Stretch for Status {
    fn take(&mut self, line: &Line<'_>) -> bool {
        let text = line.text;
        if opens(text, About::default()) {
            self.open = true;
        }
        if !self.open {
            return false;
        }
        if text.is_empty() {
            return true;
        }
        if let Some(section) = section(text) {
            self.section = section;
            return true;
        }
        if let Some(entry) = text.strip_prefix('\t') {
            self.entry(entry);
            return true;
        }
        if text.trim_start().starts_with("(use \"") || text.trim_start().starts_with("(commit or discard") {
            return true;
        }
        if is_about(text) {
            if self.about.len() < 40 {
                self.about.push(Item::at(line.number, clip(text, MAX_PATH_BYTES)));
            }
            return true;
        }
        self.open = false;
        false
    }

    fn page(self: Box<Self>) -> Page {
        self.into_page("git status")
    }
}

impl Status {
    /// Takes `modified:   path` under a section, or a bare path if files are untracked.
    fn entry(&mut self, entry: &str) {
        #[rustfmt::skip]
        const STATES: [(&str, &str); 13] = [
            ("modified:", "modified"), ("new file:", "new"), ("deleted:", "deleted"), ("renamed:", "renamed"),
            ("copied:", "copied"), ("typechange:", "type changed"), ("both modified:", "both modified"),
            ("both added:", "both added"), ("both deleted:", "both deleted"), ("deleted by us:", "deleted by us"),
            ("deleted by them:", "deleted by them"), ("added by us:", "added by us"),
            ("added by them:", "added by them"),
        ];
        let known = STATES.iter().find_map(|(word, state)| entry.strip_prefix(word).map(|path| (*state, path)));
        let (state, path) = known.unwrap_or((self.section.name(), entry));
        self.add(self.section, state, path.trim());
    }

    fn add(&mut self, section: StatusSection, state: &'static str, path: &str) {
        let place = match self.groups.iter().position(|group| group.section == section && group.state == state) {
            Some(place) => place,
            None => {
                self.groups.push(PathGroup { section, state, ..PathGroup::default() });
                self.groups.len() - 1
            }
        };
        let Some(group) = self.groups.get_mut(place) else { return };
        group.count += 1;
        let named = extension(path).unwrap_or_default();
        if !matches!(section, StatusSection::Untracked | StatusSection::Ignored) {
            self.extensions.add(named);
        }
        if group.paths.len() < MAX_PATHS {
            group.paths.push(Item::plain(clip(path, MAX_PATH_BYTES)));
            group.names.push(named.to_owned());
        }
    }

    fn into_page(self, command: &str) -> Page {
        let counts: Vec<String> = self.groups.iter().map(PathGroup::what).collect();
        let counts = if counts.is_empty() { "nothing listed".to_owned() } else { counts.join(", ") };
        let mut page = Page::new(format!("{command}: {counts}"));
        page.push(Part::new("branch", Weight::Fact, self.about));
        let mut groups = self.groups;
        groups.sort_by_key(|group| (group.section, group.count));
        for group in groups {
            page.push(group.part(&self.extensions));
        }
        page
    }
}

impl PathGroup {
    fn title(&self) -> String {
        match self.section.name() == self.state {
            true => self.state.to_owned(),
            false => format!("{} {}", self.section.name(), self.state),
        }
    }

    fn what(&self) -> String {
        format!("{} {}", self.count, self.title())
    }

    fn part(self, tracked: &Tally<500>) -> Part {
        let weight = match self.section {
            StatusSection::Unmerged => Weight::Failure,
            _ if self.count <= 25 => Weight::Fact,
            _ => Weight::Sample,
        };
        let name = self.title();
        let mut paths = self.paths;
        if matches!(self.section, StatusSection::Untracked | StatusSection::Ignored) {
            // A file that differs from everything tracked may be there by mistake.
            let mut ranked: Vec<(u64, Item)> =
                paths.into_iter().zip(&self.names).map(|(item, name)| (tracked.get(name).min(1), item)).collect();
            ranked.sort_by_key(|(known, _)| *known);
            paths = ranked.into_iter().map(|(_, item)| item).collect();
        }
        Part::new(name, weight, paths).of(self.count)
    }
}

fn section(text: &str) -> Option<StatusSection> {
    match text.trim_end() {
        "Changes to be committed:" => Some(StatusSection::Staged),
        "Untracked files:" => Some(StatusSection::Untracked),
        "Ignored files:" => Some(StatusSection::Ignored),
        "Unmerged paths:" => Some(StatusSection::Unmerged),
        text if text.starts_with("Changes not staged for commit") || text.starts_with("Changed but not updated") => {
            Some(StatusSection::Unstaged)
        }
        _ => None,
    }
}

/// Recognises the sentences around the lists.
fn is_about(text: &str) -> bool {
    #[rustfmt::skip]
    const BEGINNINGS: [&str; 23] = [
        "On branch ", "HEAD detached ", "Not currently on any branch", "Your branch ", "and have ", "  (use ",
        "No commits yet", "Initial commit", "nothing to commit", "nothing added to commit",
        "no changes added to commit", "You have unmerged paths", "You are currently ", "You are in ",
        "All conflicts fixed", "interactive rebase in progress", "rebase in progress", "Last command", "Next command",
        "No command", "It took ", "Your stash currently has ", "Submodule",
    ];
    BEGINNINGS.iter().any(|beginning| text.starts_with(beginning))
        || text.starts_with("  (fix conflicts")
        || text.starts_with("   ") && TODO.iter().any(|word| text.trim_start().starts_with(word))
}

/// The steps of a rebase.
const TODO: [&str; 9] = ["pick ", "reword ", "edit ", "squash ", "fixup ", "drop ", "exec ", "merge ", "label "];

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::check::{check, digest};

    #[test]
    fn sections_are_counted() {
        let status = "On branch topic
Your branch and 'origin/topic' have diverged,
and have 2 and 1 different commits each, respectively.
  (use \"git pull\" if you want to integrate the remote branch with yours)

You have unmerged paths.
  (fix conflicts and run \"git commit\")

Changes to be committed:
\trenamed:    backend/pricing/a.py -> backend/quotes/a.py
\trenamed:    backend/pricing/b.py -> backend/quotes/b.py
\tnew file:   src/new.rs

Unmerged paths:
  (use \"git add <file>...\" to mark resolution)
\tboth modified:   src/main.rs

Changes not staged for commit:
\tmodified:   src/lib.rs
\tdeleted:    docs/admin.md

Untracked files:
  (use \"git add <file>...\" to include in what will be committed)
\tsrc/more.rs
\theap.hprof
";
        check(status, 600).shows(&expect![[r#"
            git status: 2 staged renamed, 1 staged new, 1 unmerged both modified, 1 not staged modified, 1 not staged deleted, 2 untracked
            == branch: 5
            1: On branch topic
            2: Your branch and 'origin/topic' have diverged,
            3: and have 2 and 1 different commits each, respectively.
            6: You have unmerged paths.
            7:   (fix conflicts and run "git commit")
            == unmerged both modified: 1
            src/main.rs
            == staged new: 1
            src/new.rs
            == staged renamed: 2
            backend/pricing/a.py -> backend/quotes/a.py
            backend/pricing/b.py -> backend/quotes/b.py
            == not staged modified: 1
            src/lib.rs
            == not staged deleted: 1
            docs/admin.md
            == untracked: 2
            heap.hprof
            src/more.rs"#]]);
    }

    #[test]
    fn short_forms_say_the_same() {
        let short = "## main...origin/main [ahead 1]\n M src/lib.rs\nMM src/both.rs\nR  a.rs -> b.rs\nUU c.rs\n?? x/\n";
        check(short, 400).shows(&expect![[r#"
            git status --short: 2 not staged modified, 1 staged modified, 1 staged renamed, 1 unmerged both modified, 1 untracked
            == branch: 1
            1: ## main...origin/main [ahead 1]
            == unmerged both modified: 1
            c.rs
            == staged modified: 1
            src/both.rs
            == staged renamed: 1
            a.rs -> b.rs
            == not staged modified: 2
            src/lib.rs
            src/both.rs
            == untracked: 1
            x/"#]]);
        let two = "# branch.head main\n1 .M N... 100644 100644 100644 aaa bbb src/lib.rs\n2 R. N... 100644 100644 100644 aaa bbb R100 b.rs\ta.rs\n? x/\n";
        assert!(digest(two, 400).contains("1 not staged modified, 1 staged renamed, 1 untracked"));
    }

    #[test]
    fn other_lists_are_not_taken() {
        for text in ["A  b c\nB  c d\nC  d e\n", "?? what is this\nM what\nD do\n", " * a\n * b\n * c\n"] {
            assert!(!digest(text, 400).contains("git status"), "{text}");
        }
    }
}
