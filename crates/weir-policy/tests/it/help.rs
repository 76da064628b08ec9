//! Helpers for the tests of verdicts.

use std::path::PathBuf;

use weir_policy::judge::{Judgement, judge};
use weir_policy::rules::{Own, Rules};

/// Returns rules that deny the given patterns, in the syntax of settings.
pub(crate) fn denying(deny: &[&str]) -> Rules {
    rules(deny, &[], &[])
}

pub(crate) fn rules(deny: &[&str], ask: &[&str], allow: &[&str]) -> Rules {
    let list = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    let own = Own {
        path: PathBuf::from("weir.toml"),
        base: PathBuf::from("/project"),
        deny: list(deny),
        ask: list(ask),
        allow: list(allow),
        readable: Vec::new(),
    };
    Rules::read(&[], &own)
}

pub(crate) fn verdicts(rules: &Rules, scripts: &[&str]) -> String {
    let line = |script: &&str| {
        let Judgement { verdict, .. } = judge(rules, script);
        format!(
            "{:<5} {}\n",
            verdict.as_str(),
            script.escape_debug().to_string().replace("\\\"", "\"").replace("\\'", "'")
        )
    };
    scripts.iter().map(line).collect()
}
