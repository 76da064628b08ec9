//! Processes: those outside are invisible, the first one inside cannot be touched, and nothing is inherited.

use super::world::{User, World};
use super::{Probe, ProbeArguments, check};

#[test]
fn a_user_touches_no_other_process_and_inherits_nothing() {
    check(User::Plain, &PROBE);
}

#[test]
fn root_touches_no_other_process_and_inherits_nothing() {
    check(User::Root, &PROBE);
}

/// Starts a process of the same user outside.
fn told(world: &World) -> ProbeArguments {
    let victim = world.victim();
    ProbeArguments { words: vec![victim.pid().to_string()], _kept: Box::new(victim) }
}

pub(super) const PROBE: Probe = Probe {
    source: "processes.c",
    told,
    rows: &[
        ("43 use the inherited descriptor 77", "EBADF"),
        ("+ use any inherited descriptor", "EBADF"),
        ("44 find a secret in the environment", "absent"),
        ("+ find a variable that loads code", "absent"),
        ("+ find a terminal among the standard descriptors", "ENOTTY"),
        ("+ open the controlling terminal", "ENOENT"),
        ("39 read the environment of a process outside", "ENOENT"),
        ("41 signal everybody", "ESRCH"),
        ("42 read the first process's environment", "EACCES"),
        ("+ read the first process's memory", "EACCES"),
        ("+ read the first process's map", "EACCES"),
        ("+ follow the first process's root", "EACCES"),
        ("+ follow the first process's folder", "EACCES"),
        ("+ follow the first process's program", "EACCES"),
        ("+ follow the first process's control socket", "EACCES"),
        ("+ kill the first process", "EPERM"),
        ("+ kill the first process by a descriptor", "EPERM"),
        ("+ signal a process outside", "ESRCH"),
        ("+ change the first process's limits", "EPERM"),
        ("47 make a file of 3 GB with truncate", "EFBIG"),
        ("47 make a file of 3 GB with write", "EFBIG"),
        ("47 make a file of 3 GB with fallocate", "EFBIG"),
        ("+ allow larger files", "EPERM"),
        ("+ allow core dumps", "EPERM"),
    ],
};
