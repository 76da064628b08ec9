//! The sandbox policy as a profile for macOS's `sandbox-exec`.
//!
//! Only the text is tested: the profile has never run on macOS, and nothing starts it yet, because Weir does not
//! support macOS. Everything is denied first. Denials at the end override earlier grants, since the last matching rule
//! wins.

use std::path::{Path, PathBuf};

use crate::{EGRESS_PORT, Network, Spec};

/// The rules that every program needs in order to start.
const BASE: &str = "\
(version 1)
(deny default)
(allow process-fork)
(allow process-exec)
(allow signal (target same-sandbox))
(allow sysctl-read)
(allow file-read*)
(allow file-write-data (literal \"/dev/null\") (literal \"/dev/zero\"))
";

pub fn profile(spec: &Spec) -> String {
    let mut text = BASE.to_owned();
    let mut line = |rule: &str, filter: &str, path: &Path| {
        text.push_str(&format!("({rule} ({filter} {}))\n", quoted(path)));
    };
    for path in &spec.covered {
        line("deny file-read*", "subpath", path);
    }
    for path in spec.visible.iter().chain(&spec.writable).chain(&spec.scratch) {
        line("allow file-read*", "subpath", path);
    }
    for path in spec.writable.iter().chain(&spec.scratch) {
        line("allow file-write*", "subpath", path);
    }
    for path in &spec.read_only {
        line("deny file-write*", "subpath", path);
        // If a folder above could be moved aside, its protection would move with it and another folder could take its
        // place.
        for above in above(path, &spec.writable) {
            line("deny file-write-unlink", "literal", above);
        }
    }
    for path in &spec.hidden {
        line("deny file-read* file-write*", "subpath", path);
    }
    for path in &spec.programs {
        line("deny process-exec file-read*", "literal", path);
    }
    match spec.network {
        Network::Off => text.push_str("(deny network*)\n"),
        Network::Host => text.push_str("(allow network*)\n"),
        Network::Listeners => {
            text.push_str("(deny network*)\n");
            text.push_str(&format!("(allow network-outbound (remote ip \"localhost:{EGRESS_PORT}\"))\n"));
        }
    }
    text
}

fn above<'a>(path: &'a Path, writable: &'a [PathBuf]) -> impl Iterator<Item = &'a Path> {
    path.ancestors().skip(1).filter(|above| writable.iter().any(|root| above.starts_with(root)))
}

fn quoted(path: &Path) -> String {
    format!("\"{}\"", path.display().to_string().replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::Level;

    #[test]
    fn the_profile_says_what_the_spec_says() {
        let spec = Spec {
            network: Network::Listeners,
            covered: vec!["/home".into()],
            visible: vec!["/home/.cargo".into()],
            writable: vec!["/made/up/a \"b\"".into()],
            read_only: vec!["/made/up/a \"b\"/sub/.git".into()],
            hidden: vec!["/home/.ssh".into()],
            programs: vec!["/usr/bin/sudo".into()],
            scratch: Some("/private/tmp/x".into()),
            ..Spec::new(Level::Full, vec![], "/made/up")
        };
        expect![[r#"
            (version 1)
            (deny default)
            (allow process-fork)
            (allow process-exec)
            (allow signal (target same-sandbox))
            (allow sysctl-read)
            (allow file-read*)
            (allow file-write-data (literal "/dev/null") (literal "/dev/zero"))
            (deny file-read* (subpath "/home"))
            (allow file-read* (subpath "/home/.cargo"))
            (allow file-read* (subpath "/made/up/a \"b\""))
            (allow file-read* (subpath "/private/tmp/x"))
            (allow file-write* (subpath "/made/up/a \"b\""))
            (allow file-write* (subpath "/private/tmp/x"))
            (deny file-write* (subpath "/made/up/a \"b\"/sub/.git"))
            (deny file-write-unlink (literal "/made/up/a \"b\"/sub"))
            (deny file-write-unlink (literal "/made/up/a \"b\""))
            (deny file-read* file-write* (subpath "/home/.ssh"))
            (deny process-exec file-read* (literal "/usr/bin/sudo"))
            (deny network*)
            (allow network-outbound (remote ip "localhost:3128"))
        "#]]
        .assert_eq(&profile(&spec));
    }
}
