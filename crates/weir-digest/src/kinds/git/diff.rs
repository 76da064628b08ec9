//! Diffs: `git diff`, `diff -u` and patches, and the counts that `git diff --stat` prints instead.

use super::patch::{self, Patch};
use super::stat::{Stat, is_stat};
use crate::kinds::{Kind, Stretch};
use crate::{About, Line, Page};

pub(crate) const KIND: Kind = Kind::lines::<Diff>("git diff", opens);

fn opens(text: &str, _: About<'_>) -> bool {
    match text.as_bytes().first() {
        Some(b'd' | b'-' | b'I') => patch::opens(text),
        Some(b' ') => is_stat(text),
        _ => false,
    }
}

#[derive(Default)]
struct Diff {
    patch: Patch,
    stat: Stat,
}

impl Stretch for Diff {
    fn take(&mut self, line: &Line<'_>) -> bool {
        if self.patch.take(line) {
            return true;
        }
        self.stat.take(line.text)
    }

    fn page(self: Box<Self>) -> Page {
        let mut page = Page::default();
        if self.patch.files() > 0 {
            page.what = format!("git diff: {}", self.patch.what());
        } else {
            page.what = format!("git diff --stat: {}", self.stat.what());
        }
        let patched = self.patch.files() > 0;
        page.join(self.patch.parts());
        if !patched {
            page.join(self.stat.parts());
        }
        page
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::check::{check, digest};

    const DIFF: &str = "diff --git a/VERSION b/VERSION
index bc80560..bd8bf88 100644
--- a/VERSION
+++ b/VERSION
@@ -1 +1 @@
-1.5.0
+1.7.0
diff --git a/src/old name.rs b/src/new name.rs
similarity index 90%
rename from src/old name.rs
rename to src/new name.rs
index 0ef8d6e..eeaff0a 100644
--- a/src/old name.rs
+++ b/src/new name.rs
@@ -9,4 +9,3 @@ fn archive(session: u8) {
 one
--- two
-three
+++ four
 five
diff --git a/logo.png b/logo.png
new file mode 100644
index 0000000..1111111
Binary files /dev/null and b/logo.png differ
diff --git a/run.sh b/run.sh
old mode 100644
new mode 100755
diff --git a/gone.txt b/gone.txt
deleted file mode 100644
index 0ef8d6e..0000000
--- a/gone.txt
+++ /dev/null
@@ -1 +0,0 @@
-x
\\ No newline at end of file
";

    #[test]
    fn a_diff_of_words_has_no_count_of_lines() {
        let hunk = "@@ -1,3 +1,3 @@ fn main() {\nuse std::io;\nlet [-a-]{+b+} = 1;\n    let c = 2;\n";
        let file =
            |name: &str| format!("diff --git a/{name} b/{name}\nindex 1..2 100644\n--- a/{name}\n+++ b/{name}\n{hunk}");
        let raw = file("a.rs") + &file("b.rs");
        let told = digest(&raw, 400);
        assert!(told.contains("git diff: 2 files, 2 hunks"), "{told}");
    }

    #[test]
    fn files_are_told_by_what_became_of_them() {
        check(DIFF, 600).shows(&expect![[r#"
            git diff: 5 files, +2 -4 lines, 1 new, 1 deleted, 1 renamed, 1 mode changed, 1 binary, 3 hunks
            == modified files, most changed first: 1
            VERSION +1 -1
            == new files: 1
            logo.png (new, binary)
            == deleted files: 1
            gone.txt -1 (deleted)
            == renamed files: 1
            src/old name.rs => src/new name.rs +1 -2 (renamed)
            == mode changed files: 1
            run.sh (mode changed)
            == changes: 3
            5: VERSION @@ -1 +1 @@
            -1.5.0
            +1.7.0
            15: src/new name.rs @@ -9,4 +9,3 @@ fn archive(session: u8) {
            --- two
            -three
            +++ four
            33: gone.txt @@ -1 +0,0 @@
            -x"#]]);
    }

    #[test]
    fn conflicts_come_first() {
        let merge = "diff --cc src/a.rs
index 1111111,2222222..0000000
--- a/src/a.rs
+++ b/src/a.rs
@@@ -1,3 -1,3 +1,7 @@@
  fn main() {
++<<<<<<< HEAD
 +    one();
++=======
+     two();
++>>>>>>> topic
  }
";
        check(merge, 400).shows(&expect![[r#"
            git diff: 1 file, +5 -0 lines, 1 hunk, 2 conflict markers
            == conflict markers: 2
            7: src/a.rs: ++<<<<<<< HEAD
            11: src/a.rs: ++>>>>>>> topic
            == modified files, most changed first: 1
            src/a.rs +5
            == changes: 1
            5: src/a.rs @@ -1,3 -1,3 +1,7 @@
            ++<<<<<<< HEAD
             +    one();
            ++=======
            +     two();
            ++>>>>>>> topic"#]]);
    }

    #[test]
    fn counts_instead_of_lines() {
        let stat = " src/a.rs                 | 12 +++++++-----
 {old => new}/b.rs        |  0
 assets/logo.png          | Bin 0 -> 120 bytes
 3 files changed, 7 insertions(+), 5 deletions(-)
";
        check(stat, 400).shows(&expect![[r#"
            git diff --stat: 3 files changed, +7 -5 lines
            == files with changed lines, most first: 3
            src/a.rs 12
            assets/logo.png Bin 0 -> 120 bytes
            {old => new}/b.rs 0
            == changed lines by folder: 3, 1 shown
            src 12, assets 0, {old => new} 0"#]]);
    }

    #[test]
    fn other_lines_are_not_taken() {
        for text in ["--- FAIL: TestX (0.00s)\n", "- item\n+ item\n", " 12 | let x = 3 +\n", "id | 12 +\n"] {
            assert!(!digest(text, 400).contains("git diff"), "{text}");
        }
    }

    #[test]
    fn files_of_one_folder_are_in_one() {
        let file = |n: usize| {
            format!("diff --git a/src/x{n} b/src/x{n}\n--- a/src/x{n}\n+++ b/src/x{n}\n@@ -1 +1 @@\n-a\n+b\n")
        };
        let digest = digest(&(0..30).map(file).collect::<String>(), 2_000);
        assert!(digest.contains("== where the files are\nfiles by folder: src 30\n"), "{digest}");
    }
}
