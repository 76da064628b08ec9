//! JVM thread dumps: the states of threads, which threads wait for which, and deadlocks.

use std::collections::BTreeMap;

use super::java::{is_frame, is_own};
use crate::kinds::shared::counts::Tally;
use crate::text::{clip, count, starts};
use crate::{Item, Line, Page, Part, Weight};

const MAX_GROUPS: usize = 2_000;
/// The maximum number of lines kept about deadlocks.
const MAX_DEADLOCK_LINES: usize = 40;

/// The threads of one or several dumps.
#[derive(Default)]
pub(super) struct Threads {
    dumps: u64,
    count: u64,
    states: Tally,
    groups: BTreeMap<String, ThreadGroup>,
    /// The holder of each lock, by the number of the dump and the address.
    holders: BTreeMap<(u64, String), String>,
    now: Option<Thread>,
    /// The threads that used the most CPU time, in milliseconds.
    busy: Vec<(f64, Item)>,
    deadlock: Vec<(u64, String)>,
    deadlocks: u64,
    in_deadlock: bool,
}

#[derive(Default)]
struct Thread {
    line: u64,
    name: String,
    state: String,
    cpu: Option<f64>,
    frames: Vec<String>,
    own: Vec<String>,
    waits: Option<String>,
    /// The lock that it gave up while it waits to be notified. It is still listed as locked.
    released: String,
}

struct ThreadGroup {
    count: u64,
    dump: u64,
    line: u64,
    first: String,
    last: String,
    state: String,
    frames: String,
    waits: Option<String>,
}

impl Threads {
    pub(super) fn is_empty(&self) -> bool {
        self.dumps == 0 && self.count == 0 && self.now.is_none()
    }

    pub(super) fn take(&mut self, line: &Line<'_>) -> bool {
        let text = line.text;
        if text.starts_with("Full thread dump ") {
            self.end_thread();
            self.dumps += 1;
            self.in_deadlock = false;
            return true;
        }
        if text.starts_with("Found ") && text.contains("deadlock") {
            self.end_thread();
            self.in_deadlock = true;
            if text.ends_with(':') {
                self.deadlocks += 1;
            }
        }
        if self.in_deadlock {
            return self.in_deadlock(line);
        }
        if let Some(rest) = text.strip_prefix('"') {
            self.begin_thread(line.number, rest);
            return true;
        }
        if text.starts_with(['\t', ' ']) {
            self.detail(text.trim());
            return true;
        }
        text.is_empty() || starts(text, &["0x", "}", "JNI ", "Threads class", "_java_thread_list", "Heap", "Locked"])
    }

    fn in_deadlock(&mut self, line: &Line<'_>) -> bool {
        let text = line.text;
        let belongs = text.is_empty()
            || text.starts_with([' ', '\t', '"', '='])
            || text.starts_with("Found ")
            || text.starts_with("Java stack information");
        let told = !text.is_empty() && !text.starts_with('=') && !text.starts_with("Java stack");
        let library = is_frame(text.trim_start()) && !is_own(text.trim_start());
        if belongs && told && !library && self.deadlock.len() < MAX_DEADLOCK_LINES {
            self.deadlock.push((line.number, clip(text.trim_end(), 240)));
        }
        belongs
    }

    /// Parses `"main" #1 prio=5 os_prio=0 cpu=123.48ms elapsed=3.29s tid=… nid=… waiting on condition [0x…]`.
    fn begin_thread(&mut self, line: u64, rest: &str) {
        self.end_thread();
        let (name, rest) = rest.split_once('"').unwrap_or((rest, ""));
        let cpu = rest.split_once(" cpu=").and_then(|(_, cpu)| {
            let end = cpu.find("ms")?;
            cpu[..end].parse().ok()
        });
        self.now = Some(Thread { line, name: clip(name, 120), cpu, ..Thread::default() });
    }

    fn detail(&mut self, text: &str) {
        let Some(thread) = &mut self.now else { return };
        if let Some(state) = text.strip_prefix("java.lang.Thread.State: ") {
            thread.state = clip(state.split(' ').next().unwrap_or(state), 40);
        } else if is_frame(text) {
            // Of library frames, those called by the user's own code matter; how they wait does not.
            if is_own(text) {
                if thread.own.len() < 3 {
                    thread.own.push(clip(text, 200));
                }
            } else if thread.own.is_empty() && !is_waiting(text) && thread.frames.len() < 16 {
                thread.frames.push(clip(text, 200));
            }
        } else if let Some(lock) = text.strip_prefix("- ") {
            let Some((what, rest)) = lock.split_once('<') else { return };
            let Some((address, rest)) = rest.split_once('>') else { return };
            let waiting = what.starts_with("waiting to lock") || what.starts_with("parking to wait for");
            if waiting {
                thread.waits.get_or_insert(clip(&format!("{address}{rest}"), 160));
            } else if what.starts_with("waiting on") {
                thread.released = clip(address, 40);
            } else if (what.starts_with("locked") || what.is_empty())
                && thread.released != address
                && self.holders.len() < MAX_GROUPS
            {
                self.holders.insert((self.dumps, clip(address, 40)), thread.name.clone());
            }
        }
    }

    fn end_thread(&mut self) {
        let Some(thread) = self.now.take() else { return };
        self.count += 1;
        // Threads of the virtual machine itself have no state.
        let state = if thread.state.is_empty() { "(no Java state)".to_owned() } else { thread.state };
        self.states.add(&state);
        let called = if thread.own.is_empty() { thread.frames.first() } else { thread.frames.last() };
        let frames: Vec<&str> = called.into_iter().chain(thread.own.first()).map(String::as_str).collect();
        let frames = frames.join(" < ");
        if let Some(cpu) = thread.cpu.filter(|_| !thread.own.is_empty()) {
            let text = format!("\"{}\" cpu={cpu}ms {state} {}", thread.name, thread.own.join(" < "));
            self.busy.push((cpu, Item::at(thread.line, text)));
            self.busy.sort_by(|one, two| two.0.total_cmp(&one.0));
            self.busy.truncate(3);
        }
        let pool = thread.name.trim_end_matches(|c: char| c.is_ascii_digit());
        // Threads without Java frames are all alike.
        let pool = if frames.is_empty() { "" } else { pool };
        let key = format!("{pool}\n{state}\n{frames}");
        if let Some(group) = self.groups.get_mut(&key) {
            group.count += 1;
            group.last = thread.name;
        } else if self.groups.len() < MAX_GROUPS {
            let Thread { line, name, waits, .. } = thread;
            let (dump, first) = (self.dumps, name.clone());
            self.groups.insert(key, ThreadGroup { count: 1, dump, line, first, last: name, state, frames, waits });
        }
    }

    pub(super) fn page(mut self) -> Page {
        self.end_thread();
        let dumps = if self.dumps > 1 { format!(" in {} dumps", self.dumps) } else { String::new() };
        let mut page = Page::new(format!(
            "java thread dump: {}{dumps}, {}",
            count(self.count, "thread", "threads"),
            count(self.deadlocks, "deadlock", "deadlocks")
        ));
        if let Some((first, _)) = self.deadlock.first() {
            let lines: Vec<&str> = self.deadlock.iter().map(|(_, text)| text.as_str()).collect();
            let brief = lines.iter().take(7).copied().collect::<Vec<_>>().join("\n");
            let item = Item::at(*first, lines.join("\n")).or(brief);
            page.push(Part::new("deadlock", Weight::Failure, vec![item]).of(self.deadlocks.max(1)));
        }
        page.push(Part::new("threads by state", Weight::Fact, vec![Item::plain(self.states.listed())]));
        let busy = self.busy.into_iter().map(|busy| busy.1).collect();
        page.push(Part::new("most processor time in own code", Weight::Fact, busy));
        let mut groups: Vec<ThreadGroup> = self.groups.into_values().collect();
        groups.sort_by_key(|group| (group.state != "BLOCKED", u64::MAX - group.count, group.line));
        let total = groups.len() as u64;
        let items = groups.into_iter().take(80).map(|group| item(&group, &self.holders)).collect();
        page.push(Part::new("threads by name, state and frame", Weight::Fact, items).of(total));
        page
    }
}

fn is_waiting(text: &str) -> bool {
    const WAITS: [&str; 5] = [
        "jdk.internal.misc.Unsafe.park",
        "sun.misc.Unsafe.park",
        "java.util.concurrent.locks.",
        "java.util.concurrent.ForkJoinPool.managedBlock",
        "java.util.concurrent.ForkJoinPool.unmanagedBlock",
    ];
    let name = text.strip_prefix("at ").unwrap_or(text);
    let name = name.strip_prefix("java.base/").unwrap_or(name);
    WAITS.iter().any(|start| name.starts_with(start))
}

fn item(group: &ThreadGroup, holders: &BTreeMap<(u64, String), String>) -> Item {
    let ThreadGroup { count, dump, line, first, last, state, frames, waits } = group;
    let names = if *count > 1 { format!("×{count} \"{first}\" … \"{last}\"") } else { format!("\"{first}\"") };
    let mut text = format!("{names} {state} {frames}");
    if let Some(waits) = waits {
        let address = waits.split([' ', '>']).next().unwrap_or_default();
        let holder = holders.get(&(*dump, address.to_owned())).filter(|holder| *holder != first);
        text.push_str(&match holder {
            Some(holder) => format!(", waits for {waits} held by \"{holder}\""),
            None => String::new(),
        });
    }
    Item::at(*line, text)
}
