//! JavaScript installers: npm at every log level, and in less detail pnpm and yarn. Errors and conflicts in full,
//! deprecations, totals; requests reduced to counts. `npm_tree` reads the tree of `npm ls`.

use std::collections::BTreeMap;

use super::npm_tree::{NpmTree, branch, root};
use crate::kinds::diagnostics::diagnostic::named;
use crate::kinds::shared::bounded_items::BoundedItems;
use crate::kinds::{Kind, Stretch};
use crate::text::{clip, number, starts};
use crate::{About, Item, Line, Page, Part, Weight};

pub(crate) const KIND: Kind = Kind::lines::<Npm>("npm", opens);

const MAX_REQUEST_SORTS: usize = 100;
const MAX_SLOWEST: usize = 5;
const MAX_LINE_BYTES: usize = 300;

pub(crate) fn opens(text: &str, _: About<'_>) -> bool {
    root(text)
        || match text.as_bytes().first() {
            Some(b'n') if level(text).is_some() => true,
            Some(b'a' | b'u' | b'r' | b'c' | b'f' | b'0'..=b'9') => is_total(text),
            Some(b'#') => text == "# npm audit report",
            Some(b'>') => script(text).is_some(),
            Some(0xe2 | b'+' | b'`') => branch(text).is_some() || text.starts_with("➤ YN"),
            Some(b' ') => starts(text, &["  ERR_PNPM_", " ERR_PNPM_", " WARN  ", " ERR  "]),
            Some(b'P') => pnpm(text),
            Some(b'y') => text.starts_with("yarn install v") || text.starts_with("yarn add v"),
            Some(b'w') => text.starts_with("warning ") && text.contains('@') && text.contains(": "),
            _ => false,
        }
}

/// Returns the log level of a line of npm, and its message.
fn level(text: &str) -> Option<(&str, &str)> {
    let rest = text.strip_prefix("npm ")?;
    let (word, said) = rest.split_once(' ').unwrap_or((rest, ""));
    let word = match word {
        "ERR!" | "error" => "error",
        "WARN" | "warn" => "warn",
        "notice" | "info" | "http" | "verb" | "verbose" | "sill" | "silly" | "timing" => word,
        _ => return None,
    };
    Some((word, said))
}

/// Returns whether a line counts what was done: `added 57 packages, and audited 58 packages in 3s`.
fn is_total(text: &str) -> bool {
    if text.starts_with("up to date") {
        return text.contains(" in ") || text.contains("audited");
    }
    if let Some((_, rest)) = number(text) {
        return rest.starts_with(" vulnerabilit")
            || rest.contains(" severity vulnerabilit")
            || rest.starts_with(" packages are looking for funding")
            || rest.starts_with(" package is looking");
    }
    let said = ["added ", "removed ", "changed ", "found ", "audited "].iter().find_map(|word| text.strip_prefix(word));
    said.and_then(number).is_some_and(|(_, rest)| rest.starts_with(" package") || rest.starts_with(" vulnerabilit"))
}

fn pnpm(text: &str) -> bool {
    text.starts_with("Packages: +") || text.starts_with("Packages: -") || text.starts_with("Progress: resolved ")
}

/// Parses the start of a package script: `> name@1.0.0 postinstall`.
fn script(text: &str) -> Option<&str> {
    let said = text.strip_prefix("> ")?;
    let (package, name) = said.split_once(' ')?;
    let version = package.rsplit_once('@')?.1;
    (version.starts_with(|first: char| first.is_ascii_digit()) && !name.trim().contains(' ')).then_some(said)
}

#[derive(Default)]
struct Npm {
    tree: NpmTree,
    totals: BoundedItems,
    errors: BoundedItems,
    warnings: BoundedItems,
    deprecated: BoundedItems,
    conflicts: BoundedItems,
    conflict: Option<Conflict>,
    notices: BoundedItems,
    scripts: BoundedItems,
    facts: BoundedItems,
    advisories: BoundedItems,
    /// Whether an advisory of the audit is being read.
    in_advisory: bool,
    requests: BTreeMap<String, u64>,
    request_count: u64,
    slowest: Vec<(u64, String)>,
    folded: u64,
    /// Whether a script was named whose command follows.
    in_script: bool,
    other_tool: bool,
}

/// Packages that conflict, which npm reports on several lines.
#[derive(Default)]
struct Conflict {
    is_error: bool,
    number: u64,
    said: String,
    /// Whether the next line names the dependency that could not be resolved.
    wants: bool,
}

impl Stretch for Npm {
    fn take(&mut self, line: &Line<'_>) -> bool {
        let text = line.text;
        if let Some((word, said)) = level(text) {
            self.in_script = false;
            self.in_advisory = false;
            self.level(word, said, line);
            return true;
        }
        self.end_conflict();
        if self.tree.take(line) {
            return true;
        }
        if is_total(text) {
            self.in_advisory = false;
            self.totals.text(text);
            return true;
        }
        if self.in_script && text.starts_with("> ") {
            self.scripts.go_on(text);
            self.in_script = false;
            return true;
        }
        if script(text).is_some() {
            self.in_script = true;
            self.scripts.line(line);
            return true;
        }
        self.audit(line) || self.other_tool(line) || text.is_empty()
    }

    fn page(mut self: Box<Self>) -> Page {
        self.end_conflict();
        let mut said = Vec::new();
        for (count, one, many) in [
            (self.errors.total, "error line", "error lines"),
            (self.conflicts.total, "peer conflict overridden", "peer conflicts overridden"),
            (self.deprecated.total, "deprecated package", "deprecated packages"),
            (self.warnings.total, "other warning line", "other warning lines"),
            (self.request_count, "request", "requests"),
            (self.folded, "line of detail folded", "lines of detail folded"),
        ] {
            if count > 0 {
                said.push(named(count, one, many));
            }
        }
        let name = if self.other_tool { "packages" } else { "npm" };
        let mut page = match said.is_empty() {
            true => Page::default(),
            false => Page::new(format!("{name}: {}", said.join(", "))),
        };
        let requests = self.requests_part();
        let this = *self;
        page.push(this.errors.part("npm errors", Weight::Failure));
        page.push(this.totals.part("npm totals", Weight::Fact));
        page.push(this.conflicts.part("peer dependencies overridden", Weight::Fact));
        page.push(this.advisories.part("advisories", Weight::Fact));
        page.push(this.warnings.part("npm warnings", Weight::Fact));
        page.push(this.deprecated.part("deprecated", Weight::Fact));
        page.push(this.scripts.part("scripts run", Weight::Fact));
        page.push(this.facts.part("versions and ends", Weight::Fact));
        page.push(requests);
        page.push(this.notices.part("notices", Weight::Shape));
        let slowest = this.slowest.into_iter().map(|(_, text)| Item::plain(text)).collect();
        page.push(Part::new("slowest requests", Weight::Sample, slowest));
        this.tree.write(&mut page);
        page
    }
}

impl Npm {
    fn level(&mut self, word: &str, said: &str, line: &Line<'_>) {
        if matches!(word, "warn" | "error") && self.conflict_line(word == "error", said, line) {
            return;
        }
        match word {
            "http" => {
                self.end_conflict();
                self.request(said);
            }
            "error" => {
                let dull = said.trim().bytes().all(|byte| byte.is_ascii_digit())
                    || said.starts_with("A complete log of this run");
                if dull { self.folded += 1 } else { self.errors.line(line) }
            }
            "warn" => match said.strip_prefix("deprecated ") {
                Some(said) => self.deprecated.text(said),
                // A single word says what the lines around it are about.
                None if said.split_whitespace().nth(1).is_none() => self.folded += 1,
                None => self.warnings.text(line.text),
            },
            "notice" if !said.trim().is_empty() => self.notices.text(said),
            "info" if said.starts_with("using ") => self.facts.text(said),
            // A script that failed.
            "info" if said.starts_with("run ") && said.contains("{ code: ") && !said.contains("{ code: 0,") => {
                self.errors.line(line);
            }
            "verbose" | "verb" if said.starts_with("exit ") || said.starts_with("code ") => self.facts.text(said),
            _ => self.folded += 1,
        }
    }

    fn conflict_line(&mut self, is_error: bool, said: &str, line: &Line<'_>) -> bool {
        if said.starts_with("ERESOLVE ") && !is_error {
            self.end_conflict();
            self.conflict = Some(Conflict { is_error, number: line.number, ..Conflict::default() });
            return true;
        }
        let Some(conflict) = self.conflict.as_mut().filter(|conflict| conflict.is_error == is_error) else {
            return false;
        };
        let inner = said.trim();
        let told = starts(inner, &["While resolving: ", "Found: ", "Conflicting peer dependency: "]);
        if told || conflict.wants {
            if !conflict.said.is_empty() {
                conflict.said.push_str("; ");
            }
            conflict.said.push_str(&clip(inner, MAX_LINE_BYTES));
        }
        conflict.wants = inner == "Could not resolve dependency:";
        let belongs = told
            || conflict.wants
            || inner.is_empty()
            || said.starts_with("  ")
            || starts(inner, &["node_modules/", "peer ", "peerOptional ", "dev "])
            || inner.contains("@\"");
        if !belongs {
            self.end_conflict();
        }
        belongs
    }

    fn end_conflict(&mut self) {
        let Some(conflict) = self.conflict.take().filter(|conflict| !conflict.said.is_empty()) else { return };
        self.conflicts.add(|| Item::at(conflict.number, conflict.said));
    }

    fn request(&mut self, said: &str) {
        self.request_count += 1;
        let failed = said.split_once(" failed with ").map(|(_, why)| format!("failed with {why}"));
        let sort = failed.unwrap_or_else(|| {
            let mut words = said.split(' ');
            let (what, method, status) =
                (words.next().unwrap_or_default(), words.next().unwrap_or_default(), words.next().unwrap_or_default());
            let cache = said.rsplit_once(" (").map_or("", |(_, cache)| cache.trim_end_matches(')'));
            match what {
                "fetch" if status.len() == 3 => format!("{method} {status} {cache}"),
                "cache" => cache.to_owned(),
                _ => format!("{what} {cache}"),
            }
        });
        let known = self.requests.len() < MAX_REQUEST_SORTS || self.requests.contains_key(&sort);
        let sort = if known { clip(&sort, 80) } else { "other".to_owned() };
        *self.requests.entry(sort).or_default() += 1;
        self.slow(said);
    }

    /// Keeps a request if it is among the slowest.
    fn slow(&mut self, said: &str) {
        let time =
            said.split(' ').rev().find_map(|word| word.strip_suffix("ms").and_then(|time| time.parse::<u64>().ok()));
        let Some(time) = time else { return };
        let full = self.slowest.len() >= MAX_SLOWEST;
        if full && self.slowest.last().is_some_and(|(least, _)| *least >= time) {
            return;
        }
        if full {
            self.slowest.pop();
        }
        let place = self.slowest.partition_point(|(other, _)| *other >= time);
        self.slowest.insert(place, (time, clip(said, MAX_LINE_BYTES)));
    }

    fn requests_part(&mut self) -> Part {
        let mut requests: Vec<(String, u64)> = std::mem::take(&mut self.requests).into_iter().collect();
        // Failures are worth more than frequent outcomes.
        requests.sort_by_key(|(sort, count)| (!sort.starts_with("failed"), std::cmp::Reverse(*count)));
        let items = requests.iter().map(|(sort, count)| Item::plain(format!("×{count} {sort}")));
        Part::new("requests by how they ended", Weight::Fact, items.collect())
    }

    /// Takes a line of `npm audit`: a package with its vulnerable versions, and details.
    fn audit(&mut self, line: &Line<'_>) -> bool {
        let text = line.text;
        if text == "# npm audit report" {
            self.in_advisory = true;
            return true;
        }
        if !self.in_advisory {
            return starts(text, &["To address ", "  npm audit fix", "Run `npm audit`", "  run `npm fund`"]);
        }
        let severity = starts(text, &["Severity: ", "fix available", "No fix available"])
            || text.contains("https://github.com/advisories/");
        if severity {
            self.advisories.go_on(text);
        } else if is_advised(text) {
            self.advisories.add(|| Item::at(line.number, clip(text, MAX_LINE_BYTES)));
        } else {
            let told = text.starts_with(' ') || text.starts_with("node_modules/") || text.starts_with("Depends on ");
            self.in_advisory = told || text.starts_with("Will install ") || text.is_empty();
            self.folded += u64::from(self.in_advisory && !text.is_empty());
            return self.in_advisory;
        }
        true
    }

    /// Takes a line of pnpm or yarn.
    fn other_tool(&mut self, line: &Line<'_>) -> bool {
        let text = line.text;
        let inner = text.trim_start();
        if inner.starts_with("ERR_PNPM_") || text.starts_with(" ERR  ") || text.starts_with("error ") && self.other_tool
        {
            self.errors.line(line);
        } else if let Some(said) = text.strip_prefix(" WARN  ").or_else(|| text.strip_prefix("warning ")) {
            match said.strip_prefix("deprecated ") {
                Some(said) => self.deprecated.text(said),
                None => self.warnings.text(said),
            }
        } else if pnpm(text) || text.starts_with("yarn ") || text.starts_with("➤ YN") {
            let failed = text.starts_with("➤ YN") && text.contains("✘") || text.starts_with("➤ YN0001");
            match (failed, text.starts_with("Progress") && !text.ends_with("done")) {
                (true, _) => self.errors.line(line),
                (_, true) => self.folded += 1,
                _ => self.facts.text(text),
            }
        } else if self.other_tool && text.contains("── ✕ ") {
            self.warnings.text(inner);
        } else if self.other_tool && is_plain_step(text) {
            self.facts.text(text);
        } else if self.other_tool && inner.bytes().all(|byte| matches!(byte, b'+' | b'-')) {
            self.folded += 1;
        } else {
            return false;
        }
        self.other_tool = true;
        true
    }
}

/// Returns whether a line names a package and its vulnerable versions: `lodash  <4.17.21`.
fn is_advised(text: &str) -> bool {
    let Some((name, versions)) = text.split_once("  ") else { return false };
    !name.is_empty()
        && !name.contains(' ')
        && versions.starts_with(['<', '>', '=', '*', '^', '~', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9'])
}

/// Returns whether pnpm or yarn reports a package or the end.
fn is_plain_step(text: &str) -> bool {
    let changed = text.strip_prefix("+ ").or_else(|| text.strip_prefix("- ")).is_some_and(|said| !said.is_empty());
    changed || starts(text, &["Done in ", "success ", "info ", "["]) || text.ends_with("ependencies:")
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::check::{check, digest};

    #[test]
    fn more_packages_than_are_kept_are_not_a_number() {
        let below: String = (0..5_001).map(|number| format!("├── p{number}@1.0.0\n")).collect();
        let told = digest(&format!("shop@1.0.0 /srv/shop\n{below}"), 600);
        assert!(told.contains("more than 5000 packages, 5001 of them direct dependencies"), "{told}");
    }

    #[test]
    fn an_install_is_told() {
        let raw = r#"npm warn deprecated inflight@1.0.6: This module is not supported
npm warn ERESOLVE overriding peer dependency
npm warn While resolving: @testing-library/react@14.0.0
npm warn Found: react@17.0.2
npm warn node_modules/react
npm warn   react@"17.0.2" from the root project
npm warn
npm warn Could not resolve dependency:
npm warn peer react@"^18.0.0" from @testing-library/react@14.0.0
npm warn node_modules/@testing-library/react
npm warn
npm warn Conflicting peer dependency: react@18.3.1
npm http fetch GET 200 https://packages.example/express 655ms (cache miss)
npm http fetch GET 200 https://packages.example/ms 55ms (cache hit)
npm http fetch GET https://packages.example/pinkie/-/pinkie-2.0.4.tgz attempt 1 failed with ECONNRESET

> shop@4.2.0 postinstall
> node build.js

added 881 packages, and audited 882 packages in 6m

3 vulnerabilities (1 low, 2 high)
"#;
        check(raw, 700).shows(&expect![[r#"
            npm: 1 peer conflict overridden, 1 deprecated package, 3 requests
            == npm totals: 2
            added 881 packages, and audited 882 packages in 6m
            3 vulnerabilities (1 low, 2 high)
            == peer dependencies overridden: 1
            2: While resolving: @testing-library/react@14.0.0; Found: react@17.0.2; peer react@"^18.0.0" from @testing-library/react@14.0.0; Conflicting peer dependency: react@18.3.1
            == deprecated: 1
            inflight@1.0.6: This module is not supported
            == scripts run: 1
            17: > shop@4.2.0 postinstall
            > node build.js
            == requests by how they ended: 3
            ×1 failed with ECONNRESET
            ×1 GET 200 cache hit
            ×1 GET 200 cache miss
            == slowest requests: 2
            fetch GET 200 https://packages.example/express 655ms (cache miss)
            fetch GET 200 https://packages.example/ms 55ms (cache hit)"#]]);
    }

    #[test]
    fn errors_are_shown_as_they_are() {
        let raw = "npm ERR! code E404\nnpm ERR! 404 Not Found - GET https://packages.example/nope\nnpm ERR! 404 \nnpm ERR! A complete log of this run can be found in: /home/dev/.npm/_logs/x.log\n";
        check(raw, 300).shows(&expect![[r#"
            npm: 2 error lines, 2 lines of detail folded
            == npm errors: 2
            1: npm ERR! code E404
            2: npm ERR! 404 Not Found - GET https://packages.example/nope"#]]);
    }

    #[test]
    fn an_audit_is_told() {
        let raw = "# npm audit report\n\nlodash  <=4.17.20\nSeverity: high\nCommand Injection in lodash - https://github.com/advisories/GHSA-35jh-r3h4-6jhm\nfix available via `npm audit fix`\nnode_modules/lodash\n\n1 high severity vulnerability\n";
        check(raw, 400).shows(&expect![[r#"
            npm: 1 line of detail folded
            == npm totals: 1
            1 high severity vulnerability
            == advisories: 1
            3: lodash  <=4.17.20
            Severity: high
            Command Injection in lodash - https://github.com/advisories/GHSA-35jh-r3h4-6jhm
            fix available via `npm audit fix`"#]]);
    }

    #[test]
    fn a_tree_of_packages_is_read() {
        let raw = r#"shop@4.2.0 /srv/shop
├─┬ express@4.17.1
│ ├── debug@2.6.9
│ └── ms@2.0.0 deduped
├─┬ mocha@8.4.0
│ └── debug@4.3.1
├── UNMET DEPENDENCY left-pad@^1.0.0
└── react@17.0.2 invalid: "^18.0.0" from node_modules/x

npm error code ELSPROBLEMS
npm error invalid: react@17.0.2 /srv/shop/node_modules/react
"#;
        check(raw, 600).shows(&expect![[r#"
            npm: 2 error lines; npm tree: 7 lines (1 deduped), 5 packages, 3 of them direct dependencies, 2 levels
            == npm errors: 2
            10: npm error code ELSPROBLEMS
            11: npm error invalid: react@17.0.2 /srv/shop/node_modules/react
            == project: 1
            shop@4.2.0 /srv/shop
            == packages that do not fit, with all reasons: 1
            8: react@17.0.2 invalid: "^18.0.0" from node_modules/x
            == 3 direct dependencies, in lines of 6: 1
            express@4.17.1, mocha@8.4.0, react@17.0.2
            == not installed: 1
            UNMET DEPENDENCY left-pad@^1.0.0
            == in several versions: 1
            debug@2.6.9, debug@4.3.1"#]]);
    }

    #[test]
    fn other_lines_are_not_claimed() {
        for raw in [
            "npm is a tool\n", "added 3 lines\n", "> quoted text\n", "├── src\n└── main.rs\n",
            "warning mail@example.org\n",
        ] {
            let text = digest(raw, 300);
            assert!(!text.contains("npm:") && !text.contains("packages:") && !text.contains("npm tree"), "{text}");
        }
    }
}
