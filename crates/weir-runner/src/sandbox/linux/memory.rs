//! Counts the memory that a run uses: of its processes, and what the kernel keeps for it besides. Memory in unnamed
//! files (memfd) that no process maps is not counted.

use crate::{Level, Network, Spec};

/// The private file systems of a run that are kept in memory.
const IN_MEMORY: [&str; 2] = ["/tmp", "/dev/shm"];
/// Tables of the sockets of a network namespace.
const SOCKETS: [&str; 4] = ["tcp", "tcp6", "udp", "udp6"];

/// Returns the number of bytes that a run with these processes uses. What a process maps of a file in memory is counted
/// for the process again.
pub(super) fn used(processes: &[i32], spec: &Spec) -> u64 {
    let mut bytes = of_processes(processes);
    if spec.level == Level::Full {
        bytes += shared() + IN_MEMORY.iter().map(|folder| of_files(folder)).sum::<u64>();
        if spec.network != Network::Host {
            bytes += SOCKETS.iter().map(|table| queued(table)).sum::<u64>();
        }
    }
    bytes
}

/// Returns the memory of these processes that is not backed by a file: private and shared. Memory shared by several
/// processes is counted for each of them.
fn of_processes(processes: &[i32]) -> u64 {
    let kilobytes = |pid: &i32| -> Option<u64> {
        let about = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
        let lines = about.lines().filter_map(|line| line.strip_prefix("RssAnon:").or(line.strip_prefix("RssShmem:")));
        Some(lines.filter_map(|line| line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok()).sum())
    };
    processes.iter().filter_map(kilobytes).sum::<u64>() << 10
}

/// Returns the resident memory of System V segments, which outlive the processes that created them. Segments that are
/// attached to a process are counted there again.
///
/// Without an IPC namespace the segments would belong to the machine; the filter keeps such a run from creating any.
fn shared() -> u64 {
    let Ok(table) = std::fs::read_to_string("/proc/sysvipc/shm") else { return 0 };
    let mut lines = table.lines();
    let names = lines.next().unwrap_or_default();
    let Some(column) = names.split_whitespace().position(|name| name == "rss") else { return 0 };
    lines.filter_map(|line| line.split_whitespace().nth(column)?.parse::<u64>().ok()).sum()
}

/// Returns the size of the files in a file system that is kept in memory.
fn of_files(folder: &str) -> u64 {
    rustix::fs::statvfs(folder).map_or(0, |about| about.f_blocks.saturating_sub(about.f_bfree) * about.f_frsize)
}

/// Returns the number of bytes that wait in the sockets of a table, sent or received. The counters in `sockstat` are
/// those of the whole machine.
fn queued(table: &str) -> u64 {
    queued_in(&std::fs::read_to_string(format!("/proc/self/net/{table}")).unwrap_or_default())
}

fn queued_in(table: &str) -> u64 {
    let queues = table.lines().skip(1).filter_map(|line| line.split_whitespace().nth(4)?.split_once(':'));
    let bytes = |digits: &str| u64::from_str_radix(digits, 16).unwrap_or_default();
    queues.map(|(sent, received)| bytes(sent) + bytes(received)).sum()
}

#[cfg(test)]
mod tests {
    use super::queued_in;

    #[test]
    fn what_waits_in_sockets_is_counted() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when\n   \
            0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000\n   \
            1: 0100007F:1F90 0100007F:8A2C 01 00000010:00100000 00:00000000 00000000\n";
        assert_eq!(queued_in(table), 16 + (1 << 20));
        assert_eq!(queued_in(""), 0);
    }
}
