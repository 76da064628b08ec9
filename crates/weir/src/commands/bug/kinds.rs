//! What a report says instead of a text: its kind, in words of this program's.

/// The distributions that are named. Others may be a company's own.
const DISTRIBUTIONS: &[&str] = &[
    "alma", "almalinux", "alpine", "amzn", "arch", "centos", "debian", "fedora", "gentoo", "kali", "linuxmint",
    "manjaro", "nixos", "opensuse-leap", "opensuse-tumbleweed", "pop", "raspbian", "rhel", "rocky", "sles", "ubuntu",
    "void",
];

/// The kinds of failures, each with a text that its messages contain.
const FAILURES: &[(&str, &str)] = &[
    ("broken:", "a panic"),
    ("Permission denied", "permission denied"),
    ("No space left", "the disk is full"),
    ("disk is full", "the disk is full"),
    ("Read-only", "a file system that is only read"),
    ("read-only", "a store that cannot be written"),
    ("damaged", "a damaged store"),
    ("newer version", "a store of a newer version"),
    ("older version", "a store of an older version"),
    ("locked", "a locked store"),
    ("busy", "a busy store"),
    ("seconds", "no time left"),
    ("deadline", "no time left"),
    ("configuration", "the configuration"),
    ("No such file", "a missing file"),
    ("Too many open files", "too many open files"),
];

/// The words with which a description of the sandbox begins.
const SANDBOXES: &[&str] = &["full", "landlock", "seatbelt", "off", "none"];

/// Returns the numbers that a version begins with.
pub(super) fn version(text: &str) -> Option<&str> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let version = text[..end].trim_end_matches('.');
    (version.starts_with(|c: char| c.is_ascii_digit()) && version.len() <= 20).then_some(version)
}

/// Returns the distribution that a file `os-release` describes.
pub(super) fn distribution(text: &str) -> Option<String> {
    let field = |name: &str| {
        let value = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='))?;
        Some(value.trim().trim_matches('"'))
    };
    let name = DISTRIBUTIONS.iter().find(|known| Some(**known) == field("ID"))?;
    let version = field("VERSION_ID").and_then(version).map(|version| format!(" {version}")).unwrap_or_default();
    Some(format!("{name}{version}"))
}

pub(super) fn sandbox(text: &str) -> &'static str {
    let first = text.split([' ', ',']).next().unwrap_or_default();
    SANDBOXES.iter().find(|known| **known == first).copied().unwrap_or("unknown")
}

/// Returns the kind of a setting's value, as the configuration has it.
pub(super) fn value(shown: &str) -> String {
    let parsed = format!("value = {shown}").parse::<toml_edit::DocumentMut>();
    let kind = parsed.ok().and_then(|document| {
        let value = document.get("value")?.as_value()?;
        Some(match value {
            toml_edit::Value::Boolean(is) => is.value().to_string(),
            toml_edit::Value::Integer(number) => number.value().to_string(),
            toml_edit::Value::Float(number) => number.value().to_string(),
            toml_edit::Value::Array(items) => format!("a list of {}", items.len()),
            _ => "a text".to_owned(),
        })
    });
    kind.unwrap_or_else(|| "set".to_owned())
}

/// Returns the day of a logged failure, the client, and the kind of failure.
pub(super) fn failure(line: &str) -> String {
    let day = line.get(..10).filter(|day| is_day(day)).unwrap_or("some day");
    let client = line.split([' ', ':']).find_map(weir_clients::find).map_or("no client", |client| client.title);
    let kind = FAILURES.iter().find(|(part, _)| line.contains(part)).map_or("something else", |(_, kind)| kind);
    format!("{day}, {client}: {kind}")
}

fn is_day(text: &str) -> bool {
    let shape = |(expected, found): (u8, u8)| if expected == b'0' { found.is_ascii_digit() } else { found == expected };
    text.len() == 10 && b"0000-00-00".iter().copied().zip(text.bytes()).all(shape)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_lose_what_is_not_a_number() {
        for (text, expected) in
            [("6.8.0-acme-secret", Some("6.8.0")), ("2.1.325", Some("2.1.325")), ("acme", None), ("1.", Some("1"))]
        {
            assert_eq!(version(text), expected, "{text}");
        }
    }

    #[test]
    fn only_distributions_that_are_known_are_named() {
        assert_eq!(distribution("NAME=x\nID=debian\nVERSION_ID=\"12\"\n").as_deref(), Some("debian 12"));
        assert_eq!(distribution("ID=acme-linux\nVERSION_ID=7\n"), None);
    }

    #[test]
    fn settings_and_failures_are_described_by_their_kinds() {
        for (shown, expected) in [
            ("12000", "12000"),
            ("true", "true"),
            ("\"secret\"", "a text"),
            ("[\"a\", \"b\"]", "a list of 2"),
            ("none", "set"),
        ] {
            assert_eq!(value(shown), expected);
        }
        assert_eq!(
            failure("2026-11-19 10:00Z claude PostToolUse: error: cannot use /home/me/x: Permission denied"),
            "2026-11-19, Claude Code: permission denied"
        );
        assert_eq!(failure("secret"), "some day, no client: something else");
    }
}
