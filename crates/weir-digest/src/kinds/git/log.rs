//! Commits as printed by `git log` and `git show`, with or without a graph, counts or diffs, as mailed patches, and as
//! listed by the MCP server for Git: `Commit: …`, `Author: …`, `Date: …`, `Message: …`.

use super::commits::{Commit, Commits};
use super::patch::{self, Patch};
use super::stat;
use crate::kinds::shared::counts::Tally;
use crate::kinds::shared::dates;
use crate::kinds::{Kind, Stretch};
use crate::text::clip;
use crate::{About, Item, Line, Page, Part, Weight};

pub(crate) const KIND: Kind = Kind::lines::<Log>("git log", opens);

const MAX_LINE_BYTES: usize = 300;

fn opens(text: &str, _: About<'_>) -> bool {
    commit_line(text).is_some() || mail_line(text).is_some()
}

/// The position of the next line within a commit.
#[derive(Clone, Copy, PartialEq, Default)]
enum CommitSection {
    #[default]
    Head,
    Message,
    /// In a message that is not indented.
    Mail,
    After,
}

#[derive(Default)]
struct Log {
    commits: Commits,
    now: Option<Commit>,
    place: CommitSection,
    graph: bool,
    mail: bool,
    files: Tally,
    patch: Patch,
    /// The lines that diffs added and removed before this commit.
    before: (u64, u64),
    /// Whether the counts of this commit are in its `--stat`.
    counted: bool,
    with_files: bool,
    /// Whether the previous line was blank or named a file.
    after_blank: bool,
    sums: (u64, u64),
}

impl Stretch for Log {
    fn take(&mut self, line: &Line<'_>) -> bool {
        if let Some((hash, refs)) = commit_line(line.text) {
            self.graph |= line.text.starts_with(['*', '|']);
            return self.begin(line, hash, refs, CommitSection::Head);
        }
        if let Some(hash) = mail_line(line.text) {
            self.mail = true;
            return self.begin(line, hash, "", CommitSection::Head);
        }
        if self.now.is_none() {
            return false;
        }
        let text = if self.graph { without_graph(line.text) } else { line.text };
        let named = self.files.all;
        let taken = self.rest(&Line { text, ..*line });
        self.after_blank = text.trim().is_empty() || self.files.all > named;
        taken
    }

    fn page(mut self: Box<Self>) -> Page {
        self.finish();
        let Self { commits, files, patch, sums, with_files, .. } = *self;
        let one = commits.count == 1;
        let mut page = Page::new(commits.what(if one { "git show" } else { "git log" }));
        if patch.files() > 0 && one {
            page.what.push_str(&format!("; {}", patch.what()));
        } else if with_files {
            page.what.push_str(&format!("; {} different files touched", files.different()));
            if sums != (0, 0) {
                page.what.push_str(&format!(", +{} -{} lines", sums.0, sums.1));
            }
        }
        page.parts.extend(commits.parts());
        if files.names() > 0 && !one {
            page.push(files.part("files by how many commits touch them", Weight::Shape, 60));
        } else if files.names() > 0 && patch.files() == 0 {
            let names = files.by_name().iter().map(|(name, _)| Item::plain(*name)).collect();
            page.push(Part::new("files", Weight::Fact, names));
        }
        if patch.files() > 0 && one {
            page.join(patch.parts());
        } else if patch.files() > 0 {
            page.parts.extend(patch.became());
            page.parts.extend(patch.changes());
        }
        page
    }
}

impl Log {
    fn begin(&mut self, line: &Line<'_>, hash: &str, refs: &str, place: CommitSection) -> bool {
        self.finish();
        self.now = Some(Commit {
            line: line.number,
            hash: clip(hash, 40),
            refs: clip(refs, MAX_LINE_BYTES),
            ..Commit::default()
        });
        self.place = place;
        self.counted = false;
        self.before = self.patch.lines();
        true
    }

    fn finish(&mut self) {
        let Some(mut commit) = self.now.take() else { return };
        if !self.counted {
            let (added, removed) = self.patch.lines();
            commit.added = added.saturating_sub(self.before.0);
            commit.removed = removed.saturating_sub(self.before.1);
        }
        self.sums.0 = self.sums.0.saturating_add(commit.added);
        self.sums.1 = self.sums.1.saturating_add(commit.removed);
        self.commits.add(commit);
    }

    fn rest(&mut self, line: &Line<'_>) -> bool {
        match self.place {
            CommitSection::Head if self.graph => self.head(line.text.trim_start()),
            CommitSection::Head => self.head(line.text),
            CommitSection::Message => self.message(line),
            CommitSection::Mail => self.mailed(line.text),
            CommitSection::After => self.after(line),
        }
    }

    fn head(&mut self, text: &str) -> bool {
        let Some(commit) = &mut self.now else { return false };
        if text.trim().is_empty() {
            self.place = if self.mail { CommitSection::Mail } else { CommitSection::Message };
            return true;
        }
        let Some((name, value)) = text.split_once(':') else {
            // A mailed subject may continue on the next line.
            let goes_on = self.mail && text.starts_with(' ');
            if goes_on && !commit.subject.is_empty() {
                commit.subject.push_str(&clip(text, MAX_LINE_BYTES));
            }
            return goes_on;
        };
        let value = value.trim();
        match name {
            "Author" | "From" => commit.author = clip(without_mail(value), 100),
            "Date" | "AuthorDate" => {
                commit.when = dates::parse(value);
                commit.date = clip(value, 60);
            }
            "Merge" => commit.merge = true,
            "Subject" => commit.subject = clip(value, MAX_LINE_BYTES),
            "Message" => {
                commit.subject = clip(value, MAX_LINE_BYTES);
                self.place = CommitSection::Mail;
            }
            "Commit" | "CommitDate" | "Reflog" | "Reflog message" | "gpg" | "Primary key fingerprint" | "To" | "Cc" => {
            }
            _ => return self.mail && !name.contains(' '),
        }
        true
    }

    fn message(&mut self, line: &Line<'_>) -> bool {
        let text = line.text;
        let Some(commit) = &mut self.now else { return false };
        if text.is_empty() {
            return true;
        }
        let set_in = text.starts_with("    ") || text.starts_with('\t');
        let in_graph = self.graph && commit.subject.is_empty();
        let body = self.graph && !commit.subject.is_empty() && !is_after(text);
        if !set_in && !in_graph && !body {
            self.place = CommitSection::After;
            return self.after(line);
        }
        commit.say(text.trim());
        true
    }

    fn mailed(&mut self, text: &str) -> bool {
        let Some(commit) = &mut self.now else { return false };
        if text == "---" || patch::opens(text) {
            self.place = CommitSection::After;
        } else if !text.is_empty() {
            commit.say(text.trim_end());
        }
        true
    }

    /// Takes a line after the message: counts, names or diffs.
    fn after(&mut self, line: &Line<'_>) -> bool {
        let text = line.text;
        let files = self.patch.files();
        if self.patch.take(line) {
            if self.patch.files() > files && !self.counted {
                self.touch(self.patch.path().to_owned().as_str());
            }
            self.with_files = true;
            return true;
        }
        if text.is_empty() || text == "---" || self.mail && (text == "-- " || text.starts_with("2.")) {
            return true;
        }
        if let Some(totals) = stat::totals(text) {
            if let Some(commit) = &mut self.now {
                (commit.added, commit.removed) = (totals.added, totals.removed);
            }
            self.counted = true;
            return true;
        }
        if let Some(path) = stat::touched(text).filter(|_| self.may_name(text)) {
            self.counted |= text.starts_with(' ');
            self.with_files = true;
            self.touch(path);
            return true;
        }
        self.mail
            && (text.starts_with(" create mode") || text.starts_with(" delete mode") || text.starts_with(" rename "))
    }

    /// Returns whether a line may name a file: a bare name does so only after a blank line, or after another such line.
    fn may_name(&self, text: &str) -> bool {
        self.after_blank || text.contains('\t') || text.starts_with([' ', ':'])
    }

    fn touch(&mut self, path: &str) {
        self.files.add(path);
        if let Some(commit) = &mut self.now {
            commit.files += 1;
        }
    }
}

/// Returns the hash and the refs of a line that begins a commit.
fn commit_line(text: &str) -> Option<(&str, &str)> {
    let text = match text.as_bytes().first()? {
        b'c' | b'C' => text,
        b'*' | b'|' | b'/' | b'\\' | b' ' => text.trim_start_matches(['*', '|', '/', '\\', ' ']),
        _ => return None,
    };
    let rest = text.strip_prefix("commit ").or_else(|| text.strip_prefix("Commit: "))?;
    let (hash, rest) = rest.split_at_checked(40)?;
    let is_hash = hash.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
    (is_hash && (rest.is_empty() || rest.starts_with(' '))).then(|| (hash, rest.trim()))
}

fn mail_line(text: &str) -> Option<&str> {
    let (hash, date) = text.strip_prefix("From ")?.split_at_checked(40)?;
    (date == " Mon Sep 17 00:00:00 2001" && hash.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some(hash)
}

fn without_graph(text: &str) -> &str {
    let lines = text.trim_start_matches(['|', '/', '\\', '_', ' ']);
    let cut = text.len() - lines.len();
    // The last space before a row of `--stat`, and four spaces before a message, belong to the text.
    let own = text.get(..cut).map_or(0, |graph| graph.bytes().rev().take_while(|&byte| byte == b' ').count());
    let own = if own >= 5 { 4 } else { own.saturating_sub(1) };
    text.get(cut - own..).unwrap_or(lines)
}

fn is_after(text: &str) -> bool {
    stat::is_stat(text) || patch::opens(text.trim_start()) || stat::touched(text).is_some()
}

fn without_mail(author: &str) -> &str {
    author.split_once(" <").map_or(author, |(name, _)| name)
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::check::{check, digest};

    const LOG: &str = "commit 6ca39f9d60a194a1c74a40893fcb0ea7b4a2abc7 (HEAD -> main, tag: v1.8.1)
Merge: 89fd320e7 ad2be8969
Author: Ada <ada@example.org>
Date:   Thu May 22 17:55:00 2025 +0000

    Merge branch 'stock'

commit 89fd320e7786f8fc00a1b2aef01e4e4596dfedfa
Author: Ben <ben@example.org>
Date:   Thu May 22 03:59:00 2025 +0000

    reviews: change the limit from 10 to 150
    
    Measured on the staging data set.

 backend/reviews/session.py |  2 +-
 assets/logo.png            | Bin 0 -> 120 bytes
 2 files changed, 1 insertion(+), 1 deletion(-)

commit ad2be8969331a4f5c98f620dc17dcc5c7e512449
Author: Ada <ada@example.org>
Date:   Wed Apr 30 17:33:00 2025 +0000

    Revert \"reviews: drop the limit\"

 backend/reviews/session.py | 12 ++++++++++++
 1 file changed, 12 insertions(+)

commit 2f4a0bea995ee0bbb5127baad97e9351f3f4302d
Author: Ada <ada@example.org>
Date:   Mon Jan 6 07:37:00 2025 +0000

    Import
";

    #[test]
    fn more_authors_than_are_kept_are_not_a_number() {
        let commit = |number: u32| {
            format!(
                "commit {number:040x}\nAuthor: author {number} <a@b.example>\nDate:   Mon Sep 1 12:00:00 2025 +0000\n\n    x\n\n"
            )
        };
        let raw: String = (0..1_010).map(commit).collect();
        let told = digest(&raw, 800);
        assert!(told.contains("git log: 1010 commits, 2025-09-01, more than 1000 authors; "), "{told}");
    }

    #[test]
    fn commits_are_counted_and_told() {
        check(LOG, 600).shows(&expect![[r#"
            git log: 4 commits, 2025-01-06 to 2025-05-22, 2 authors, 1 merge; 2 different files touched, +13 -1 lines
            == first and last commit of the output: 2
            1: 6ca39f9d (HEAD -> main, tag: v1.8.1) Thu May 22 17:55:00 2025 +0000 Ada: Merge branch 'stock'
            29: 2f4a0bea Mon Jan 6 07:37:00 2025 +0000 Ada: Import
            == counts: 2
            commits by author: Ada 3, Ben 1
            by month: 2025-05 2, 2025-04 1, 2025-01 1
            == commits that touch most files: 2
            8: 89fd320e reviews: change the limit from 10 to 150 [2 files changed, 1 insertion(+), 1 deletion(-)]
            20: ad2be896 Revert "reviews: drop the limit" [1 file changed, 12 insertions(+)]
            == reverts, fixups and breaking changes: 1
            20: ad2be896 Revert "reviews: drop the limit" (Ada) [1 file changed, 12 insertions(+)]
            == other commits: 1
            89fd320e reviews: change the limit from 10 to 150
            == files by how many commits touch them: 2
            backend/reviews/session.py: 2
            assets/logo.png: 1"#]]);
    }

    #[test]
    fn a_graph_is_no_part_of_the_text() {
        let graph = "* commit 6ca39f9d60a194a1c74a40893fcb0ea7b4a2abc7
| Author: Ada <ada@example.org>
| Date:   Thu May 22 17:55:00 2025 +0000
| 
|     Second
|  
|  src/a.rs | 3 ++-
|  1 file changed, 2 insertions(+), 1 deletion(-)
| 
* commit 2f4a0bea995ee0bbb5127baad97e9351f3f4302d
  Author: Ben <ben@example.org>
  Date:   Mon Jan 6 07:37:00 2025 +0000
  
      Import
";
        check(graph, 400).shows(&expect![[r#"
            git log: 2 commits, 2025-01-06 to 2025-05-22, 2 authors; 1 different files touched, +2 -1 lines
            == commits: 2
            1: 6ca39f9d Thu May 22 17:55:00 2025 +0000 Ada: Second [1 file changed, 2 insertions(+), 1 deletion(-)]
            10: 2f4a0bea Mon Jan 6 07:37:00 2025 +0000 Ben: Import
            == files by how many commits touch them: 1
            src/a.rs: 1"#]]);
    }

    #[test]
    fn one_commit_is_shown_with_its_message_and_its_diff() {
        let show = "commit 2f4a0bea995ee0bbb5127baad97e9351f3f4302d
Author: Ada <ada@example.org>
Date:   Mon Jan 6 07:37:00 2025 +0000

    Round the timeouts
    
    No behaviour depends on them.

diff --git a/src/a.py b/src/a.py
index 0ef8d6e..8b95fa7 100644
--- a/src/a.py
+++ b/src/a.py
@@ -9,3 +9,3 @@ def archive(db):
     x = 1
-    db.lock(timeout=5)
+    db.lock(timeout=8)
     y = 2
";
        check(show, 400).shows(&expect![[r#"
            git show: 1 commit, 2025-01-06, 1 author; 1 file, +1 -1 lines, 1 hunk
            == commits: 1
            1: 2f4a0bea Mon Jan 6 07:37:00 2025 +0000 Ada: Round the timeouts [1 file changed, 1 insertion(+), 1 deletion(-)]
            No behaviour depends on them.
            == modified files, most changed first: 1
            src/a.py +1 -1
            == changes: 1
            13: src/a.py @@ -9,3 +9,3 @@ def archive(db):
            -    db.lock(timeout=5)
            +    db.lock(timeout=8)"#]]);
    }

    #[test]
    fn what_follows_a_log_is_not_taken() {
        let text = digest(&format!("{LOG}done\nerror: it failed\n"), 600);
        assert!(text.contains("error: it failed") && !text.contains("done: 1"), "{text}");
        assert!(!digest("commit to the plan\nand go on\n", 400).contains("git log"));
    }

    #[test]
    fn commits_as_a_server_lists_them() {
        let mut log = String::from("Commit history:\n");
        for number in 1..=60 {
            log.push_str(&format!(
                "Commit: {number:040x}\nAuthor: dev-{}\nDate: 2026-08-{:02} 09:12:10-07:00\nMessage: Fix no. {number}\n\n\
                 Closes #{number}\n\n\n",
                number % 3,
                1 + number % 28
            ));
        }
        let digest = digest(&log, 800);
        assert!(digest.contains("git log: 60 commits") && digest.contains("Fix no. 60"), "{digest}");
    }
}
