//! Where systems differ apart from the sandbox.

use std::fs::Metadata;

#[cfg(unix)]
pub(crate) fn is_executable(about: &Metadata) -> bool {
    about.is_file() && std::os::unix::fs::PermissionsExt::mode(&about.permissions()) & 0o111 != 0
}

#[cfg(windows)]
pub(crate) fn is_executable(about: &Metadata) -> bool {
    about.is_file()
}

/// Returns the memory of this machine in bytes, or `None` if `/proc/meminfo` does not say, as outside Linux.
pub fn machine_memory() -> Option<u64> {
    static MEMORY: std::sync::OnceLock<Option<u64>> = std::sync::OnceLock::new();
    *MEMORY.get_or_init(|| {
        let about = std::fs::read_to_string("/proc/meminfo").ok()?;
        let line = about.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
        line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok().map(|kilobytes| kilobytes << 10)
    })
}
