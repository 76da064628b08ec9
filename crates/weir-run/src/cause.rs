//! Determines why this system provides no sandbox and how to fix it, from the system's own settings.

use weir_runner::Problem;

/// Returns fixes for a step of building the sandbox that the system refused.
pub(super) fn ways_out(problem: &Problem) -> Vec<String> {
    ways_out_by(&problem.step, |path| std::fs::read_to_string(path).ok())
}

fn ways_out_by(step: &str, read: impl Fn(&str) -> Option<String>) -> Vec<String> {
    let is = |path: &str, value: &str| read(path).is_some_and(|text| text.trim() == value);
    let filtered = read("/proc/self/status").is_some_and(|status| status.lines().any(|line| line == "Seccomp:\t2"));
    let mut ways = Vec::new();
    if step.contains("Landlock") {
        let modules = read("/sys/kernel/security/lsm");
        let has_landlock = modules.map(|modules| modules.split(',').any(|module| module.trim() == "landlock"));
        // If the list cannot be read, a filter is the likelier cause.
        if has_landlock == Some(false) || (has_landlock.is_none() && !filtered) {
            ways.push("start the kernel (Linux 6.2 or later) with `landlock` in its `lsm=` option".to_owned());
        }
        if filtered {
            ways.push("in a container, allow the landlock_* system calls in its seccomp profile".to_owned());
        }
        return ways;
    }
    if is("/proc/sys/user/max_user_namespaces", "0") {
        ways.push("user namespaces are disabled: run `sudo sysctl user.max_user_namespaces=15000`".to_owned());
    }
    if is("/proc/sys/kernel/unprivileged_userns_clone", "0") {
        ways.push("run `sudo sysctl kernel.unprivileged_userns_clone=1`".to_owned());
    }
    if is("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1") {
        ways.push("AppArmor denies user namespaces: install a profile that allows `userns` for weir".to_owned());
    }
    if filtered {
        ways.push(
            "a seccomp filter is active, as in a container: allow unshare and mounts (with Docker, \
             `--security-opt seccomp=unconfined --security-opt systempaths=unconfined`)"
                .to_owned(),
        );
    }
    ways
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(step: &str, files: &[(&str, &str)], expected: &[&str]) {
        let read = |path: &str| files.iter().find(|(known, _)| *known == path).map(|(_, text)| (*text).to_owned());
        let ways = ways_out_by(step, read);
        assert_eq!(ways.len(), expected.len(), "{ways:?}");
        for (way, words) in ways.iter().zip(expected) {
            assert!(way.contains(words), "{way}");
        }
    }

    #[test]
    fn the_cause_is_the_one_that_the_system_names() {
        const UNSHARE: &str = "make namespaces (unshare)";
        check(UNSHARE, &[], &[]);
        check(UNSHARE, &[("/proc/sys/user/max_user_namespaces", "0\n")], &["max_user_namespaces"]);
        check(UNSHARE, &[("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1\n")], &["AppArmor"]);
        check(UNSHARE, &[("/proc/sys/kernel/unprivileged_userns_clone", "0\n")], &["unprivileged_userns_clone"]);
        check(UNSHARE, &[("/proc/self/status", "Name:\tx\nSeccomp:\t2\n")], &["seccomp"]);
        check("use Landlock", &[("/sys/kernel/security/lsm", "capability,landlock,yama")], &[]);
        check("use Landlock", &[("/sys/kernel/security/lsm", "capability,yama")], &["lsm="]);
        check("use Landlock", &[("/proc/self/status", "Seccomp:\t2\n")], &["landlock_*"]);
        check("use Landlock", &[], &["lsm="]);
    }
}
