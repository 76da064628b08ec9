//! Landlock: rules in the kernel on what a process may do with files. A process can only make its own rules stricter.

use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access as _, AccessFs, BitFlags, CompatLevel, Compatible as _, PathBeneath, Ruleset, RulesetAttr as _,
    RulesetCreatedAttr as _, RulesetError, RulesetStatus, Scope, path_beneath_rules,
};
use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};

use crate::Spec;

/// The newest rights we know of; an older kernel applies the subset it supports.
const RIGHTS: ABI = ABI::V6;

/// The oldest rights that suffice without namespaces (Linux 6.2): earlier ones do not prevent truncating files outside.
const NEEDED: ABI = ABI::V3;

#[expect(unsafe_code, reason = "no library says the version")]
pub fn landlock_version() -> std::io::Result<u32> {
    const ASK_VERSION: u32 = 1;
    // SAFETY: with this flag the call reads no memory and returns a number.
    let version = unsafe {
        libc::syscall(libc::SYS_landlock_create_ruleset, std::ptr::null::<libc::c_void>(), 0usize, ASK_VERSION)
    };
    u32::try_from(version).map_err(|_| std::io::Error::last_os_error())
}

/// Restricts writing as a second line of defence: with namespaces, the view already decides what can be accessed.
pub(super) fn restrict_writes(spec: &Spec) -> Result<(), RulesetError> {
    let write = AccessFs::from_write(RIGHTS);
    let own = ["/tmp", "/dev"].map(PathBuf::from);
    Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(write)?
        .scope(Scope::AbstractUnixSocket | Scope::Signal)?
        .create()?
        .add_rules(path_beneath_rules(spec.writable.iter().chain(&own), write))?
        .restrict_self()
        .map(drop)
}

/// Restricts reading and writing where there are no namespaces, so this is the only line of defence.
///
/// Rules can grant access but never remove it, so a folder with something hidden below it is granted child by child. A
/// rule on a symbolic link would grant its target, so links get no rule.
///
/// The documentation lists the remaining gaps. Above all, the names in a hidden folder can be listed, and new files
/// next to a hidden one cannot be opened. A kernel without the rights of [`NEEDED`] is an error, since the rules would
/// not protect anything.
pub(super) fn restrict_all(spec: &Spec) -> Result<(), String> {
    let version = landlock_version().map_err(|error| format!("this kernel does not provide Landlock: {error}"))?;
    if version < NEEDED as u32 {
        return Err(format!("Landlock version {version} cannot prevent truncating files; Linux 6.2 or later can"));
    }
    match restrict(spec).map_err(|error| error.to_string())? {
        RulesetStatus::NotEnforced => Err("the kernel did not enforce the rules".to_owned()),
        RulesetStatus::FullyEnforced | RulesetStatus::PartiallyEnforced => Ok(()),
    }
}

fn restrict(spec: &Spec) -> Result<RulesetStatus, RulesetError> {
    let all = AccessFs::from_all(RIGHTS);
    let read = AccessFs::from_read(RIGHTS);
    let hidden: Vec<&Path> = spec.hidden.iter().chain(&spec.programs).map(PathBuf::as_path).collect();
    // Reading a terminal would read what the user types into it.
    let covered = spec.covered.iter().map(PathBuf::as_path).chain([Path::new("/dev")]);
    let mut grants = Vec::new();
    grant(Path::new("/"), &hidden.iter().copied().chain(covered).collect::<Vec<_>>(), read, &mut grants);
    // Paths outside covered folders are granted already.
    let within = |path: &&PathBuf| spec.covered.iter().any(|folder| path.starts_with(folder));
    for path in spec.visible.iter().filter(within) {
        grant(path, &hidden, read, &mut grants);
    }
    let denied: Vec<&Path> = hidden.iter().copied().chain(spec.read_only.iter().map(PathBuf::as_path)).collect();
    for root in spec.writable.iter().chain(&spec.scratch) {
        grant(root, &denied, all, &mut grants);
    }
    grants.extend(["/dev/null", "/dev/zero", "/dev/full"].map(|device| (PathBuf::from(device), all)));
    grants.extend(["/dev/random", "/dev/urandom", "/dev/shm"].map(|path| (PathBuf::from(path), read)));
    let mut ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(NEEDED))?
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(all)?
        .scope(Scope::AbstractUnixSocket | Scope::Signal)?
        .create()?;
    for (path, access) in grants {
        // Skip paths that cannot be opened, or that have become symbolic links since they were listed.
        let flags = OFlags::PATH | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let Ok(opened) = openat2(CWD, &path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS) else { continue };
        let access = if path.is_dir() { access } else { access & AccessFs::from_file(RIGHTS) };
        ruleset = ruleset.add_rule(PathBeneath::new(opened, access))?;
    }
    Ok(ruleset.restrict_self()?.ruleset)
}

/// Grants access to a path or, if something below it is denied, to everything around the denied paths.
fn grant(path: &Path, denied: &[&Path], access: BitFlags<AccessFs>, grants: &mut Vec<(PathBuf, BitFlags<AccessFs>)>) {
    if denied.contains(&path) {
        return;
    }
    if !denied.iter().any(|denied| denied.starts_with(path)) {
        grants.push((path.to_owned(), access));
        return;
    }
    // The folder itself can be listed and, if it is writable, new folders can be created in it. No file can be created
    // in it, and nothing moved or removed: a denied path could otherwise get another name, which the next run would not
    // know.
    let names = AccessFs::RemoveFile | AccessFs::RemoveDir | AccessFs::Refer | AccessFs::MakeReg;
    grants.push((path.to_owned(), access & !AccessFs::from_file(RIGHTS) & !names));
    for entry in std::fs::read_dir(path).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| !kind.is_symlink()) {
            grant(&entry.path(), denied, access, grants);
        }
    }
}
