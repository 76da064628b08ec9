//! apt and dpkg: packages requested, upgraded and removed with their versions, errors in full, steps folded.

mod lines;
mod listing;
mod packages;

use std::collections::HashMap;

use self::lines::{List, STEPS, done, fetched, from, is_error, list_of, simulated, taken_away, totals};
use self::listing::{PackageListing, apt_row, dpkg_row};
use self::packages::{Packages, bare};
use crate::kinds::diagnostics::diagnostic::named;
use crate::kinds::shared::bounded_items::{BoundedItems, KeptItems};
use crate::kinds::shared::counts::Tally;
use crate::kinds::{Kind, Stretch};
use crate::text::{clip, counted, starts};
use crate::{About, Item, Line, Page, Part, Weight};

pub(crate) const KIND: Kind = Kind::lines::<Apt>("apt", opens);

const MAX_VERSIONS: usize = 3_000;

pub(crate) fn opens(text: &str, _: About<'_>) -> bool {
    let first = text.as_bytes().first();
    match first {
        Some(b'T') => list_of(text).is_some(),
        Some(b'R' | b'B') => {
            STEPS.iter().any(|step| text.starts_with(step) && text.contains("...")) || taken_away(text).is_some()
        }
        Some(b'I' | b'C') => simulated(text).is_some(),
        Some(b'G' | b'H' | b'E' | b'W' | b'N') => fetched(text).is_some() || is_error(text),
        Some(b'S' | b'P' | b'U' | b'(' | b'L') => {
            done(text).is_some() || text == "Listing..." || text == "Listing... Done" || taken_away(text).is_some()
        }
        Some(b'F') => text.starts_with("Fetched ") && text.contains(" in ") && text.ends_with(')'),
        Some(b'D') => text.starts_with("Desired=Unknown/Install/"),
        Some(b' ') => text.starts_with("  Installed: ") || text.starts_with("  Candidate: "),
        Some(b'0'..=b'9' | b'a'..=b'z') => {
            first.is_some_and(u8::is_ascii_digit) && totals(text).is_some()
                || text.starts_with("dpkg: ")
                || text.ends_with(']') && apt_row(text).is_some()
                || dpkg_row(text).is_some()
        }
        _ => false,
    }
}

#[derive(Default)]
struct Apt {
    list: Option<List>,
    additional: Packages,
    new: Packages,
    suggested: Packages,
    upgraded: Packages,
    removed: Packages,
    kept_back: Packages,
    unneeded: Packages,
    versions: HashMap<String, String>,
    totals: KeptItems<40>,
    origins: Tally<100>,
    facts: BoundedItems,
    said: BoundedItems,
    errors: BoundedItems,
    warnings: BoundedItems,
    set_up: Packages,
    removals: Packages,
    steps: u64,
    gets: u64,
    hits: u64,
    listed: PackageListing,
}

impl Stretch for Apt {
    fn leads(&mut self, before: &[Line<'_>]) -> usize {
        before.last().map_or(0, |line| usize::from(self.listed.name(line.text)))
    }

    fn take(&mut self, line: &Line<'_>) -> bool {
        let text = line.text;
        if let Some(list) = list_of(text) {
            self.list = Some(list);
            if list == List::Failed {
                self.errors.line(line);
            }
            return true;
        }
        if let Some(list) = self.list
            && text.starts_with(' ')
        {
            self.listed(list, line);
            return true;
        }
        self.list = None;
        self.take_message(line) || self.take_step(line) || self.listed.take(line)
    }

    fn page(self: Box<Self>) -> Page {
        let mut page = Page::new(self.what());
        let known = &self.versions;
        let (brought, asked) = self.new.split(&self.additional);
        page.push(self.errors.part("apt errors", Weight::Failure));
        if self.totals.total > 1 {
            page.push(self.totals.part("totals of each run", Weight::Fact));
        }
        page.push(self.facts.part("apt totals", Weight::Fact));
        let asked_name = if brought.total > 0 { "new, asked for" } else { "new" };
        let no_new = asked.total == 0 && brought.total == 0;
        let no_list = self.removed.total == 0;
        for (list, name, shown) in [
            (asked, asked_name, true),
            (self.upgraded, "upgraded, programs first", true),
            (self.removed, "removed, programs first", true),
            (self.kept_back, "kept back", true),
            (self.set_up, "set up, programs first", no_new),
            (self.removals, "removed or purged", no_list),
        ] {
            if shown && list.total > 0 {
                page.push(list.with_versions(known).part(name, Weight::Fact));
            }
        }
        if self.origins.all > 0 {
            let line = Item::plain(self.origins.in_line(6));
            page.push(Part::uncounted("packages by where they come from", Weight::Fact, vec![line]));
        }
        page.push(self.said.part("said of single packages", Weight::Fact));
        page.push(self.warnings.part("apt warnings", Weight::Fact));
        for (list, name, weight) in [
            (brought, "new, needed by those", Weight::Shape),
            (self.unneeded, "no longer required", Weight::Sample),
            (self.suggested, "suggested", Weight::Sample),
        ] {
            if list.total > 0 {
                page.push(list.with_versions(known).part(name, weight));
            }
        }
        self.listed.parts(&mut page);
        page
    }
}

impl Apt {
    fn what(&self) -> String {
        let mut said = Vec::new();
        match (self.totals.items.first(), self.totals.total) {
            (Some(totals), 1) => said.push(totals.text.clone()),
            (Some(_), runs) => said.push(format!("{runs} runs")),
            (None, _) => {}
        }
        said.extend(counted([
            (self.gets, "fetched"),
            (self.hits, "unchanged indexes"),
            (self.set_up.total, "set up"),
            (self.suggested.total, "suggested"),
            (self.unneeded.total, "no longer required"),
        ]));
        said.extend(self.listed.what());
        said.extend((self.steps > 0).then(|| format!("{} folded", named(self.steps, "step", "steps"))));
        if said.is_empty() {
            said.push("nothing done".to_owned());
        }
        format!("apt: {}", said.join("; "))
    }

    /// Takes a line below a heading: one package with its version, or several names.
    fn listed(&mut self, list: List, line: &Line<'_>) {
        let inner = line.text.trim();
        match list {
            List::Unmet | List::Failed => self.errors.line(line),
            List::Suggested => self.suggested.add_listed(inner),
            List::Unneeded => self.unneeded.add_listed(inner),
            List::Upgraded => self.upgraded.add_listed(inner),
            List::Removed => self.removed.add_listed(inner),
            List::Kept => self.kept_back.add_listed(inner),
            List::Additional => self.additional.add_listed(inner),
            List::New => self.new.add_listed(inner),
        }
    }

    /// Takes a line about everything, or an error.
    fn take_message(&mut self, line: &Line<'_>) -> bool {
        let text = line.text;
        if let Some([upgraded, new, removed, kept]) = totals(text) {
            let said = format!("{upgraded} upgraded, {new} newly installed, {removed} to remove, {kept} not upgraded");
            self.totals.add(|| Item::plain(said));
        } else if text.starts_with("E: ") || text.starts_with("dpkg: error") || text.starts_with("Err:") {
            self.errors.line(line);
            // The reason follows on indented lines.
            self.list = Some(List::Failed);
        } else if text.starts_with("dpkg: ") || text.starts_with("W: ") || text.starts_with("N: ") {
            self.warnings.text(text);
        } else if starts(text, &["Need to get ", "After this operation, ", "Fetched ", "Use 'apt ", "Use 'sudo apt "])
            || text.contains(" can be upgraded. ")
            || text.starts_with("All packages are up to date")
        {
            self.facts.text(text);
        } else if text.contains(" is already the newest version")
            || text.ends_with(" set to manually installed.")
            || (text.starts_with("Package '") && text.contains("is not installed"))
            || text.starts_with("Note, selecting ")
            || text.starts_with("Some packages could not be installed.")
        {
            self.said.text(text);
        } else {
            return false;
        }
        true
    }

    fn take_step(&mut self, line: &Line<'_>) -> bool {
        let text = line.text;
        if starts(text, STEPS) || starts(text, &["Listing...", "Calculating upgrade..."]) {
            return true;
        }
        if let Some((name, old, version)) = simulated(text) {
            self.version(name, old, version);
            if let Some(origin) = from(text) {
                self.origins.add(origin.trim_end_matches(','));
            }
        } else if let Some((name, version)) = taken_away(text) {
            self.version(name, "", version);
            self.removals.add(name, version);
        } else if let Some(word) = fetched(text) {
            let mut words = text.split(' ').skip(4);
            if let (Some(name), _, Some(version)) = (words.next(), words.next(), words.next()) {
                self.version(name, "", version);
            }
            self.gets += u64::from(word == "Get");
            self.hits += u64::from(word == "Hit");
            return true;
        } else if let Some((word, name, version)) = done(text) {
            match word {
                "Setting up" => {
                    self.version(name, "", version);
                    self.set_up.add(name, version);
                }
                "Unpacking" => {
                    let (version, old) = version.split_once(") over (").unwrap_or((version, ""));
                    self.version(name, old, version);
                }
                "Removing" | "Purging configuration files for" => self.removals.add(name, version),
                _ => {}
            }
        } else {
            return text.trim().is_empty();
        }
        self.steps += 1;
        true
    }

    fn version(&mut self, name: &str, old: &str, version: &str) {
        // Some names include the architecture; the lists do not.
        let name = bare(name);
        let known = self.versions.contains_key(name);
        // The old version is stated after the new one.
        if (known && !old.is_empty()) || (!known && self.versions.len() < MAX_VERSIONS) {
            let change = if old.is_empty() { version.to_owned() } else { format!("{old} => {version}") };
            self.versions.insert(clip(name, 100), clip(&change, 150));
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::check::{check, digest};

    #[test]
    fn an_installation_is_told() {
        let raw = r"Reading package lists... Done
Building dependency tree... Done
jq is already the newest version (1.6-2.1).
The following additional packages will be installed:
  libonig5 nginx-common
Suggested packages:
  nginx-doc
The following NEW packages will be installed:
  libonig5 nginx nginx-common
The following packages will be upgraded:
  curl
1 upgraded, 3 newly installed, 0 to remove and 12 not upgraded.
Need to get 425 kB of archives.
Get:1 http://packages.example/debian bookworm/main amd64 libonig5 amd64 6.9.8-1 [188 kB]
Fetched 425 kB in 0s (3,456 kB/s)
Selecting previously unselected package libonig5:amd64.
Preparing to unpack .../curl_7.88.1_amd64.deb ...
Unpacking curl (7.88.1-10+deb12u8) over (7.88.1-10+deb12u5) ...
Setting up nginx (1.22.1-9) ...
dpkg: error processing package mysql-server (--configure):
 installed mysql-server package post-installation script subprocess returned error exit status 1
E: Sub-process /usr/bin/dpkg returned an error code (1)
";
        check(raw, 700).shows(&expect![[r#"
            apt: 1 upgraded, 3 newly installed, 0 to remove, 12 not upgraded; 1 fetched; 1 set up; 1 suggested; 4 steps folded
            == apt errors: 3
            20: dpkg: error processing package mysql-server (--configure):
            21:  installed mysql-server package post-installation script subprocess returned error exit status 1
            22: E: Sub-process /usr/bin/dpkg returned an error code (1)
            == apt totals: 2
            Need to get 425 kB of archives.
            Fetched 425 kB in 0s (3,456 kB/s)
            == 1 new, asked for
            nginx (1.22.1-9)
            == 1 upgraded, programs first
            curl (7.88.1-10+deb12u5 => 7.88.1-10+deb12u8)
            == said of single packages: 1
            jq is already the newest version (1.6-2.1).
            == 2 new, needed by those
            nginx-common
            libonig5 (6.9.8-1)
            == 1 suggested
            nginx-doc"#]]);
    }

    #[test]
    fn what_is_installed_is_counted() {
        let rows = "ii  bash  5.2  amd64  a shell\nii  libc6:amd64  2.36  amd64  C\nrc  old  1.0  all  gone\n";
        let told = digest(&format!("Desired=Unknown/Install/Remove/Purge/Hold\n{rows}iU  half  2.0  all  half\n"), 400);
        for fact in ["4 packages listed", "ii (installed) 2", "iU  half", "bash (5.2)", "lib* 1"] {
            assert!(told.contains(fact), "{fact}: {told}");
        }
        let list =
            "Listing...\nbash/stable,now 5.1 amd64 [installed,upgradable to: 5.2]\nat/stable 1.0 all [installed]\n";
        assert!(digest(list, 400).contains("bash (5.1 => 5.2)"));
        let policy = "bash:\n  Installed: 5.1\n  Candidate: 5.2\n  Version table:\n     5.2 500\n        500 http://a.example b/main amd64 Packages\njq:\n  Installed: 1.6\n  Candidate: 1.6\n";
        let told = digest(policy, 400);
        for fact in ["2 packages listed, 1 of them with a newer version", "bash (5.1 => 5.2)", "jq (1.6)"] {
            assert!(told.contains(fact), "{fact}: {told}");
        }
        let told = digest("zsh:\n  Installed: (none)\n  Candidate: 5.9\n  Version table:\n", 400);
        for fact in ["apt: 1 package listed; ", "by state: not installed 1", "zsh (not installed, 5.9)"] {
            assert!(told.contains(fact), "{fact}: {told}");
        }
    }

    #[test]
    fn each_of_several_runs_has_its_totals() {
        let run = |new: u32| {
            let totals = format!("0 upgraded, {new} newly installed, 0 to remove and 5 not upgraded.");
            format!("Reading package lists...\n{totals}\nSetting up a{new} (1.0) ...\n")
        };
        let told = digest(&(run(3) + &run(1)), 400);
        assert!(told.contains("apt: 2 runs; 2 set up; "), "{told}");
        let each = "0 upgraded, 3 newly installed, 0 to remove, 5 not upgraded\n0 upgraded, 1 newly installed";
        assert!(told.contains(&format!("== totals of each run: 2\n{each}")), "{told}");
    }

    #[test]
    fn what_goes_is_told_by_version() {
        let raw = "Reading package lists...\nThe following packages will be REMOVED:\n  libx11-6* tk*\n0 upgraded, 0 newly installed, 2 to remove and 3 not upgraded.\nPurg tk [8.6]\nPurg libx11-6 [1.8] [libx:amd64 ]\n";
        let told = digest(raw, 300);
        assert!(told.contains("2 removed, programs first\ntk* (8.6)\nlibx11-6* (1.8)"), "{told}");
    }

    #[test]
    fn other_lines_are_not_claimed() {
        for raw in [
            "Setting up the table\n", "Get: nothing\n", "E: what\n", "Inst it\n", "The following is true:\n",
            "3 upgraded\n",
        ] {
            assert!(!digest(raw, 300).contains("apt:"), "{raw}");
        }
    }
}
