//! Applies the user's rules to a run: whether it is allowed, and what it may not see or change.
//!
//! The rules are read for every run, so a change takes effect immediately.

use std::ffi::OsStr;
use std::os::unix::fs::{DirEntryExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::MutexGuard;
use std::time::SystemTime;

use weir_policy::judge::{Judgement, judge, judge_tool};
use weir_policy::masks::{self, Nearest, Places, Tree};
use weir_policy::rules::{Own, Platform, Rules, Source, Verdict, locations};
use weir_store::private;

use super::Order;
use super::place::{search_path, writable};
use crate::context::Context;
use crate::error::{CommandError, ErrorKind};
use crate::foreign;
use crate::own;

/// The name under which clients know the tool that runs code.
const TOOL: &str = "mcp__weir__ctx_execute";
/// Where programs are even if `PATH` does not list the folder.
const USUAL: [&str; 6] = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];

/// How many files are searched for secrets to hide if the project contains the home folder, which is itself hidden.
/// User rules that apply at any depth are applied at any depth, and take the time that needs.
const NEAREST: usize = 20_000;

/// Returns the verdict of the rules on a request.
pub(crate) fn verdict(context: &Context, order: &Order) -> Judgement {
    let rules = read(context);
    let script = match order.language.name {
        "shell" => order.code.as_str(),
        // Code in another language counts as a use of its runtime; the masks confine what it starts.
        _ => order.language.runtimes.first().map_or(order.language.name, |runtime| runtime.program),
    };
    let (tool, mut script) = (judge_tool(&rules, TOOL), judge(&rules, script));
    if order.language.name != "shell" {
        script.reasons.retain(|reason| reason.rule.is_some());
    }
    let reasons: Vec<_> = tool.reasons.into_iter().chain(script.reasons).collect();
    Judgement { verdict: reasons.iter().map(|reason| reason.verdict).max().unwrap_or(Verdict::Allow), reasons }
}

/// Permits a run, or returns why it is not allowed.
pub(super) async fn permit(context: &Context, order: &Order) -> Result<(), CommandError> {
    let judgement = verdict(context, order);
    let why = || {
        let mut strict: Vec<_> =
            judgement.reasons.iter().filter(|reason| reason.verdict == judgement.verdict).collect();
        strict.truncate(3);
        strict.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
    };
    match judgement.verdict {
        Verdict::Allow => Ok(()),
        Verdict::Deny => Err(CommandError::new(ErrorKind::Denied, format!("nothing was run. {}", why()))
            .hint("blocked by a user rule; do not retry with a different spelling")),
        Verdict::Ask if context.consent(&format!("{} {}", question(context, order), why()), &order.code).await? => {
            Ok(())
        }
        Verdict::Ask => Err(CommandError::new(ErrorKind::Denied, format!("nothing was run. {}", why()))
            .hint("the user could not be asked or declined; write it more simply, or ask the user to allow it")),
    }
}

/// Returns the question about a request, with everything that is not in its code.
fn question(context: &Context, order: &Order) -> String {
    let language = Some(order.language.name).filter(|name| *name != "shell").map(|name| format!(" as {name}"));
    let file = order.file.as_ref().map(|file| format!(" on {}", file.display()));
    let folder = Some(&order.folder).filter(|folder| **folder != context.env().folder);
    let folder = folder.map(|folder| format!(" in {}", folder.display()));
    let details: String = [language, file, folder].into_iter().flatten().collect();
    format!("Run it{details}?")
}

/// The masks of a run: what it may not see or change.
pub(super) struct Masks {
    pub(super) hidden: Vec<PathBuf>,
    pub(super) read_only: Vec<PathBuf>,
    pub(super) programs: Vec<PathBuf>,
    /// A remark for the caller.
    pub(super) remark: Option<String>,
}

/// Determines what a run may not see or change.
pub(super) fn masks(context: &Context, folder: &Path) -> Result<Masks, CommandError> {
    let (rules, places) = (read(context), places(context, folder));
    let mut tree = tree(context);
    tree.look_at_nearest(own::holds_home(context).then(|| Nearest {
        most: NEAREST,
        // A run may see these folders, although they are in a home folder.
        whole: vec![folder.to_owned(), foreign::resolved(&context.env().folder)],
    }));
    let found = masks::Masks::expand(&mut tree, &rules, &places, SystemTime::now());
    drop(tree);
    if let Some(problem) = found.problems.iter().find(|problem| problem.refuse) {
        return Err(CommandError::new(ErrorKind::Denied, format!("{}: {}", problem.path.display(), problem.wrong))
            .hint("nothing was run, because something that the rules hide could not be hidden"));
    }
    let mut hidden = found.hidden;
    // The output of other runs is available through `ctx_get`, which checks who may see it.
    hidden.extend(context.paths().data.canonicalize());
    let mut read_only = found.read_only;
    read_only.extend(own_places(context));
    let programs = found.programs.iter().flat_map(|name| binaries(name, &search_path(context))).collect();
    let remark = found.left_out.then(|| {
        let root = context.project().root.display();
        format!("files named like secrets are hidden only among the {NEAREST} nearest to {root}")
    });
    Ok(Masks { hidden, read_only, programs, remark })
}

/// Returns the folders that path patterns are relative to.
pub(super) fn places(context: &Context, folder: &Path) -> Places {
    Places {
        home: context.env().home.clone().unwrap_or_else(|| "/".into()),
        project: context.project().root.clone(),
        folder: folder.to_owned(),
    }
}

/// Returns Weir's own folders, which a run could otherwise change if they are inside a folder that it may write, as
/// with dotfiles. Missing folders are created, since only existing ones can be protected.
fn own_places(context: &Context) -> Vec<PathBuf> {
    let writable = writable(context);
    let folders = [context.paths().config.parent(), Some(context.paths().data.as_path())];
    let is_inside = |folder: &&Path| writable.iter().any(|root| foreign::resolved(folder).starts_with(root));
    let inside = folders.into_iter().flatten().filter(is_inside);
    inside.filter_map(|folder| private::folder(folder).and_then(|()| folder.canonicalize()).ok()).collect()
}

/// Reads the rules of the user's clients and Weir's own.
pub(crate) fn read(context: &Context) -> Rules {
    let home = context.env().home.clone().unwrap_or_else(|| "/".into());
    let root = &context.project().root;
    let platform = match std::env::consts::OS {
        "macos" => Platform::MacOs,
        "windows" => Platform::Windows,
        _ => Platform::Linux,
    };
    let (mut sources, mut unread, mut trusted) = (Vec::new(), Vec::new(), Vec::new());
    for (path, base, kind) in locations(&home, root, platform) {
        let real = path.canonicalize().ok();
        if kind.may_widen() {
            trusted.extend(real.clone());
        }
        // In the home folder, the project's settings are the user's own, and may be a link.
        let read = match path.strip_prefix(root) {
            Ok(name) if real.is_none_or(|real| !trusted.contains(&real)) => {
                foreign::below(root, name, foreign::SETTINGS)
            }
            _ => foreign::of_user(&path, foreign::SETTINGS),
        };
        match read {
            Ok(bytes) => {
                sources.push(Source { text: String::from_utf8_lossy(&bytes).into_owned(), path, base, kind });
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => unread.push((path, error.to_string())),
        }
    }
    let own = &context.config().policy;
    let own = Own {
        path: context.paths().config.clone(),
        base: root.clone(),
        deny: own.deny.clone(),
        ask: own.ask.clone(),
        allow: own.allow.clone(),
        readable: context.config().run.readable.clone(),
    };
    let mut rules = Rules::read(&sources, &own);
    unread.iter().for_each(|(path, why)| rules.add_unreadable(path, why));
    rules
}

/// Returns every file that starts a program of this name, including hard links next to it.
fn binaries(name: &str, path: &OsStr) -> Vec<PathBuf> {
    let folders = std::env::split_paths(path).chain(USUAL.iter().map(PathBuf::from));
    let mut found: Vec<PathBuf> = folders.filter_map(|folder| folder.join(name).canonicalize().ok()).collect();
    let mut others = Vec::new();
    for binary in &found {
        let (Ok(about), Some(folder)) = (binary.metadata(), binary.parent()) else { continue };
        if about.nlink() > 1 {
            let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
            // A directory listing already contains the inode numbers.
            let same = entries.filter(|entry| entry.ino() == about.ino());
            others.extend(same.map(|entry| entry.path()));
        }
    }
    found.extend(others);
    found.sort();
    found.dedup();
    found
}

pub(super) fn tree(context: &Context) -> MutexGuard<'_, Tree> {
    context.running().tree()
}

pub(super) fn too_large(error: masks::TreeError) -> CommandError {
    CommandError::new(ErrorKind::Denied, format!("cannot scan the project: {error}"))
        .hint("nothing was run, because nothing in it could be hidden; run from a smaller folder")
}
