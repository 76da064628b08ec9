//! Checks for `weir doctor` how clients are set up: what is present, what is missing, and the command that fixes it.

use std::path::Path;

use serde_json::Value;
use weir_clients::RECIPES;
use weir_clients::setup::{Basis, Call, EntryContent, Packed, Part, Recipe, SetupScope, has_plugin};
use weir_context::Context;
use weir_host::answer::counted;
use weir_host::user_files;

use super::places::Places;

/// The finding about one client.
pub struct Finding {
    pub title: &'static str,
    /// Whether the client is set up correctly.
    pub good: bool,
    pub text: String,
    /// The same in a few words, to follow the client's title.
    pub brief: &'static str,
    pub fix: Option<String>,
}

/// How a client is set up, for the user or for a project.
#[derive(Debug, Clone, PartialEq, Eq)]
enum SetupState {
    /// Not set up.
    Absent,
    /// Set up as this program would do it.
    Whole,
    /// Set up in part, or for another program. These parts are wrong.
    Other(Vec<&'static str>),
    Unreadable(String),
}

pub fn clients(context: &Context) -> Vec<Finding> {
    let Ok(places) = Places::new(context) else { return Vec::new() };
    RECIPES.iter().filter_map(|recipe| examine(&places, recipe)).collect()
}

/// The clients on this machine, by how they are set up.
#[derive(Default)]
pub struct ClientsOverview {
    /// The titles of clients that are set up as this program would do it.
    pub set_up: Vec<&'static str>,
    /// Clients that are set up in part, more than once or for another program.
    pub wrong: Vec<Finding>,
    /// The titles of clients that are installed and not set up.
    pub waiting: Vec<&'static str>,
}

/// Returns the clients on this machine, by how they are set up.
pub fn overview(context: &Context) -> ClientsOverview {
    let waiting = not_set_up(context);
    let mut overview = ClientsOverview::default();
    for finding in clients(context) {
        match finding.good {
            true => overview.set_up.push(finding.title),
            false if waiting.contains(&finding.title) => {}
            false => overview.wrong.push(finding),
        }
    }
    overview.waiting = waiting;
    overview
}

/// Returns the names of clients that are installed and not set up.
pub fn not_set_up(context: &Context) -> Vec<&'static str> {
    found(context).into_iter().filter(|(_, is_set_up)| !is_set_up).map(|(title, _)| title).collect()
}

/// Returns the names of clients that are installed or set up, and whether each is set up in some way.
pub fn found(context: &Context) -> Vec<(&'static str, bool)> {
    let Ok(places) = Places::new(context) else { return Vec::new() };
    let find = |recipe: &'static Recipe| {
        let is_set_up = [SetupScope::User, SetupScope::Project]
            .iter()
            .any(|whose| state(&places, recipe, *whose) != SetupState::Absent)
            || recipe.plugin.is_some_and(|packed| is_packed(&places, packed));
        let is_installed = recipe.basis == Basis::Seen && places.program_of(recipe).is_some();
        (is_set_up || is_installed).then_some((recipe.title, is_set_up))
    };
    RECIPES.iter().copied().filter_map(find).collect()
}

/// Says that setup has nothing to write for a client, and what is still to be done in the client.
pub(super) fn already(places: &Places, recipe: &'static Recipe) -> Vec<String> {
    match examine(places, recipe).filter(|finding| !finding.good) {
        None => vec![format!("✓ {}: already set up", recipe.title)],
        Some(Finding { brief, fix, .. }) => {
            let then = fix.map(|fix| format!("  then: {fix}"));
            [format!("– {}: {brief}", recipe.title)].into_iter().chain(then).collect()
        }
    }
}

/// Returns a warning if a client is set up both for the user and for the project.
pub(super) fn twice(places: &Places, recipe: &Recipe, whose: SetupScope) -> Option<String> {
    let (other, flag) = match whose {
        SetupScope::User => (SetupScope::Project, " --project"),
        SetupScope::Project => (SetupScope::User, ""),
    };
    let set_up = recipe.has_hooks() && matches!(state(places, recipe, other), SetupState::Whole | SetupState::Other(_));
    set_up.then(|| {
        let place = if other == SetupScope::Project { "this project" } else { "the user" };
        format!(
            "{} is also set up for {place}, so its hooks run twice: weir teardown {}{flag}",
            recipe.title, recipe.name
        )
    })
}

fn examine(places: &Places, recipe: &'static Recipe) -> Option<Finding> {
    let user = state(places, recipe, SetupScope::User);
    let project = state(places, recipe, SetupScope::Project);
    let packed = recipe.plugin.is_some_and(|packed| is_packed(places, packed));
    let found = places.program_of(recipe);
    let absent = user == SetupState::Absent && project == SetupState::Absent && !packed;
    // A folder may be a leftover of a client, and nothing is required of clients that were never run with Weir.
    if absent && (found.is_none() || recipe.basis == Basis::Documented) {
        return None;
    }
    let mut text = presence(found.as_deref());
    let name = recipe.name;
    let title = recipe.title;
    let bad = |brief: &'static str, text: String, fix: String| {
        Some(Finding { title, good: false, text, brief, fix: Some(fix) })
    };
    if absent {
        return bad("not set up", format!("{text}, not set up"), format!("weir setup {name}"));
    }
    for (state, flag) in [(&user, ""), (&project, " --project")] {
        match state {
            SetupState::Unreadable(why) => {
                let fix = format!("fix the file, then: weir setup {name}{flag}");
                return bad("has settings that cannot be read", why.clone(), fix);
            }
            SetupState::Other(parts) => {
                return bad(
                    "set up in part, or for another copy of Weir",
                    format!("{text}, partly set up or for another copy of Weir: {}", parts.join(", ")),
                    format!("weir setup {name}{flag}"),
                );
            }
            SetupState::Absent | SetupState::Whole => {}
        }
    }
    let ways = [
        (user == SetupState::Whole, "for the user"),
        (project == SetupState::Whole, "for this project"),
        (packed, "as a plugin"),
    ];
    let ways: Vec<&str> = ways.iter().filter(|(is, _)| *is).map(|(_, way)| *way).collect();
    text = format!("{text}, set up {}", ways.join(" and "));
    if ways.len() > 1 && recipe.has_hooks() {
        let flag = if packed || project != SetupState::Whole { "" } else { " --project" };
        let fix = format!("weir teardown {name}{flag}");
        return bad("set up more than once", format!("{text}, so its hooks run more than once"), fix);
    }
    let lacking = if packed {
        Vec::new()
    } else {
        untrusted(places, recipe, if user == SetupState::Whole { SetupScope::User } else { SetupScope::Project })
    };
    if !lacking.is_empty() {
        let lacking = counted(lacking.len(), "hook is", "hooks are");
        let fix = recipe.then.unwrap_or_default().to_owned();
        return bad("set up, but its hooks are not trusted yet", format!("{text}; {lacking} not trusted yet"), fix);
    }
    if let Some(blind_spot) = recipe.blind_spot {
        text = format!("{text}; {blind_spot}");
    }
    Some(Finding { title, good: true, text, brief: "set up", fix: None })
}

fn presence(found: Option<&Path>) -> String {
    match found {
        Some(path) => format!("installed{}", version(path).map(|version| format!(" ({version})")).unwrap_or_default()),
        None => "its program is not on the PATH".to_owned(),
    }
}

fn state(places: &Places, recipe: &Recipe, whose: SetupScope) -> SetupState {
    if whose == SetupScope::Project && places.project_is_home() {
        return SetupState::Absent;
    }
    // If the path of this program cannot be determined, an existing setup counts as wrong.
    let program = places.our_program(whose).unwrap_or_default();
    let (mut there, mut wrong) = (false, Vec::new());
    for part in recipe.parts_for(whose) {
        let path = user_files::target(&places.path(&part.place));
        let text = match user_files::read(&path) {
            Ok(text) => text.unwrap_or_default(),
            Err(error) => return SetupState::Unreadable(error.message),
        };
        let call = Call { program: &program, client: recipe.name };
        let (with, without) = match (part.add(&text, call), part.remove(&text)) {
            (Ok(with), Ok(without)) => (with, without),
            (Err(why), _) | (_, Err(why)) => return SetupState::Unreadable(format!("{}: {why}", path.display())),
        };
        there |= without != text;
        if with != text {
            wrong.push(part.title());
        }
    }
    match (there, wrong.is_empty()) {
        (false, _) => SetupState::Absent,
        (true, true) => SetupState::Whole,
        (true, false) => SetupState::Other(wrong),
    }
}

fn untrusted(places: &Places, recipe: &Recipe, whose: SetupScope) -> Vec<&'static str> {
    let Some(trust) = &recipe.trust else { return Vec::new() };
    let hooks = recipe.parts_for(whose).find(|part: &&Part| matches!(part.what, EntryContent::Hooks(_)));
    let Some(hooks) = hooks.map(|part| places.path(&part.place).display().to_string()) else { return Vec::new() };
    let text = user_files::read(&places.path(&trust.place)).ok().flatten().unwrap_or_default();
    (trust.lacking)(&text, &hooks)
}

fn is_packed(places: &Places, packed: Packed) -> bool {
    match packed {
        Packed::Folder(place) => places.path(&place).exists(),
        Packed::Key(place, object) => {
            has_plugin(&user_files::read(&places.path(&place)).ok().flatten().unwrap_or_default(), object)
        }
    }
}

/// Returns the version of a program that npm installed, which is in a file next to it. Others would have to be started.
fn version(program: &Path) -> Option<String> {
    let real = program.canonicalize().ok()?;
    let manifest =
        real.ancestors().skip(1).take(4).map(|folder| folder.join("package.json")).find(|path| path.exists())?;
    let manifest: Value = serde_json::from_str(&std::fs::read_to_string(manifest).ok()?).ok()?;
    manifest["version"].as_str().map(str::to_owned)
}
