//! Says when a failure looks like the sandbox's doing, and what to change. Invariant: what a run printed only selects
//! which remarks are made; nothing that it names is looked up, so it learns nothing about what it cannot see.

use weir_context::Context;
use weir_core::run::Ended;
use weir_host::config::Network;
use weir_runner::{Level, Outcome};
use weir_store::BlobReader;

/// How much of the end of an output is read, in bytes. What made a program fail is near its end.
const MAX_READ_BYTES: u64 = 64 * 1024;

/// What programs print if they find no network.
const NO_NETWORK: &[&str] = &[
    "could not resolve host", "could not resolve hostname", "temporary failure in name resolution",
    "name or service not known", "network is unreachable", "getaddrinfo enotfound", "getaddrinfo eai_again",
    "no such host", "failed to lookup address", "dns error",
];

/// What programs print if they cannot change a file.
const READ_ONLY: &[&str] = &["read-only file system", "erofs"];

/// What programs print if they cannot find or open a file.
const NOT_THERE: &[&str] = &["no such file or directory", "permission denied", "enoent", "cannot find", "not found"];

/// What programs print if the kernel cannot rename a folder on a layer.
const NO_RENAME: &[&str] = &["invalid cross-device link", "exdev"];

/// What programs print if the kernel cannot change a file of another group on a layer.
const OTHER_GROUP: &[&str] = &["value too large for defined data type", "eoverflow"];

/// Where a failed run took place.
struct Fence<'a> {
    network: Network,
    home: Option<&'a str>,
    project: &'a str,
    config: &'a str,
}

/// Returns what to tell about a failed run in a sandbox. Nothing if its output shows no sign of the sandbox.
pub(super) fn remarks(context: &Context, outcome: &Outcome, is_layered: bool, text: &BlobReader) -> Vec<String> {
    let has_failed = outcome.ended == Ended::Exited && outcome.exit_code != Some(0);
    if !(has_failed || is_layered) || outcome.level == Level::None {
        return Vec::new();
    }
    let bytes = text.bytes();
    let Ok(end) = text.range(bytes.saturating_sub(MAX_READ_BYTES)..bytes) else { return Vec::new() };
    let end = String::from_utf8_lossy(&end);
    let mut remarks = if is_layered { of_layer(&end) } else { Vec::new() };
    if !has_failed {
        return remarks;
    }
    let (project, config) = (context.project().root.to_string_lossy(), context.paths().config.to_string_lossy());
    let fence = Fence {
        network: context.config().network,
        home: context.env().home.as_deref().and_then(std::path::Path::to_str),
        project: &project,
        config: &config,
    };
    remarks.extend(fence.remarks(&end));
    remarks
}

/// Returns what to tell about a run on a layer, also if it has not failed: a script may go on after an error.
fn of_layer(output: &str) -> Vec<String> {
    let lower = output.to_ascii_lowercase();
    let says = |signs: &[&str]| signs.iter().any(|sign| lower.contains(sign));
    let cause = match (says(NO_RENAME), says(OTHER_GROUP)) {
        (true, _) => "rename a folder that existed before the run; `cp -r` and `rm -r` work",
        (_, true) => "change a file of another group",
        _ => return Vec::new(),
    };
    vec![format!("on a layer, the kernel cannot {cause}; `weir run --layer off` runs without one")]
}

impl Fence<'_> {
    fn remarks(&self, output: &str) -> Vec<String> {
        let config = self.config;
        let (mut offline, mut unwritable, mut hidden) = (false, false, false);
        for line in output.lines() {
            let lower = line.to_ascii_lowercase();
            let says = |signs: &[&str]| signs.iter().any(|sign| lower.contains(sign));
            offline |= says(NO_NETWORK);
            unwritable |= says(READ_ONLY);
            hidden |= says(NOT_THERE) && self.names_home(line);
        }
        let mut remarks = Vec::new();
        match self.network {
            Network::Off if offline => remarks.push(format!(
                "the sandbox has no network, which may be why it failed: to allow hosts, set network = \"allow-list\" \
                 and hosts in [run] of {config}"
            )),
            Network::AllowList if offline => remarks
                .push(format!("the sandbox reaches only the hosts in [run] of {config}, which may be why it failed")),
            _ => {}
        }
        if unwritable {
            remarks.push(format!(
                "the sandbox lets a run change only the project, without .git and files that run code later, which may \
                 be why it failed: for other folders, set writable in [run] of {config}"
            ));
        }
        if hidden {
            remarks.push(format!(
                "below the home folder, the sandbox shows a run only the project and toolchains, which may be why it \
                 failed: for more, set readable in [run] of {config}"
            ));
        }
        remarks
    }

    /// Whether a line names a path below the home folder and outside the project.
    fn names_home(&self, line: &str) -> bool {
        let is_outside = |rest: &str| !rest.starts_with(self.project);
        let below_home = |home: &str| line.match_indices(home).any(|(at, _)| is_outside(&line[at..]));
        line.contains("~/") || self.home.is_some_and(|home| home.len() > 1 && below_home(home))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(network: Network, output: &str, expected: &[&str]) {
        let fence = Fence { network, home: Some("/home/me"), project: "/home/me/app", config: "config.toml" };
        let remarks = fence.remarks(output);
        assert_eq!(remarks.len(), expected.len(), "{output}: {remarks:?}");
        for (remark, words) in remarks.iter().zip(expected) {
            assert!(remark.contains(words), "{remark}");
        }
    }

    #[test]
    fn what_a_program_prints_selects_the_remark() {
        check(Network::Off, "curl: (6) Could not resolve host: example.org\n", &["has no network"]);
        check(Network::AllowList, "getaddrinfo ENOTFOUND packages.example.org\n", &["only the hosts"]);
        check(Network::On, "curl: (6) Could not resolve host: nowhere.invalid\n", &[]);
        check(Network::Off, "touch: cannot touch '/etc/x': Read-only file system\n", &["change only the project"]);
        check(Network::Off, "ls: cannot access '/home/me/.ssh': No such file or directory\n", &["readable"]);
        check(Network::Off, "cat: /home/me/app/x: No such file or directory\n", &[]);
        check(Network::Off, "1 failed, 2 passed\n", &[]);
    }
}
