//! Plans what setup and teardown write, before anything is written. Invariant: for a project, nothing outside of its
//! folder is read or written, whatever links the repository has.

use std::path::{Path, PathBuf};

use serde_json::Value;
use weir_clients::RECIPES;
use weir_clients::setup::{Call, Part, Recipe, Setting, SetupScope, Unusable};
use weir_gateway::entries;
use weir_host::diff;
use weir_host::error::{CommandError, ErrorKind};
use weir_host::user_files;

use super::gateway::{self, Gateway, Moves, Source};
use super::health;
use super::ledger::{ChangedSetting, Ledger, LedgerRecord, MovedServer, hash};
use super::places::Places;
use super::step::{Step, secrets_of, step};
use super::targets::{ReadTarget, Target, targets};

#[derive(Default)]
pub(super) struct SetupPlan {
    pub steps: Vec<Step>,
    pub notes: Vec<String>,
    /// Which servers move behind Weir, and which stay, with the reason.
    pub moves: Vec<String>,
    /// Ledger records of files that stay unchanged because clients share them.
    shared: Vec<LedgerRecord>,
    /// Files in the ledger that no longer exist, or no longer have anything of ours.
    gone: Vec<PathBuf>,
    /// Servers that moved out of such files.
    returned: Vec<MovedServer>,
    /// Why files stay as they are that a teardown would change.
    pub problems: Vec<CommandError>,
}

/// A setting of a client's own that the user wants changed.
pub(super) struct SettingRequest {
    pub setting: Setting,
    pub value: Value,
}

/// What the user wants besides Weir's own entries.
pub(super) struct Wishes<'p> {
    pub settings: Vec<SettingRequest>,
    pub gateway: Option<Gateway<'p>>,
}

pub(super) fn setup(
    places: &Places,
    recipes: &[&'static Recipe],
    whose: SetupScope,
    mut wishes: Wishes<'_>,
) -> Result<SetupPlan, CommandError> {
    let program = places.our_program(whose)?;
    let ledger = Ledger::read(&places.ledger)?;
    let mut plan = SetupPlan::default();
    for target in targets(places, recipes, whose) {
        if target.is_outside {
            return Err(outside(&target));
        }
        let target = target.read()?;
        let known = ledger.of(&target.path);
        let (mut after, moves) = with_ours(&target, known, &program, &mut wishes.gateway)?;
        let mut settings = known.map(|known| known.settings.clone()).unwrap_or_default();
        for wish in
            wishes.settings.iter().filter(|wish| user_files::target(&places.path(&wish.setting.place)) == target.path)
        {
            after = wish.grant(&after, &mut settings).map_err(|why| unusable(&target.path, &why))?;
        }
        let clients = clients_of(&target, known);
        if target.text.as_deref() == Some(after.as_str()) {
            plan.shared.extend(known.map(|known| LedgerRecord { clients, ..known.clone() }));
            continue;
        }
        let original = original(&target, known)?;
        let folders = known.map_or_else(|| user_files::missing_folders(&target.path), |known| known.folders.clone());
        let entry = LedgerRecord {
            path: target.path.clone(),
            clients,
            hash: hash(&after),
            made: original.is_none(),
            folders,
            undo: diff::undo(original.as_deref().unwrap_or_default(), &after),
            settings,
            moved: moves.all,
        };
        let secrets = secrets_of(&entry.moved);
        let step = step(target, Some(after), whose, Some(entry));
        plan.steps.push(Step { gains: moves.new, secrets, ..step });
    }
    if let Some(gateway) = wishes.gateway {
        gateway.check_found()?;
        plan.moves = gateway.said;
    }
    plan.notes.extend(recipes.iter().filter_map(|recipe| health::twice(places, recipe, whose)));
    Ok(plan)
}

/// Returns the text of a file with our parts, and what becomes of the servers in it. Only the user's own move.
fn with_ours(
    target: &ReadTarget,
    known: Option<&LedgerRecord>,
    program: &str,
    gateway: &mut Option<Gateway<'_>>,
) -> Result<(String, Moves), CommandError> {
    let mut text = target.text.clone().unwrap_or_default();
    let mut moves = Moves { all: known.map(|known| known.moved.clone()).unwrap_or_default(), new: Vec::new() };
    for (recipe, part) in &target.parts {
        let call = Call { program, client: recipe.name };
        text = part.add(&text, call).map_err(|why| unusable(&target.path, &why))?;
        if part.whose == SetupScope::User && part.is_server() {
            let source = Source { recipe, part, name: &target.name, program };
            text = gateway::renewed(&source, text, &moves.all);
            if let Some(gateway) = gateway {
                text = gateway.take(&source, text, &mut moves);
            }
        }
    }
    Ok((text, moves))
}

/// Plans a teardown. A file that cannot be changed is one of the plan's problems.
pub(super) fn teardown(
    places: &Places,
    recipes: &[&'static Recipe],
    whose: SetupScope,
) -> Result<SetupPlan, CommandError> {
    undo(places, targets(places, recipes, whose), recipes, whose)
}

/// Plans the teardown of recorded files that are not where clients keep the user's settings now, because a variable
/// that named their folder has changed since setup.
pub(super) fn teardown_elsewhere<'l>(
    places: &Places,
    records: impl Iterator<Item = &'l LedgerRecord>,
) -> Result<SetupPlan, CommandError> {
    let usual = targets(places, RECIPES, SetupScope::User);
    let mut elsewhere = Vec::new();
    for record in records.filter(|record| usual.iter().all(|target| target.path != record.path)) {
        let all = RECIPES.iter().copied();
        let recipes: Vec<&'static Recipe> =
            all.filter(|recipe| record.clients.iter().any(|client| client == recipe.name)).collect();
        let mut parts: Vec<(&'static Recipe, &'static Part)> = Vec::new();
        for recipe in &recipes {
            let named = recipe.parts_for(SetupScope::User);
            let named = named.filter(|part| Path::new(part.place.path).file_name() == record.path.file_name());
            parts.extend(named.map(|part| (*recipe, part)));
        }
        if parts.is_empty() {
            continue;
        }
        let (path, text) = (record.path.clone(), user_files::read(&record.path));
        let name = places.short(&path);
        elsewhere.push(Target { path, name, recipes, parts, text, is_outside: false });
    }
    undo(places, elsewhere, RECIPES, SetupScope::User)
}

/// Plans to bring back what was in files before setup.
fn undo(
    places: &Places,
    targets: Vec<Target>,
    recipes: &[&'static Recipe],
    whose: SetupScope,
) -> Result<SetupPlan, CommandError> {
    let ledger = Ledger::read(&places.ledger)?;
    let mut plan = SetupPlan::default();
    for target in targets {
        if target.is_outside {
            plan.notes.push(format!("{} stays as it is: it is a link that leads out of the project", target.name));
            continue;
        }
        let known = ledger.of(&target.path);
        let stays = |client: &&String| !recipes.iter().any(|recipe| recipe.name == **client);
        let clients: Vec<String> = known.iter().flat_map(|known| known.clients.iter().filter(stays)).cloned().collect();
        if let (Some(known), false) = (known, clients.is_empty()) {
            plan.notes.push(format!("{} stays as it is: {} uses it too", target.name, clients.join(", ")));
            plan.shared.push(LedgerRecord { clients, ..known.clone() });
            continue;
        }
        let target = match target.read() {
            Ok(target) => target,
            Err(problem) => {
                plan.problems.push(problem);
                continue;
            }
        };
        let moved = known.map(|known| known.moved.clone()).unwrap_or_default();
        let Some(text) = &target.text else {
            plan.notes.extend(gateway::kept(&target.name, &moved));
            plan.gone.push(target.path);
            continue;
        };
        let known_folders = known.map(|known| known.folders.clone()).unwrap_or_default();
        let old = known
            .filter(|known| known.left(text))
            .and_then(|known| Some((diff::undone(text, &known.undo)?, known.made)));
        let (after, exact) = match old {
            Some((_, true)) => (None, true),
            Some((old, false)) => (Some(old), true),
            None => match without_ours(&target, known) {
                Ok(after) => (after, false),
                Err(problem) => {
                    plan.problems.push(problem);
                    continue;
                }
            },
        };
        if known.is_none() {
            plan.notes.extend(gateway::stranded(&target));
        }
        if after.as_ref() != Some(text) {
            if !exact && known.is_some() {
                plan.notes.push(format!("{} was changed since setup: only Weir's entries are removed", target.name));
            }
            let step = step(target, after, whose, None);
            let secrets = secrets_of(&moved);
            plan.steps.push(Step { exact, folders: known_folders, returns: moved, secrets, ..step });
        } else if !moved.is_empty() {
            plan.returned.extend(moved);
            plan.gone.push(target.path);
        }
    }
    Ok(plan)
}

impl SetupPlan {
    /// Returns the plan, unless it has a problem.
    pub(super) fn whole(mut self) -> Result<Self, CommandError> {
        if self.problems.is_empty() { Ok(self) } else { Err(self.problems.swap_remove(0)) }
    }

    /// Returns a plan for each change, so that one that fails does not keep the others from being made.
    pub(super) fn apart(mut self) -> impl Iterator<Item = Self> {
        let steps = std::mem::take(&mut self.steps);
        steps.into_iter().map(|step| Self { steps: vec![step], ..Self::default() }).chain([self])
    }

    /// Carries out the plan. The ledger is written first, since a record of a file that was not written does no harm.
    pub(super) fn carry_out(&self, places: &Places) -> Result<(), CommandError> {
        let mut ledger = Ledger::read(&places.ledger)?;
        for step in &self.steps {
            step.check_unchanged()?;
            user_files::check_writable(&step.path)?;
        }
        let entries = self.steps.iter().filter_map(|step| step.entry.as_ref()).chain(&self.shared);
        entries.for_each(|entry| ledger.put(entry.clone()));
        self.gone.iter().for_each(|path| ledger.drop(path));
        if ledger.folders.is_empty() && self.steps.iter().any(|step| !step.gains.is_empty()) {
            ledger.folders = user_files::missing_folders(&entries::path(&places.paths));
        }
        ledger.write(&places.ledger)?;
        self.steps.iter().try_for_each(|step| gateway::gain(&places.paths, &step.gains))?;
        for step in &self.steps {
            // A running client may write its settings at any time.
            step.check_unchanged()?;
            match &step.after {
                Some(text) => user_files::write(&step.path, text, step.whose == SetupScope::User)?,
                None => user_files::remove(&step.path, &step.folders)?,
            }
        }
        self.steps.iter().try_for_each(|step| gateway::give_up(&places.paths, &ledger, &step.returns))?;
        gateway::give_up(&places.paths, &ledger, &self.returned)?;
        self.steps.iter().filter(|step| step.entry.is_none()).for_each(|step| ledger.drop(&step.path));
        ledger.write(&places.ledger)
    }
}

/// Returns what a file was before setup first wrote it, or `None` if it did not exist.
fn original(target: &ReadTarget, known: Option<&LedgerRecord>) -> Result<Option<String>, CommandError> {
    let Some(text) = &target.text else { return Ok(None) };
    match known {
        Some(known) if known.left(text) => Ok(diff::undone(text, &known.undo).filter(|_| !known.made)),
        // Someone has changed the file since, and their version without Weir's parts is the one to restore.
        Some(_) => without_ours(target, known),
        None => Ok(Some(text.clone())),
    }
}

/// Returns a file without Weir's parts, or `None` if setup created it and nothing else is left.
fn without_ours(target: &ReadTarget, known: Option<&LedgerRecord>) -> Result<Option<String>, CommandError> {
    let made = known.is_some_and(|known| known.made);
    let settings = known.map(|known| known.settings.as_slice()).unwrap_or_default();
    let mut text = target.text.clone().unwrap_or_default();
    let moved = known.map(|known| known.moved.as_slice()).unwrap_or_default();
    for (recipe, part) in &target.parts {
        for moved in moved.iter().filter(|moved| moved.client == recipe.name) {
            text = part.return_server(recipe, &text, &moved.taken()).map_err(|why| unusable(&target.path, &why))?;
        }
        text = part.remove(&text).map_err(|why| unusable(&target.path, &why))?;
        for setting in settings_of(recipe) {
            text = restored(&text, setting, settings).map_err(|why| unusable(&target.path, &why))?;
        }
    }
    let nothing = target.parts.iter().all(|(_, part)| part.says_nothing(&text));
    let whole = target.parts.iter().all(|(_, part)| part.is_whole());
    Ok(Some(text).filter(|_| !(nothing && (made || whole))))
}

impl SettingRequest {
    /// Returns the text with the setting as requested, and records its previous value in the list of changed settings.
    fn grant(&self, text: &str, settings: &mut Vec<ChangedSetting>) -> Result<String, Unusable> {
        let present = self.setting.get(text)?;
        if present.as_ref() == Some(&self.value) {
            return Ok(text.to_owned());
        }
        let at = || self.setting.at.iter().map(|key| (*key).to_owned()).collect();
        match settings.iter_mut().find(|changed| changed.is(&self.setting)) {
            Some(changed) if Some(&changed.set) == present.as_ref() => changed.set = self.value.clone(),
            Some(changed) => *changed = ChangedSetting { at: at(), set: self.value.clone(), before: present },
            None => settings.push(ChangedSetting { at: at(), set: self.value.clone(), before: present }),
        }
        self.setting.put(text, Some(&self.value))
    }
}

/// Returns the settings of a client's own that setup can write.
fn settings_of(recipe: &Recipe) -> impl Iterator<Item = Setting> {
    let of_cache = recipe.cache.into_iter().flat_map(|cache| [cache.main, cache.subagents]);
    recipe.window.map(|window| window.setting).into_iter().chain(of_cache).chain(recipe.status_line)
}

/// Returns the text with a setting restored, unless someone has changed it since.
fn restored(text: &str, setting: Setting, settings: &[ChangedSetting]) -> Result<String, Unusable> {
    match settings.iter().find(|changed| changed.is(&setting)) {
        Some(changed) if setting.get(text)?.as_ref() == Some(&changed.set) => {
            setting.put(text, changed.before.as_ref())
        }
        _ => Ok(text.to_owned()),
    }
}

fn clients_of(target: &ReadTarget, known: Option<&LedgerRecord>) -> Vec<String> {
    let mut clients = known.map(|known| known.clients.clone()).unwrap_or_default();
    for recipe in &target.recipes {
        if !clients.iter().any(|client| client == recipe.name) {
            clients.push(recipe.name.to_owned());
        }
    }
    clients
}

fn outside(target: &Target) -> CommandError {
    let message = format!("cannot write {}: it is a link that leads out of the project", target.name);
    CommandError::new(ErrorKind::Failed, message)
        .hint("nothing was written; replace the link with a file, or leave out --project to set up your own settings")
}

fn unusable(path: &Path, why: &Unusable) -> CommandError {
    let at = why.line.map(|line| format!(":{line}")).unwrap_or_default();
    CommandError::new(ErrorKind::Config, format!("{}{at}: {}", path.display(), why.why))
        .hint("nothing was written; fix the file and run this again")
}
