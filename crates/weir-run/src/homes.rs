//! Decides what a run sees of home folders: the toolchains it needs, what belongs to the project, and the file it is
//! about.

use std::path::{Path, PathBuf};

use weir_context::Context;
use weir_context::permission;
use weir_host::answer::one_line;
use weir_host::config::Sandbox;
use weir_host::error::{CommandError, ErrorKind};
use weir_host::face::Face;
use weir_host::os;
use weir_policy::masks::{Homes, Requirements};
use weir_policy::rules::Rules;
use weir_policy::user_paths::UserPaths;
use weir_runner::runtimes::Found;

use super::environment::{from_home, search_path};
use super::{RunRequest, masks};

/// Variables of runs that describe a person, not a toolchain.
const PERSONAL: &[&str] = &["PATH", "HOME", "USER", "LOGNAME", "SHELL"];

/// Decides what a run sees of home folders. What is in a folder that runs may change is shown with it, and nothing in
/// such a folder decides what else is shown: not a link in `PATH`, and not one behind a variable.
pub(super) fn seen(context: &Context, rules: &Rules, order: &RunRequest, found: &Found, writable: &[PathBuf]) -> Homes {
    let mut of_user = UserPaths::new(writable.to_vec(), os::trusted_owners(context.env().home.as_deref()));
    let mut find = |path: PathBuf| of_user.find(&path).ok();
    let folders = std::env::split_paths(&search_path(context)).collect::<Vec<_>>();
    let started = links(&found.program).filter_map(|program| program.parent().map(Path::to_owned));
    let programs = folders.into_iter().chain(started).filter_map(&mut find).collect();
    let has_stand_ins = !context.config().run.brokered.is_empty() || context.session().tools().is_some();
    // Its folder is not shown if that is a whole home folder.
    let mut paths = vec![found.program.clone()];
    let toolchains = context.env().for_runs().filter(|(name, _)| !PERSONAL.iter().any(|other| name == *other));
    paths.extend(toolchains.flat_map(|(_, value)| std::env::split_paths(value)).filter(|path| path.is_absolute()));
    paths.extend(std::env::current_exe().ok().filter(|_| has_stand_ins));
    paths.extend(context.project().git_folders().map(Path::to_owned));
    if permission::holds_home(context) {
        // The project is all of the home, and as such not shown. Where the client was started, it may look around.
        paths.push(context.env().folder.clone());
    }
    let paths = paths.into_iter().filter_map(find).collect();
    Homes::of(rules, &masks::places(context, &order.folder), &Requirements { programs, paths }, &mut of_user)
}

/// Returns a program and each link on the way to its file, all of which must be visible for it to start.
fn links(program: &Path) -> impl Iterator<Item = PathBuf> {
    // As many as the kernel follows.
    const MAX_LINKS: usize = 40;
    let next = |path: &PathBuf| Some(path.parent()?.join(std::fs::read_link(path).ok()?));
    std::iter::successors(Some(program.to_owned()), next).take(1 + MAX_LINKS)
}

/// Returns an error if a run cannot start in its folder. The parents of visible folders exist, but contain nothing
/// else.
pub(super) fn check_folder(
    context: &Context,
    homes: &Homes,
    writable: &[PathBuf],
    folder: &Path,
) -> Result<(), CommandError> {
    let mut seen = homes.shown.iter().chain(writable);
    let is_there = homes.covered.iter().any(|covered| covered == folder)
        || seen.any(|seen| folder.starts_with(seen) || seen.starts_with(folder));
    if is_there || homes.shows(folder) {
        return Ok(());
    }
    let why = "it is in a home folder outside the project, where runs see only toolchains";
    let message = format!("nothing was run: cannot start in {}: {why}", folder.display());
    Err(CommandError::new(ErrorKind::Denied, message).hint(way_to_read(context.face())))
}

/// Returns an error if a file cannot be passed to a run.
pub(super) fn check_file(
    context: &Context,
    homes: &Homes,
    writable: &[PathBuf],
    file: &Path,
) -> Result<(), CommandError> {
    let refused = |why: &str| {
        let message = format!("nothing was run: cannot give {} to a run: {why}", file.display());
        CommandError::new(ErrorKind::Denied, message)
    };
    if let Some(why) = permission::gate(context).refuses(file) {
        let hint = context.face().word(
            "add it to `readable` in [run] of the configuration to allow it",
            "do not work around this; the user can add it to `readable`",
        );
        return Err(refused(why.as_str()).hint(hint));
    }
    if !permission::gate(context).reaches(file) {
        return Err(refused("it is outside the project, and no user rule allows it").hint(way_to_read(context.face())));
    }
    let is_seen = homes.shows(file) || writable.iter().any(|folder| file.starts_with(folder));
    // A person at a terminal may use their own files.
    if !is_seen && !context.face().is_person() {
        return Err(refused("it is in a home folder outside the project").hint(way_to_read(context.face())));
    }
    Ok(())
}

/// Names a path in the code that exists but is hidden, since to the run it seems not to exist. Without a sandbox, a run
/// sees everything.
pub(super) fn remark(context: &Context, homes: &Homes, writable: &[PathBuf], order: &RunRequest) -> Option<String> {
    const MAX_WORDS: usize = 500;
    if context.config().sandbox == Sandbox::Off {
        return None;
    }
    let home = context.env().home.as_deref()?.to_str()?;
    let words = order.code.split(|c: char| c.is_whitespace() || "'\"`;|&()<>=,$".contains(c)).take(MAX_WORDS);
    let paths = words.filter(|word| word.starts_with("~/") || word.starts_with("../") || word.starts_with(home));
    let hidden = paths.filter_map(|word| {
        let path = order.folder.join(from_home(word, Some(Path::new(home)))).canonicalize().ok()?;
        let is_seen = homes.shows(&path) || writable.iter().any(|folder| path.starts_with(folder));
        (!is_seen && !homes.covered.contains(&path)).then_some(path)
    });
    let first = hidden.into_iter().next()?;
    let name = one_line(&first.display().to_string(), 120);
    let way = way_to_read(context.face());
    Some(format!("{name} is hidden from runs: it is in a home folder outside the project ({way})"))
}

/// Says how to make more visible.
fn way_to_read(face: Face) -> &'static str {
    face.word(
        "add it to `readable` in [run] of the configuration, see docs/sandbox.md",
        "the user can add it to `readable` in the configuration, see docs/sandbox.md",
    )
}
