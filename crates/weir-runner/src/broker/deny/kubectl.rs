//! Kubernetes' `kubectl`. Allows commands that read, but not secrets, however they are spelled.

use super::{FILES, IDENTITY, Program, REVEALS, SHELL, STARTS, has_letter, listed};

pub(super) const KUBECTL: Program = Program {
    name: "kubectl",
    globals: &["-n", "--namespace", "--request-timeout"],
    switches: &["--warnings-as-errors"],
    command: |words| listed(COMMANDS, words),
    refused: &[
        ("exec", SHELL),
        ("attach", SHELL),
        ("cp", SHELL),
        ("port-forward", SHELL),
        ("proxy", SHELL),
        ("debug", SHELL),
        ("run", SHELL),
        ("config", IDENTITY),
        ("create", "it can create credentials"),
        ("plugin", STARTS),
        ("edit", STARTS),
    ],
    options: &[
        ("--kubeconfig", IDENTITY),
        ("--kuberc", IDENTITY),
        ("--server", IDENTITY),
        ("-s", IDENTITY),
        ("--context", IDENTITY),
        ("--cluster", IDENTITY),
        ("--user", IDENTITY),
        ("--token", IDENTITY),
        ("--username", IDENTITY),
        ("--password", IDENTITY),
        ("--as", IDENTITY),
        ("--as-group", IDENTITY),
        ("--as-uid", IDENTITY),
        ("--certificate-authority", IDENTITY),
        ("--client-certificate", IDENTITY),
        ("--client-key", IDENTITY),
        ("--tls-server-name", IDENTITY),
        ("--insecure-skip-tls-verify", "anyone could answer"),
        ("--insecure-skip-tls-verify-backend", "anyone could answer"),
        ("--raw", "it can do everything that the credentials allow"),
        ("--filename", FILES),
        ("--kustomize", FILES),
        ("-k", FILES),
        ("--cache-dir", FILES),
        ("--log-dir", FILES),
        ("--log-file", FILES),
        ("--profile", FILES),
        ("--profile-output", FILES),
        ("-v", REVEALS),
        ("--v", REVEALS),
        ("--vmodule", REVEALS),
    ],
    abbreviates: false,
    valued: "nolcL",
    arguments,
};

pub(super) const COMMANDS: &[&str] = &[
    "api-resources", "api-versions", "auth can-i", "auth whoami", "cluster-info", "describe", "events", "explain",
    "get", "logs", "rollout history", "rollout status", "top node", "top nodes", "top pod", "top pods", "version",
];

/// Refuses secrets and files. `get` accepts several resource kinds in one word, and several words. Every word is
/// checked, including values, so a resource that happens to be called `secret` is refused too.
fn arguments(command: &[&str], words: &[&str]) -> Option<&'static str> {
    if command == ["cluster-info"] && words.contains(&"dump") {
        return Some("it dumps everything");
    }
    // For `logs`, `-f` means `--follow`.
    if command != ["logs"] && words.iter().any(|word| has_letter(KUBECTL.valued, word, 'f')) {
        return Some(FILES);
    }
    if words.iter().any(|word| word.contains("-file") || word.contains("templatefile")) {
        return Some(FILES);
    }
    let is_secret = |kind: &str| {
        let kind = kind.split(['/', '.']).next().unwrap_or_default().to_lowercase();
        kind == "secret" || kind == "secrets"
    };
    let secrets = words.iter().any(|word| word.split([',', ' ', '=']).any(is_secret));
    (secrets && command != ["explain"] && command != ["auth", "can-i"]).then_some("it handles credentials")
}
