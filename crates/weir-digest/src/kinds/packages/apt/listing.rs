//! Installed and available packages: `apt list`, `dpkg -l` and `apt-cache policy`.

use super::packages::Packages;
use crate::kinds::shared::bounded_items::BoundedItems;
use crate::kinds::shared::counts::Tally;
use crate::text::count;
use crate::{Line, Page, Part, Weight};

#[derive(Default)]
pub(super) struct PackageListing {
    states: Tally<200>,
    architectures: Tally<200>,
    suites: Tally<200>,
    sorts: Tally<200>,
    newer: Packages,
    asked: Packages,
    others: Packages,
    odd: BoundedItems,
    rows: u64,
    /// The package that a policy is about, and its installed version.
    about: String,
    installed: String,
}

/// Parses a row of `apt list`: `name/suite,now 1.2 amd64 [installed,automatic]`.
pub(super) fn apt_row(text: &str) -> Option<[&str; 5]> {
    let (name, rest) = text.split_once('/')?;
    let mut words = rest.splitn(4, ' ');
    let (suite, version, architecture) = (words.next()?, words.next()?, words.next()?);
    let state = words.next().unwrap_or_default();
    let known = ["[installed", "[upgradable", "[residual-config"].iter().any(|start| state.starts_with(start));
    let fits = !name.is_empty() && !name.contains([' ', ':']) && is_architecture(architecture);
    (fits && (state.is_empty() || known && state.ends_with(']'))).then_some([name, suite, version, architecture, state])
}

/// Parses a row of `dpkg -l`: `ii  name  1.2  amd64  what it is`.
pub(super) fn dpkg_row(text: &str) -> Option<[&str; 4]> {
    let state = text.get(..3)?;
    let mut letters = state.bytes();
    let wanted = letters.next().is_some_and(|letter| b"uirph".contains(&letter));
    let is = letters.next().is_some_and(|letter| b"ncHUFWti".contains(&letter));
    let error = letters.next().is_some_and(|letter| matches!(letter, b' ' | b'R'));
    let mut words = text.get(3..)?.split_whitespace();
    let (name, version, architecture) = (words.next()?, words.next()?, words.next()?);
    (wanted && is && error && is_architecture(architecture)).then_some([state.trim_end(), name, version, architecture])
}

fn is_architecture(word: &str) -> bool {
    let known = ["amd64", "all", "arm64", "i386", "armhf", "armel", "riscv64", "ppc64el", "s390x", "mips64el"];
    known.contains(&word)
}

/// Recognises the lines above the rows of `dpkg -l`.
pub(super) fn is_legend(text: &str) -> bool {
    ["Desired=Unknown/", "| Status=Not/", "|/ Err?=", "||/ Name", "+++-==="].iter().any(|start| text.starts_with(start))
}

impl PackageListing {
    pub(super) fn take(&mut self, line: &Line<'_>) -> bool {
        let text = line.text;
        if let Some([name, suite, version, architecture, state]) = apt_row(text) {
            self.count(name, architecture);
            suite.split(',').filter(|suite| *suite != "now").for_each(|suite| self.suites.add(suite));
            self.apt(name, version, state.trim_matches(['[', ']']));
        } else if let Some([state, name, version, architecture]) = dpkg_row(text) {
            self.count(name, architecture);
            match state {
                "ii" => self.states.add("ii (installed)"),
                "rc" => self.states.add("rc (removed, its configuration left)"),
                state => {
                    self.states.add(state);
                    self.odd.line(line);
                }
            }
            self.others.add(name, version);
        } else {
            return is_legend(text) || self.policy(text);
        }
        true
    }

    fn apt(&mut self, name: &str, version: &str, state: &str) {
        if let Some((_, newer)) = state.split_once("upgradable to: ") {
            self.states.add("upgradable");
            self.newer.add(name, &format!("{version} => {newer}"));
        } else if let Some(older) = state.strip_prefix("upgradable from: ") {
            self.states.add("upgradable");
            self.newer.add(name, &format!("{older} => {version}"));
        } else {
            self.states.add(if state.is_empty() { "not installed" } else { state });
            let list = if state == "installed" { &mut self.asked } else { &mut self.others };
            list.add(name, version);
        }
    }

    /// Returns whether a line belongs to the output of `apt-cache policy` for a package.
    fn policy(&mut self, text: &str) -> bool {
        if let Some(version) = text.strip_prefix("  Installed: ") {
            version.clone_into(&mut self.installed);
        } else if let Some(version) = text.strip_prefix("  Candidate: ") {
            let (about, installed) = (std::mem::take(&mut self.about), std::mem::take(&mut self.installed));
            self.rows += 1;
            if installed == version {
                self.states.add("newest installed");
                self.others.add(&about, version);
            } else if installed == "(none)" {
                self.states.add("not installed");
                self.others.add(&about, &format!("not installed, {version}"));
            } else {
                self.states.add("newer candidate");
                self.newer.add(&about, &format!("{installed} => {version}"));
            }
        } else if self.rows == 0 && self.installed.is_empty() {
            return false;
        } else if let Some(name) = text.strip_suffix(':').filter(|name| !name.contains(' ')) {
            name.clone_into(&mut self.about);
        } else if let Some(rest) = text.strip_prefix("        ") {
            // The version table: where a version is available, and its priority.
            if let Some((_, place)) = rest.trim_start().split_once(' ') {
                self.suites.add(place.trim_end_matches(" Packages"));
            }
        } else {
            return text.starts_with("  ") || text.starts_with(" *** ");
        }
        true
    }

    /// Takes the line before the first of a policy, which names its package.
    pub(super) fn name(&mut self, text: &str) -> bool {
        let name = text.strip_suffix(':').filter(|name| !name.contains(' '));
        name.inspect(|name| (*name).clone_into(&mut self.about)).is_some()
    }

    fn count(&mut self, name: &str, architecture: &str) {
        self.rows += 1;
        self.architectures.add(architecture);
        for start in ["lib", "python3-", "fonts-", "perl", "linux-", "golang-", "node-"] {
            if name.starts_with(start) {
                self.sorts.add(&format!("{start}*"));
            }
        }
        let own = name.split(':').next().unwrap_or(name);
        if own.ends_with("-dev") {
            self.sorts.add("*-dev");
        }
    }

    pub(super) fn what(&self) -> Option<String> {
        let newer = self.newer.total;
        let newer = if newer > 0 { format!(", {newer} of them with a newer version") } else { String::new() };
        (self.rows > 0).then(|| format!("{} listed{newer}", count(self.rows, "package", "packages")))
    }

    /// Adds the facts, after the last line.
    pub(super) fn parts(self, page: &mut Page) {
        let told = [
            ("by state", self.states),
            ("by architecture", self.architectures),
            ("by where they are from", self.suites),
            ("by name", self.sorts),
        ];
        let counts = told.iter().filter_map(|(name, tally)| tally.line(name, 1, 8)).collect();
        page.push(self.odd.part("not properly installed", Weight::Failure));
        page.push(Part::uncounted("counts of packages", Weight::Fact, counts));
        for (list, name, weight) in [
            (self.newer, "with a newer version", Weight::Fact),
            (self.asked, "asked for by name, and the newest", Weight::Fact),
            (self.others, "more, programs first", Weight::Shape),
        ] {
            if list.total > 0 {
                page.push(list.part(name, weight));
            }
        }
    }
}
