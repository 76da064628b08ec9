//! What Python's installers do: pip, and in fewer words uv and poetry. Installed versions, those asked for first;
//! conflicts, failed builds and warnings whole; progress folded.

use std::collections::{BTreeSet, VecDeque};

use crate::kinds::diagnostics::found::named;
use crate::kinds::shared::kept::{Kept, rows};
use crate::kinds::{How, Kind, Stretch};
use crate::text::{clip, number};
use crate::trouble;
use crate::{About, Item, Line, Page, Weight};

pub(crate) const KIND: Kind = Kind { name: "pip", how: How::Lines { opens, begin: || Box::new(Pip::default()) } };

/// How many names are kept.
const NAMES: usize = 2_000;
/// How many lines at the end of a failed build are kept.
const LAST: usize = 8;
/// How much of a line is kept.
const LONGEST: usize = 400;

/// Whether such lines begin here.
pub(crate) fn opens(text: &str, about: About<'_>) -> bool {
    match text.as_bytes().first() {
        Some(b'C') => text.strip_prefix("Collecting ").is_some_and(is_requirement),
        Some(b'R') => text.starts_with("Requirement already satisfied: ") || is_uv(text),
        Some(b'S') => text.starts_with("Successfully installed ") || text.starts_with("Successfully uninstalled "),
        Some(b'U') => text.starts_with("Using pip ") || is_uv(text),
        Some(b'F') => text.starts_with("Found existing installation: "),
        Some(b'L') => text.starts_with("Looking in indexes: ") || text.starts_with("Looking in links: "),
        Some(b'O') => text.starts_with("Obtaining file:///"),
        Some(b'P' | b'I' | b'A') => is_uv(text) || text.starts_with("Installing collected packages: "),
        Some(b'E') => [
            "ERROR: Could not find a version that",
            "ERROR: No matching distribution",
            "ERROR: Cannot install ",
            "ERROR: ResolutionImpossible",
            "ERROR: pip's dependency resolver",
            "ERROR: Failed building wheel",
            "ERROR: Could not build wheels",
            "ERROR: Invalid requirement",
        ]
        .iter()
        .any(|start| text.starts_with(start)),
        Some(b'e') => {
            text.starts_with("error: subprocess-exited-with-error") || text.starts_with("error: externally-managed")
        }
        Some(b' ') => change(text).is_some() || (text.starts_with("  ") && poetry(text)) || no_solution(text),
        Some(b'W') => text.starts_with("WARNING: ") && crate::text::runs(about.command, "pip"),
        _ => false,
    }
}

/// Whether this is one requirement, and perhaps who has it.
fn is_requirement(said: &str) -> bool {
    let rest = said.split_once(' ').map_or("", |(_, rest)| rest);
    (rest.is_empty() && !said.ends_with("...")) || rest.starts_with("(from ") || rest.starts_with("@ ")
}

fn no_solution(text: &str) -> bool {
    text.starts_with("  × No solution found when resolving")
}

/// Whether uv says how many packages it did something to, and how long it took.
fn is_uv(text: &str) -> bool {
    let said = ["Resolved ", "Prepared ", "Installed ", "Uninstalled ", "Audited "]
        .iter()
        .find_map(|word| text.strip_prefix(word));
    said.and_then(number).is_some_and(|(_, rest)| rest.starts_with(" package") && rest.contains(" in "))
}

/// A package that uv added, removed or changed: ` + flask==3.0.0`.
fn change(text: &str) -> Option<&str> {
    let rest = text.strip_prefix(" + ").or_else(|| text.strip_prefix(" - ")).or_else(|| text.strip_prefix(" ~ "))?;
    let (name, version) = rest.split_once("==").or_else(|| rest.split_once(" @ "))?;
    (!name.contains(' ') && !version.is_empty()).then_some(rest)
}

/// Whether poetry says what it does to one package: `  - Installing flask (3.0.0)`.
fn poetry(text: &str) -> bool {
    let inner = text.trim_start().trim_start_matches(['-', '•', ' ']);
    let said =
        ["Installing ", "Updating ", "Removing ", "Downgrading "].iter().find_map(|word| inner.strip_prefix(word));
    said.is_some_and(|said| said.contains(" (") && (said.ends_with(')') || said.contains("): ")))
}

/// What was done so far.
#[derive(Default)]
struct Pip {
    /// Names that were asked for, and not by another package.
    asked: BTreeSet<String>,
    satisfied: u64,
    satisfied_asked: Vec<String>,
    satisfied_asked_count: u64,
    installed: Vec<String>,
    installed_count: u64,
    replaced: Kept,
    built: Kept,
    errors: Kept,
    warnings: Kept,
    facts: Kept,
    changes: Kept,
    downloads: Vec<(u64, String)>,
    download_count: u64,
    folded: u64,
    failing: Option<Failing>,
    conflict: bool,
    /// It said that it is done, and what is set in after that is not from here.
    over: bool,
}

/// The output of a build that failed, of which the end is kept.
struct Failing {
    last: VecDeque<(u64, String)>,
}

impl Stretch for Pip {
    fn take(&mut self, line: &Line<'_>) -> bool {
        if self.failing.is_some() {
            self.failed_line(line);
            return true;
        }
        let text = line.text;
        let inner = text.trim_start();
        if inner.is_empty() {
            return true;
        }
        if self.problem(line, inner) || self.progress(text, inner) {
            return true;
        }
        let set_in = inner.len() < text.len() && !self.over;
        if set_in {
            // What a verbose build prints is set in.
            self.folded += 1;
            if trouble::of(inner).is_some() {
                self.warnings.text(inner);
            }
        }
        set_in
    }

    fn page(mut self: Box<Self>) -> Page {
        self.end_failing();
        let mut said = Vec::new();
        if self.errors.total() > 0 {
            said.push(named(self.errors.total(), "line of errors", "lines of errors"));
        }
        for (count, done) in [
            (self.installed_count, "installed"),
            (self.satisfied, "there already"),
            (self.replaced.total(), "replaced"),
            (self.built.total(), "built from source"),
        ] {
            if count > 0 {
                said.push(format!("{} {done}", named(count, "package", "packages")));
            }
        }
        if self.folded > 0 {
            said.push(format!("{} folded", named(self.folded, "line of progress", "lines of progress")));
        }
        let mut page = Page::new(format!("Python packages: {}", said.join(", ")));
        page.push(self.errors.part("pip errors", Weight::Failure));
        page.push(self.facts.part("facts", Weight::Fact));
        page.push(self.built.part("built from source", Weight::Fact));
        page.push(self.warnings.part("pip warnings", Weight::Fact));
        page.push(self.changes.part("changes", Weight::Fact));
        page.push(self.replaced.part("replaced", Weight::Fact));
        let asked = &self.asked;
        self.installed.sort_by_key(|name| !asked.iter().any(|asked| is_version_of(name, asked)));
        if let Some(first) = self.installed.first_mut() {
            first.insert_str(0, "Successfully installed ");
        }
        page.push(rows(
            &format!("{} packages installed, those asked for first", self.installed_count),
            Weight::Fact,
            &self.installed,
            self.installed_count.saturating_sub(self.installed.len() as u64),
        ));
        page.push(rows(
            &format!("{} there already and asked for", self.satisfied_asked_count),
            Weight::Shape,
            &self.satisfied_asked,
            self.satisfied_asked_count - self.satisfied_asked.len() as u64,
        ));
        self.downloads.sort_by_key(|(size, _)| std::cmp::Reverse(*size));
        let biggest = self.downloads.into_iter().map(|(_, text)| Item::plain(text)).collect();
        page.push(crate::Part::new("downloads, biggest first", Weight::Sample, biggest).of(self.download_count));
        page
    }
}

/// Whether `Flask-2.2.5` is a version of `flask`.
fn is_version_of(installed: &str, name: &str) -> bool {
    let same = |byte: u8| if byte == b'_' || byte == b'.' { b'-' } else { byte.to_ascii_lowercase() };
    installed.len() > name.len()
        && installed.as_bytes().get(name.len()) == Some(&b'-')
        && installed.bytes().zip(name.bytes()).all(|(a, b)| same(a) == same(b))
}

impl Pip {
    /// Takes a line that tells of something wrong, or of how it ended.
    fn problem(&mut self, line: &Line<'_>, inner: &str) -> bool {
        let text = line.text;
        if ["WARNING: ", "DEPRECATION: ", "WARN: "].iter().any(|start| inner.starts_with(start)) {
            self.warnings.text(inner);
            return true;
        }
        if inner.starts_with("[notice] ") {
            self.facts.text(inner);
            return true;
        }
        if inner.starts_with("╰─> [") {
            self.errors.line(line);
            self.failing = Some(Failing { last: VecDeque::new() });
            return true;
        }
        const EXPLAINED: &[&str] = &["╰─", "hint: ", "ERROR: ", "error: ", "Failed to build "];
        if EXPLAINED.iter().any(|start| inner.starts_with(start)) {
            self.conflict = true;
            self.errors.line(line);
            return true;
        }
        const SAID: &[&str] = &["The conflict is caused by:", "To fix this you could try to:"];
        let incompatible = text.contains(" requires ") && text.ends_with(" which is incompatible.");
        // What depends on what, and what could be tried.
        let listed = text.starts_with("    ") || number(text).is_some_and(|(_, rest)| rest.starts_with(". "));
        let told = inner.starts_with("× ")
            || inner.starts_with("│ exit code")
            || incompatible
            || SAID.iter().any(|start| text.starts_with(start))
            || (self.conflict && listed);
        if told {
            self.errors.line(line);
        }
        told
    }

    /// Takes a line of what is being done.
    fn progress(&mut self, text: &str, inner: &str) -> bool {
        self.conflict = false;
        let set_in = inner.len() < text.len();
        if let Some(said) = inner.strip_prefix("Collecting ") {
            self.over = false;
            self.collected(said, set_in);
        } else if let Some(said) = text.strip_prefix("Requirement already satisfied: ") {
            self.satisfied(said);
        } else if let Some(said) = text.strip_prefix("Successfully installed ") {
            self.installed(said);
            self.over = true;
        } else if let Some(said) = inner.strip_prefix("Downloading ") {
            self.downloaded(said);
        } else if let Some(said) = inner.strip_prefix("Found existing installation: ") {
            self.replaced.text(said);
        } else if inner.starts_with("Created wheel for ") {
            self.built.text(inner.split(" sha256=").next().unwrap_or(inner));
        } else if change(text).is_some() {
            self.installed_count += u64::from(text.starts_with(" + "));
            self.changes.text(text);
        } else if set_in && poetry(text) {
            self.changes.text(inner);
        } else if is_uv(text)
            || ["Using pip ", "Looking in ", "Obtaining ", "Would install "].iter().any(|start| text.starts_with(start))
        {
            self.facts.text(text);
        } else if self.is_folded(text, inner) {
            self.folded += 1;
        } else {
            return false;
        }
        true
    }

    fn is_folded(&self, text: &str, inner: &str) -> bool {
        const STARTS: &[&str] = &[
            "Successfully built ",
            "Using cached ",
            "Installing collected packages: ",
            "Attempting uninstall: ",
            "Uninstalling ",
            "Successfully uninstalled ",
            "Preparing metadata",
            "Building wheel",
            "Getting requirements to build",
            "Installing build dependencies",
            "Stored in directory: ",
            "Building wheels for collected",
            "Processing ",
            "INFO: pip is looking",
            "INFO: This is taking",
            "note: This ",
            "Created temporary directory",
            "Link requires a different Python",
            "Cloning ",
            "Running command ",
            "Updating dependencies",
            "Writing lock file",
            "Installing dependencies from lock file",
            "Resolving dependencies",
            "Building editable for",
            "Checking if build backend",
        ];
        inner.starts_with('━')
            || inner.starts_with('|') && text.starts_with("     ")
            || STARTS.iter().any(|start| inner.starts_with(start))
    }

    /// A package that is needed, and by whom.
    fn collected(&mut self, said: &str, by_build: bool) {
        let by_package =
            said.split_once(" (from ").is_some_and(|(_, from)| !from.starts_with("-r ") && !from.starts_with("-c "));
        if by_build || by_package || self.asked.len() >= NAMES {
            return;
        }
        self.asked.insert(name(said).to_owned());
    }

    fn satisfied(&mut self, said: &str) {
        self.satisfied += 1;
        let by_package =
            said.split_once(" (from ").is_some_and(|(_, from)| !from.starts_with("-r ") && !from.starts_with("-c "));
        self.satisfied_asked_count += u64::from(!by_package);
        if !by_package && self.satisfied_asked.len() < 200 {
            let version = said.rsplit_once(" (").map_or("", |(_, version)| version.trim_end_matches(')'));
            self.satisfied_asked.push(clip(&format!("{} {version}", name(said)), 100));
        }
    }

    fn installed(&mut self, said: &str) {
        for package in said.split_whitespace() {
            self.installed_count += 1;
            if self.installed.len() < NAMES {
                self.installed.push(clip(package, 100));
            }
        }
    }

    /// A file that was fetched, with its size. The biggest three are kept.
    fn downloaded(&mut self, said: &str) {
        self.download_count += 1;
        let Some((_, size)) = said.rsplit_once(" (") else { return };
        let Some((amount, unit)) = size.trim_end_matches(')').split_once(' ') else { return };
        let Ok(amount) = amount.parse::<f64>() else { return };
        let unit = match unit {
            "kB" => 1e3,
            "MB" => 1e6,
            "GB" => 1e9,
            _ => 1.0,
        };
        let bytes = (amount * unit) as u64;
        if self.downloads.len() >= 3 {
            let Some(least) = (0..self.downloads.len()).min_by_key(|&place| self.downloads.get(place).map(|one| one.0))
            else {
                return;
            };
            if self.downloads.get(least).is_some_and(|(size, _)| *size >= bytes) {
                return;
            }
            self.downloads.swap_remove(least);
        }
        self.downloads.push((bytes, clip(said, 160)));
    }

    /// A line of what a failed build printed.
    fn failed_line(&mut self, line: &Line<'_>) {
        if line.text.trim_start().starts_with("[end of output]") {
            self.end_failing();
            return;
        }
        // The box is closed by its own last line; without one it ends where the text is no longer set in.
        if !line.text.is_empty() && !line.text.starts_with("  ") {
            self.end_failing();
            self.take(line);
            return;
        }
        if let Some(failing) = &mut self.failing {
            if !line.text.trim().is_empty() {
                failing.last.push_back((line.number, clip(line.text.trim_end(), LONGEST)));
            }
            if failing.last.len() > LAST {
                failing.last.pop_front();
            }
        }
    }

    fn end_failing(&mut self) {
        let Some(failing) = self.failing.take() else { return };
        // The last line says what went wrong.
        for (number, text) in failing.last.into_iter().rev() {
            self.errors.add(|| Item::at(number, text));
        }
    }
}

/// The name at the beginning of a requirement.
fn name(requirement: &str) -> &str {
    let end = requirement.find(|byte: char| !(byte.is_alphanumeric() || matches!(byte, '-' | '_' | '.')));
    requirement.get(..end.unwrap_or(requirement.len())).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::check::{check, digest};

    #[test]
    fn an_installation_is_told() {
        let raw = r"Collecting flask==2.2.5 (from -r requirements.txt (line 1))
  Downloading Flask-2.2.5-py3-none-any.whl (101 kB)
     ━━━━━━━━━━━━━━━━━━━━━━━━━━ 101.8/101.8 kB 4.8 MB/s eta 0:00:00
Requirement already satisfied: wheel in /usr/lib/python3 (0.38.4)
Collecting Werkzeug>=2.2.2 (from flask==2.2.5->-r requirements.txt (line 1))
  Downloading werkzeug-3.1.9-py3-none-any.whl (233 kB)
Building wheels for collected packages: docopt
  Building wheel for docopt (setup.py): started
  Created wheel for docopt: filename=docopt-0.6.2-py2.py3-none-any.whl size=13781 sha256=92d06e
Successfully built docopt
Installing collected packages: docopt, Werkzeug, flask
  Attempting uninstall: flask
    Found existing installation: Flask 2.0.0
    Uninstalling Flask-2.0.0:
      Successfully uninstalled Flask-2.0.0
ERROR: pip's dependency resolver does not currently take into account all the packages that are installed.
shop 1.0 requires flask<2.1, but you have flask 2.2.5 which is incompatible.
Successfully installed Werkzeug-3.1.9 docopt-0.6.2 flask-2.2.5

[notice] A new release of pip is available: 23.2.1 -> 24.0
    a line of another program
";
        check(
            raw,
            700,
            &expect![[r#"
                exit 0; Python packages: 2 lines of errors, 3 packages installed, 1 package there already, 1 package replaced, 1 package built from source, 8 lines of progress folded; 21 lines, 1.2 KiB held as [ctx:0000000000]
                <<<0000000000
                == pip errors: 2
                16: ERROR: pip's dependency resolver does not currently take into account all the packages that are installed.
                17: shop 1.0 requires flask<2.1, but you have flask 2.2.5 which is incompatible.
                == facts: 1
                [notice] A new release of pip is available: 23.2.1 -> 24.0
                == built from source: 1
                Created wheel for docopt: filename=docopt-0.6.2-py2.py3-none-any.whl size=13781
                == replaced: 1
                Flask 2.0.0
                == 3 packages installed, those asked for first, in lines of 6: 1
                Successfully installed flask-2.2.5, Werkzeug-3.1.9, docopt-0.6.2
                == 1 there already and asked for, in lines of 6: 1
                wheel 0.38.4
                == downloads, biggest first: 2
                werkzeug-3.1.9-py3-none-any.whl (233 kB)
                Flask-2.2.5-py3-none-any.whl (101 kB)
                == lines in order: last lines 1
                21:     a line of another program
                0000000000>>>
                more: ctx_get"#]],
        );
    }

    #[test]
    fn a_failed_build_ends_with_its_reason() {
        let raw = r"Collecting requests<2.0
  error: subprocess-exited-with-error
  
  × Getting requirements to build wheel did not run successfully.
  │ exit code: 1
  ╰─> [3 lines of output]
      Traceback (most recent call last):
        File 'a.py', line 7, in <module>
      ImportError: cannot import name 'MutableMapping' from 'collections'
      [end of output]
  
  note: This error originates from a subprocess, and is likely not a problem with pip.
error: subprocess-exited-with-error
";
        check(
            raw,
            500,
            &expect![[r#"
                exit 0; Python packages: 8 lines of errors, 1 line of progress folded; 13 lines, 485 B held as [ctx:0000000000]
                <<<0000000000
                == pip errors: 8
                2:   error: subprocess-exited-with-error
                4:   × Getting requirements to build wheel did not run successfully.
                5:   │ exit code: 1
                6:   ╰─> [3 lines of output]
                7:       Traceback (most recent call last):
                8:         File 'a.py', line 7, in <module>
                9:       ImportError: cannot import name 'MutableMapping' from 'collections'
                13: error: subprocess-exited-with-error
                0000000000>>>
                more: ctx_get"#]],
        );
    }

    #[test]
    fn uv_is_read() {
        let raw = "Resolved 12 packages in 321ms\nInstalled 2 packages in 14ms\n + anyio==4.3.0\n - certifi==2024.2.1\n + certifi==2024.2.2\n  × No solution found when resolving dependencies:\n  ╰─▶ Because only flask<=3.0.2 is available and you require flask>=4, we can\n      conclude that your requirements are unsatisfiable.\n";
        check(
            raw,
            500,
            &expect![[r#"
                exit 0; Python packages: 3 lines of errors, 2 packages installed; 8 lines, 310 B held as [ctx:0000000000]
                <<<0000000000
                == pip errors: 3
                6:   × No solution found when resolving dependencies:
                7:   ╰─▶ Because only flask<=3.0.2 is available and you require flask>=4, we can
                8:       conclude that your requirements are unsatisfiable.
                == facts: 2
                Resolved 12 packages in 321ms
                Installed 2 packages in 14ms
                == changes: 3
                 + anyio==4.3.0
                 - certifi==2024.2.1
                 + certifi==2024.2.2
                0000000000>>>
                more: ctx_get"#]],
        );
    }

    #[test]
    fn other_lines_are_not_claimed() {
        for raw in [
            "Collecting data...\n",
            " + added line\n",
            "Installed it in the kitchen\n",
            "ERROR: no\n",
            "  - Installing things\n",
        ] {
            assert!(!digest(raw, 300).contains("Python packages"), "{raw}");
        }
    }
}
