//! Fuzzes verdicts on scripts, and the settings that they follow.

use std::path::PathBuf;
use std::sync::LazyLock;

use weir_policy::judge::judge;
use weir_policy::rules::{Own, Rules, Source, SourceKind, Verdict};
use weir_policy::shell::{MAX_COMMANDS, simple_literal, split};

/// Judges a script. One with parts that are not understood is never allowed.
pub(crate) fn shell(data: &[u8]) {
    static RULES: LazyLock<Rules> = LazyLock::new(|| {
        rules(r#"{"permissions":{"deny":["Bash(rm *)","Bash(git push:*)"],"allow":["Bash(ls *)","Bash(make)"]}}"#)
    });
    let Ok(script) = std::str::from_utf8(data) else { return };
    let found = split(script);
    assert!(found.commands.len() <= MAX_COMMANDS && found.commands.iter().all(|command| !command.words.is_empty()));
    if let Some(words) = simple_literal(script) {
        assert!(!words.is_empty() && found.commands.len() + found.unclear.len() > 0, "{words:?}");
    }
    let judged = judge(&RULES, script);
    // Understood or not, everything that could run has a reason in the verdict.
    let is_nothing = found.commands.is_empty() && found.unclear.is_empty();
    assert_eq!(judged.reasons.is_empty(), is_nothing, "{script:?}");
    if !found.unclear.is_empty() {
        assert_ne!(judged.verdict, Verdict::Allow, "{script:?}");
    }
}

/// Reads a settings file of a project.
pub(crate) fn settings(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let rules = rules(&text);
    for script in ["rm -rf x", "git push origin main", "ls", "echo $(cat a) | sh"] {
        let _ = judge(&rules, script);
    }
    assert!(rules.iter().all(|rule| rule.kind == SourceKind::Project));
}

fn rules(text: &str) -> Rules {
    let source = Source {
        path: PathBuf::from("/project/.claude/settings.json"),
        base: PathBuf::from("/project"),
        kind: SourceKind::Project,
        text: text.to_owned(),
    };
    Rules::read(&[source], &Own::default())
}
