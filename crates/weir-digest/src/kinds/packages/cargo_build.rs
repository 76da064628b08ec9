//! The steps of cargo: crates compiled, checked, downloaded, updated. Commands of a verbose build are folded.

use std::collections::VecDeque;

use crate::kinds::diagnostics::diagnostic::named;
use crate::kinds::shared::bounded_items::{BoundedItems, rows};
use crate::kinds::{Kind, Stretch};
use crate::text::{clip, counted, number};
use crate::{About, Item, Line, Page, Weight};

pub(crate) const KIND: Kind = Kind::lines::<CargoBuild>("cargo_build", opens);

/// The maximum number of crates of the project that are kept, and of others. Where there are very many, their names
/// would take the room of what matters.
const MAX_OWN_CRATES: usize = 200;
const MAX_OTHER_CRATES: usize = 72;
const VERY_MANY_CRATES: u64 = 300;
const MAX_OF_VERY_MANY: usize = 24;

pub(crate) fn opens(text: &str, _: About<'_>) -> bool {
    status(text).is_some()
}

/// The words for cargo's steps, in alphabetical order.
#[rustfmt::skip]
const WORDS: &[&str] = &[
    "Adding", "Archiving", "Blocking", "Building", "Checking", "Cleaning", "Compiling", "Created", "Creating",
    "Credential", "Dirty", "Documenting", "Downgrading", "Downloaded", "Downloading", "Executable", "Finished", "Fixed",
    "Fixing", "Fresh", "Generated", "Ignored", "Installed", "Installing", "Locking", "Merged", "Migrating", "Opening",
    "Packaged", "Packaging", "Patching", "Published", "Publishing", "Removed", "Removing", "Replaced", "Replacing",
    "Running", "Scraping", "Skipping", "Summary", "Syncing", "Unchanged", "Uninstalling", "Unpacking", "Updating",
    "Upgrading", "Uploaded", "Uploading", "Vendoring", "Verifying", "Waiting", "Yank",
];

/// Returns the step in a line, right-aligned in twelve columns, and its object.
fn status(text: &str) -> Option<(&str, &str)> {
    // These three bytes reject nearly all lines of other outputs.
    let bytes = text.as_bytes();
    if bytes.first() != Some(&b' ') || bytes.get(12) != Some(&b' ') || !bytes.get(11)?.is_ascii_lowercase() {
        return None;
    }
    let (word, rest) = text.split_at_checked(12)?;
    let word = word.trim_start();
    // Test runs are a kind of their own.
    let tests = word == "Running" && !rest.starts_with(" `");
    let known = WORDS.binary_search(&word).is_ok();
    (known && !tests).then(|| (word, rest.trim_start()))
}

#[derive(Default)]
struct CargoBuild {
    compiled: CrateList,
    checked: CrateList,
    documented: CrateList,
    fresh: u64,
    downloaded: BoundedItems,
    commands: u64,
    scripts: u64,
    dirty: BoundedItems,
    changed: BoundedItems,
    finished: BoundedItems,
    others: BoundedItems,
    waited: u64,
}

#[derive(Default)]
struct CrateList {
    count: u64,
    /// The crates of the project, which are printed with their folder.
    own: Vec<String>,
    /// The last of the others.
    rest: VecDeque<String>,
}

impl CrateList {
    fn add(&mut self, said: &str) {
        self.count += 1;
        let own = said.contains(" (/") || said.contains(":\\");
        let name = clip(said.split(" (proc-macro)").next().unwrap_or(said), 120);
        if !own {
            self.rest.push_front(name);
            self.rest.truncate(MAX_OTHER_CRATES);
        } else if self.own.len() < MAX_OWN_CRATES {
            self.own.push(name);
        }
    }
}

impl Stretch for CargoBuild {
    fn take(&mut self, line: &Line<'_>) -> bool {
        if let Some((word, said)) = status(line.text) {
            self.step(word, said, line);
            return true;
        }
        // What build scripts print in a very verbose build.
        let script = line.text.starts_with('[') && line.text.contains("] cargo:");
        if script {
            self.scripts += 1;
        }
        script
    }

    fn page(self: Box<Self>) -> Page {
        let mut said = Vec::new();
        for (crates, done) in
            [(&self.compiled, "compiled"), (&self.checked, "checked"), (&self.documented, "documented")]
        {
            said.extend((crates.count > 0).then(|| format!("{} {done}", named(crates.count, "crate", "crates"))));
        }
        said.extend(counted([
            (self.fresh, "fresh"),
            (self.downloaded.total, "downloaded"),
            (self.changed.total, "changed in the lock file"),
            (self.commands, if self.commands == 1 { "command run" } else { "commands run" }),
            (self.scripts, "lines of build scripts"),
            (self.waited, "waits for a lock"),
        ]));
        if said.is_empty() {
            said.push("nothing built".to_owned());
        }
        let mut page = Page::new(format!("cargo: {}", said.join(", ")));
        page.push(self.finished.part("how it ended", Weight::Fact));
        page.push(self.others.part("other steps", Weight::Fact));
        page.push(self.dirty.part("why crates were built again", Weight::Fact));
        page.push(self.changed.part("lock file changes", Weight::Fact));
        for (crates, name) in [(self.compiled, "compiled"), (self.checked, "checked"), (self.documented, "documented")]
        {
            // The crates of the project come first, and then the last ones built, which are closest to it.
            let most = if crates.count > VERY_MANY_CRATES { MAX_OF_VERY_MANY } else { MAX_OTHER_CRATES };
            let names: Vec<String> = crates.own.into_iter().chain(crates.rest.into_iter().take(most)).collect();
            let left_out = crates.count - names.len() as u64;
            let name = format!("crates {name} ({}), the project's own first, then the latest", crates.count);
            page.push(rows(&name, Weight::Shape, &names, left_out));
        }
        page.push(self.downloaded.part("downloads", Weight::Sample));
        page
    }
}

impl CargoBuild {
    fn step(&mut self, word: &str, said: &str, line: &Line<'_>) {
        match word {
            "Compiling" => self.compiled.add(said),
            "Checking" => self.checked.add(said),
            "Documenting" => self.documented.add(said),
            "Fresh" => self.fresh += 1,
            "Running" => self.commands += 1,
            "Blocking" => self.waited += 1,
            "Dirty" => self.dirty.text(said),
            "Adding" | "Removing" | "Downgrading" | "Upgrading" => self.changed.text(line.text.trim_start()),
            // The same word is used for an index.
            "Updating" if said.contains(" -> ") => self.changed.text(line.text.trim_start()),
            "Finished" => self.finished.line(line),
            "Downloaded" => self.downloaded(said, line),
            "Downloading" | "Unchanged" | "Scraping" => {}
            _ => self.others.text(line.text.trim_start()),
        }
    }

    /// Takes a downloaded crate, or their total with the time.
    fn downloaded(&mut self, said: &str, line: &Line<'_>) {
        match number(said).is_some_and(|(_, rest)| rest.starts_with(" crate")) {
            true => self.others.text(line.text.trim_start()),
            false => self.downloaded.add(|| Item::plain(clip(said, 120))),
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::check::{check, digest};

    #[test]
    fn steps_are_counted_and_versions_kept() {
        let raw = r"    Updating packages.example index
     Locking 3 packages to latest compatible versions
    Updating serde v1.0.1 -> v1.0.2
      Adding libc v0.2.191 (available: v0.3.0)
  Downloaded libc v0.2.191
  Downloaded 1 crate (1.2 MB) in 0.35s
   Compiling libc v0.2.191
     Running `rustc --crate-name libc --edition=2021`
       Fresh quote v1.0.47
       Dirty gateway v0.1.0 (/srv/gateway): the file `src/main.rs` has changed (1700000000.0s, 2h after last build)
   Compiling gateway v0.1.0 (/srv/gateway)
    Finished `dev` profile [unoptimized + debuginfo] target(s) in 41.34s
";
        check(raw, 500).shows(&expect![[r#"
            cargo: 2 crates compiled, 1 fresh, 1 downloaded, 2 changed in the lock file, 1 command run
            == how it ended: 1
            12:     Finished `dev` profile [unoptimized + debuginfo] target(s) in 41.34s
            == other steps: 3
            Updating packages.example index
            Locking 3 packages to latest compatible versions
            Downloaded 1 crate (1.2 MB) in 0.35s
            == why crates were built again: 1
            gateway v0.1.0 (/srv/gateway): the file `src/main.rs` has changed (1700000000.0s, 2h after last build)
            == lock file changes: 2
            Updating serde v1.0.1 -> v1.0.2
            Adding libc v0.2.191 (available: v0.3.0)
            == crates compiled (2), the project's own first, then the latest, in lines of 6: 1
            gateway v0.1.0 (/srv/gateway), libc v0.2.191
            == downloads: 1
            libc v0.2.191"#]]);
    }

    #[test]
    fn tests_and_prose_are_not_steps() {
        for raw in [
            "     Running unittests src/lib.rs (target/debug/deps/a-1)\n",
            "   Compiling\n",
            "Compiling x v1\n",
            "    Finishing it now\n",
        ] {
            assert!(!digest(raw, 300).contains("cargo:"), "{raw}");
        }
    }
}
