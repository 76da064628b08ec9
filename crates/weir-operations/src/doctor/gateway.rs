//! The servers behind Weir, without starting any.

use weir_context::Context;
use weir_core::wording::counted;
use weir_gateway::entries::{Entries, Launch};
use weir_gateway::lists;
use weir_host::env::Paths;

use super::Check;

const NAME: &str = "servers behind Weir";

/// Checks that the entries can be used, and names the tools that have changed.
pub(super) fn check(context: &Context) -> Vec<Check> {
    let entries = match Entries::read(context.paths()) {
        Ok(entries) => entries,
        Err(error) => return vec![Check::wrong(NAME, error.message, error.hints.join("; "))],
    };
    if entries.servers.is_empty() {
        return Vec::new();
    }
    let names = entries.servers.keys().cloned().collect::<Vec<_>>().join(", ");
    let mut checks = vec![Check::good(NAME, format!("{names}; `weir servers test` starts them"))];
    checks.extend(entries.servers.iter().filter_map(|(name, entry)| match &entry.launch {
        Launch::Program { command, .. } if command.contains('/') && !std::path::Path::new(command).exists() => {
            let hint = format!("correct it with `weir servers remove {name}` and `weir servers add {name}`");
            Some(Check::wrong(NAME, format!("{name}: there is no program {command}"), hint))
        }
        _ => None,
    }));
    checks.extend(changed(context.paths(), &entries));
    checks
}

fn changed(paths: &Paths, entries: &Entries) -> Vec<Check> {
    let of_server = |name: &str, list: &lists::StoredList| {
        let count = list.tools.iter().filter(|tool| list.changed(tool).is_some()).count();
        let text = format!("{name}: {} changed since you knew it", counted(count, "tool has", "tools have"));
        (count > 0).then(|| Check::remark(NAME, format!("{text}; `weir servers test {name}` names them")))
    };
    let known = entries.servers.iter().filter_map(|(name, entry)| Some((name, lists::read(paths, name, entry)?)));
    known.filter_map(|(name, list)| of_server(name, &list)).collect()
}
