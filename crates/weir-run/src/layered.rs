//! Runs on a layer: nothing that such a run writes is live before it has ended and every change has been judged.
//!
//! Invariants: a run that must have a layer never runs without one; what is held back and what is in conflict is kept
//! where the remarks say.

mod words;

use std::path::{Path, PathBuf};

use serde_json::json;
use weir_context::Context;
use weir_core::run::Ended;
use weir_host::answer::Answer;
use weir_host::config::LayerUse;
use weir_host::diff;
use weir_host::env::Paths;
use weir_host::error::{CommandError, ErrorKind};
use weir_layer::{Change, ChangeKind, Layer, LayerError, Verdict, What};
use weir_policy::audit::{self, FileFacts, Kind};
use weir_runner::{Level, Outcome, Overlay, Problem};

use super::environment::RunEnvironment;
use super::unfinished::Quarantine;
use super::{RunOptions, RunRequest};
use words::{applied, recovered, summary, undone};

/// The folder of layers below the data folder.
const FOLDER: &str = "layers";
/// The maximum size of what a run replaced and [`undo`] can bring back, in bytes.
const MAX_UNDO_BYTES: u64 = 1 << 30;
/// The maximum size of a file whose difference is shown, in bytes.
const MAX_DIFF_BYTES: u64 = 1 << 20;

/// What is asked of a run with regard to layers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LayerWish {
    #[default]
    Configured,
    /// A layer, or no run.
    Layer,
    Direct,
    /// A layer, or no run. Its changes are shown and dropped.
    Dry,
}

pub(super) struct RunLayer {
    layer: Layer,
    /// Whether there is no run without the layer.
    is_required: bool,
    /// Whether the changes are only shown.
    is_dry: bool,
}

/// What became of the changes of a run.
#[derive(Default)]
pub(super) struct LayerEnd {
    pub(super) remarks: Vec<String>,
    /// The changes of a dry run.
    pub(super) diff: Option<String>,
}

impl LayerEnd {
    fn of(remark: String) -> Self {
        Self { remarks: vec![remark], diff: None }
    }
}

impl RunLayer {
    /// Makes the layer that a run is to have, and puts it into the run's spec.
    pub(super) fn begin(
        context: &Context,
        order: &RunRequest,
        how: &RunOptions<'_>,
        place: &mut RunEnvironment,
    ) -> Result<Option<Self>, CommandError> {
        let is_waited_for = how.tee.is_none();
        let is_required = match (order.layer, context.config().run.layer) {
            (LayerWish::Layer | LayerWish::Dry, _) => true,
            (LayerWish::Configured, LayerUse::On) if is_waited_for => true,
            (LayerWish::Configured, LayerUse::Auto) if is_waited_for && !context.face().is_person() => false,
            _ => return Ok(None),
        };
        let is_dry = order.layer == LayerWish::Dry;
        match make(context, place) {
            Ok(layer) => Ok(Some(Self { layer, is_required, is_dry })),
            Err(why) if is_required => Err(unavailable(&why)),
            Err(why) => {
                place.remarks.push(without(&why));
                Ok(None)
            }
        }
    }

    /// Gives the layer up because it cannot be mounted. The run can go on without one unless it needs it.
    pub(super) fn give_up(self, problem: &Problem, place: &mut RunEnvironment) -> Result<(), CommandError> {
        let why = format!("cannot {}: {}", problem.step, problem.why);
        let is_required = self.is_required;
        self.discard();
        if is_required {
            return Err(unavailable(&why));
        }
        place.spec.overlay = None;
        place.remarks.push(without(&why));
        Ok(())
    }

    /// Drops the layer of a run that did not start. If that fails, the next command does it.
    pub(super) fn discard(self) {
        let _ = self.layer.discard();
    }

    /// Judges and applies what the run wrote, or shows it if the run was dry.
    pub(super) fn end(self, context: &Context, outcome: &Outcome) -> LayerEnd {
        if self.is_dry {
            return self.show();
        }
        if matches!(outcome.ended, Ended::Unmasked | Ended::Lost) {
            self.discard();
            return LayerEnd::of("nothing that it wrote was applied to the project".to_owned());
        }
        let quarantine = Quarantine::of(context);
        let root = &context.project().root;
        let mut judge = Judge::new(&self.layer, context);
        let done = match self.layer.apply(quarantine.folder(), MAX_UNDO_BYTES, &mut |change| judge.decide(change)) {
            Ok(done) => done,
            Err(error) => {
                return LayerEnd::of(format!("what it wrote was not applied to the project: {error}; run it again"));
            }
        };
        let mut remarks = applied(&done, root, context.face().is_person());
        let acted_on = audit::summary(&judge.acted_on, words::shown);
        remarks.extend(acted_on.map(|files| format!("other programs run or act on: {files}")));
        LayerEnd { remarks, diff: None }
    }

    fn show(self) -> LayerEnd {
        let changes = match self.layer.changes() {
            Ok(changes) => changes,
            Err(error) => {
                self.discard();
                return LayerEnd::of(format!("nothing was changed; what it would have changed is unknown: {error}"));
            }
        };
        let shown = changes.iter().filter(|change| !is_detail(change));
        let diff = Some(shown.map(|change| self.difference(change)).collect());
        self.discard();
        LayerEnd { remarks: vec![format!("nothing was changed; the run would have {}", summary(&changes))], diff }
    }

    fn difference(&self, change: &Change) -> String {
        let path = change.path.display().to_string();
        let named = |text: &str| format!("{text}: {path}\n");
        if change.what == What::File || change.was == Some(What::File) {
            let text = |bytes: Option<Vec<u8>>| bytes.map(String::from_utf8).transpose();
            if let Ok((old, new)) = self.layer.versions(change, MAX_DIFF_BYTES)
                && let (Ok(old), Ok(new)) = (text(old), text(new))
                && (old.is_some() || new.is_some())
            {
                return diff::unified(&path, old.as_deref(), new.as_deref());
            }
        }
        match change.kind {
            ChangeKind::Added => named("added"),
            ChangeKind::Removed => named("removed"),
            _ => named("changed"),
        }
    }
}

/// Whether a change is that of a folder which has only other content.
fn is_detail(change: &Change) -> bool {
    change.kind == ChangeKind::Touched || (change.what == What::Folder && change.kind == ChangeKind::Attributes)
}

/// Decides about the changes of a run.
struct Judge<'a> {
    upper: PathBuf,
    root: &'a Path,
    /// The folders in which programs are searched for.
    path: Vec<PathBuf>,
    /// What is applied although other programs run it or act on it.
    acted_on: Vec<(PathBuf, &'static str)>,
}

impl<'a> Judge<'a> {
    fn new(layer: &Layer, context: &'a Context) -> Self {
        let path = std::env::split_paths(&super::search_path(context)).collect();
        Self { upper: layer.upper().to_owned(), root: &context.project().root, path, acted_on: Vec::new() }
    }

    fn decide(&mut self, change: &Change) -> Verdict {
        if change.kind == ChangeKind::Removed {
            return Verdict::Apply;
        }
        let folder = change.path.parent().unwrap_or(Path::new(""));
        let has = |name: &str| {
            [&self.upper, self.root].iter().any(|top| top.join(folder).join(name).symlink_metadata().is_ok())
        };
        let facts = FileFacts {
            is_new: change.kind == ChangeKind::Added,
            is_executable: change.executable,
            is_setuid: change.setuid,
            is_script: change.script,
            is_link_out: change.leads_out,
            is_on_path: change.what != What::Folder && self.path.contains(&self.root.join(folder)),
            is_in_repository: audit::is_repository(has),
        };
        match audit::judge(&change.path, &facts) {
            _ if change.setuid => Verdict::Hold("a program that runs as its owner".to_owned()),
            Some((Kind::Quarantine, what)) => Verdict::Hold(what.to_owned()),
            Some((_, what)) if change.what != What::Folder => {
                self.acted_on.push((change.path.clone(), what));
                Verdict::Apply
            }
            _ => Verdict::Apply,
        }
    }
}

fn make(context: &Context, place: &mut RunEnvironment) -> Result<Layer, String> {
    let root = &context.project().root;
    if place.spec.level != Level::Full {
        return Err("only the full sandbox has layers".to_owned());
    }
    if !place.spec.writable.contains(root) {
        return Err(format!("a run cannot change {}", root.display()));
    }
    let folder = folder(context);
    weir_layer::check(&folder, root).map_err(|why| why.to_string())?;
    let layer = Layer::create(&folder, root).map_err(|error| format!("cannot make one: {error}"))?;
    let (upper, work) = (layer.upper().to_owned(), layer.work().to_owned());
    place.spec.overlay = Some(Overlay { lower: root.clone(), upper, work });
    Ok(layer)
}

fn folder(context: &Context) -> PathBuf {
    context.paths().data.join(FOLDER).join(context.project().own_folder_name())
}

/// Takes back what the last run on a layer changed.
pub fn undo(context: &Context) -> Result<Answer, CommandError> {
    let done = match weir_layer::undo(&folder(context), &context.project().root) {
        Err(LayerError::NothingToUndo) => {
            return Err(CommandError::new(ErrorKind::Failed, "nothing to undo in this project")
                .hint("`weir run --layer on COMMAND` runs a command so that it can be undone"));
        }
        done => done.map_err(|error| broken(&error, "run `weir undo` again"))?,
    };
    let refused: Vec<_> =
        done.refused.iter().map(|left| json!({ "path": left.path.display().to_string(), "why": left.why })).collect();
    let paths: Vec<String> = done.done.iter().map(|path| path.display().to_string()).collect();
    let exit_code = (!refused.is_empty()).then_some(1);
    Ok(Answer { exit_code, ..Answer::new(undone(&done), json!({ "undone": paths, "refused": refused })) })
}

/// Finishes the layers of runs whose owners were killed. Returns remarks on what was done.
pub(super) fn recover(paths: &Paths) -> Vec<String> {
    let Ok(projects) = std::fs::read_dir(paths.data.join(FOLDER)) else { return Vec::new() };
    projects.flatten().flat_map(|project| weir_layer::recover(&project.path())).map(|left| recovered(&left)).collect()
}

/// Returns whether there may be layers that were left behind.
pub(super) fn are_there(paths: &Paths) -> bool {
    paths.data.join(FOLDER).exists()
}

fn without(why: &str) -> String {
    format!("this run has no layer, so its changes are live at once: {why}")
}

fn unavailable(why: &str) -> CommandError {
    CommandError::new(ErrorKind::Sandbox, format!("cannot run on a layer: {why}"))
        .hint("nothing was run; docs/sandbox.md says what layers need")
}

fn broken(error: &LayerError, hint: &str) -> CommandError {
    CommandError::new(ErrorKind::Failed, error.to_string()).hint(hint)
}
