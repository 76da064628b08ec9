//! Shares the store of another clone of the repository. Invariants: a folder uses another's store only after the user
//! has seen whose it is and agreed; an identity only suggests which one; neither store is changed.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use serde_json::json;
use weir_context::Context;
use weir_core::wording::quoted;
use weir_core::{Limits, ProjectKey, RepositoryIdentity, Scope};
use weir_host::answer::{Answer, counted};
use weir_host::error::{CommandError, ErrorKind};
use weir_host::project::Project;
use weir_host::scratch::cannot_use;
use weir_host::sharing::{self, SharedStore};
use weir_host::when;
use weir_knowledge::identity;
use weir_knowledge::moved;
use weir_store::{KnownProject, Owner, Store, StoreError};

use super::super::{Asker, StoreTarget, has_store, open, still_open};

/// How long to wait for git in total.
const GIT_TIMEOUT: Duration = Duration::from_secs(10);
const MAX_COUNTED_NOTES: usize = 5_000;
const QUESTION: &str = "Use this store here too? What is in it will be visible in this folder, and what you store \
    here will be visible there.";
const NAME_IT: &str = "name the folder whose store to use: `weir adopt FOLDER`";

/// Makes this project use its own store again.
pub(super) fn undo(context: &Context) -> Result<Answer, CommandError> {
    let (project, data) = (context.project(), &context.paths().data);
    let Some(shared) = project.shared() else {
        return Err(CommandError::usage("this folder already uses its own store"));
    };
    sharing::remove(data, project.own_folder_name()).map_err(|error| cannot_use(data, &error))?;
    let text = format!(
        "this folder uses its own store again; what was stored here in the meantime stays in the store of {}\n\
         restart the clients that are running in this folder",
        shared.root
    );
    Ok(Answer::new(text, json!({ "left": shared.root })))
}

/// Returns the one known project that is another clone of this repository and has a store.
pub(super) fn other_clone<'a>(
    context: &Context,
    projects: &'a [KnownProject],
) -> Result<&'a KnownProject, CommandError> {
    let (project, deadline) = (context.project(), Instant::now() + GIT_TIMEOUT);
    let own = identity::of(context, project, GIT_TIMEOUT).map_err(|why| {
        CommandError::usage(format!("cannot determine which repository this is: {why}")).hint(NAME_IT)
    })?;
    let (mut found, mut stores, mut unclear) = (Vec::new(), HashSet::new(), 0);
    for known in projects.iter().filter(|known| known.key != project.own_key()) {
        let store = store_of(context, known)?;
        if store.owner == project.own_key() || !has_store(&context.project_stores().join(&store.folder))? {
            continue;
        }
        match is_clone(context, known, &own, deadline.saturating_duration_since(Instant::now())) {
            Some(true) if stores.insert(store.folder.clone()) => found.push(known),
            Some(_) => {}
            None => unclear += 1,
        }
    }
    if let [one] = found[..] {
        return Ok(one);
    }
    if found.is_empty() {
        let error = CommandError::new(ErrorKind::NotFound, "no other clone of this repository has a store");
        let unclear = (unclear > 0).then(|| counted(unclear, "known repository", "known repositories"));
        let error =
            unclear.into_iter().fold(error, |error, count| error.hint(format!("cannot compare {count} with it")));
        return Err(error.hint(NAME_IT));
    }
    let named = found.iter().map(|known| quoted(&known.root)).collect::<Vec<_>>().join(", ");
    let message = "several clones of this repository have stores of their own";
    Err(CommandError::usage(message).hint(format!("{NAME_IT}; they are in {named}")))
}

/// Whether a known project is a clone of a repository, or `None` if that cannot be determined.
fn is_clone(context: &Context, known: &KnownProject, own: &RepositoryIdentity, patience: Duration) -> Option<bool> {
    let Some(there) = moved::still_there(known).ok()? else {
        return Some(known.identity.as_ref().is_some_and(|identity| identity.matches(own)));
    };
    let remote = there.remote();
    let differs = remote.is_some() && own.remote().is_some() && remote.as_deref() != own.remote();
    if there.repository().is_none() || differs {
        return Some(false);
    }
    identity::of(context, &there, patience).ok().map(|identity| identity.matches(own))
}

/// Returns the store that a known project uses, as this project would share it.
pub(super) fn store_of(context: &Context, known: &KnownProject) -> Result<SharedStore, CommandError> {
    let user = context.project().own_key().to_owned();
    let shared = sharing::find(&context.paths().data, &known.folder, &known.key)
        .map_err(|error| CommandError::new(ErrorKind::Failed, error.to_string()))?;
    Ok(match shared {
        Some(shared) => SharedStore { user, ..shared },
        None => SharedStore { user, owner: known.key.clone(), folder: known.folder.clone(), root: known.root.clone() },
    })
}

/// Lets this project use the store of another one, if the user agrees.
pub(super) fn share(
    context: &Context,
    known: &KnownProject,
    there: Option<&Project>,
    store: &SharedStore,
    ask: Asker<'_>,
) -> Result<Answer, CommandError> {
    check(context, store)?;
    let relation = Relation::between(context, known, there)?;
    let own = StoreTarget::project(context);
    let own_entries =
        if has_store(&own.folder)? { open(&own)?.counts().map_err(|error| own.name_file(error))?.0 } else { 0 };
    let mut about = format!("{}\nrepository: {}", contents(context, known, store)?, relation.text);
    let kept = (own_entries > 0).then(|| {
        let entries = counted(own_entries as usize, "entry", "entries");
        format!("this folder's own store with {entries} is kept; `weir adopt --undo` returns to it")
    });
    about.extend(kept.iter().map(|kept| format!("\n{kept}")));
    if !ask(QUESTION, &about)? {
        return Err(not_agreed(&store.root));
    }
    let (project, data) = (context.project(), &context.paths().data);
    sharing::write(data, project.own_folder_name(), store).map_err(|error| cannot_use(data, &error))?;
    // The identities only improve later suggestions.
    let _ = context.with_stores_here(|open| {
        let user = open.user()?;
        user.remember_project(&KnownProject { identity: relation.here, ..project.as_known(when::now()) })?;
        Ok(user.remember_project(&KnownProject { identity: relation.there, ..known.clone() })?)
    });
    let open = still_open(&own.folder);
    let mut text = format!("this folder now shares the store of {}; try `weir notes`", store.root);
    text.extend(kept.iter().chain(&open).map(|line| format!("\n{line}")));
    let data = json!({ "shared_with": store.root, "own_entries": own_entries, "open": open });
    Ok(Answer::new(text, data))
}

/// Returns an error if this project cannot share a store.
fn check(context: &Context, store: &SharedStore) -> Result<(), CommandError> {
    let project = context.project();
    if store.owner == project.own_key() {
        return Err(CommandError::usage("both folders already use the store of this one"));
    }
    if !has_store(&context.project_stores().join(&store.folder))? {
        return Err(CommandError::new(ErrorKind::NotFound, format!("the store of {} no longer exists", store.root)));
    }
    let data = &context.paths().data;
    let all = sharing::all(data).map_err(|error| cannot_use(data, &error))?.into_iter();
    let users = all.filter(|(_, other)| other.folder == project.own_folder_name());
    let users: Vec<String> = users.map(|(_, other)| place(&other.user)).collect();
    if users.is_empty() {
        return Ok(());
    }
    let message = format!("cannot share another store: this folder's own is shared by {}", users.join(", "));
    Err(CommandError::usage(message)
        .hint("first run `weir adopt --undo` there, or run `weir adopt` in the other folder"))
}

/// How this repository and that of another project are related.
struct Relation {
    here: Option<RepositoryIdentity>,
    there: Option<RepositoryIdentity>,
    /// The relation, for the user.
    text: String,
}

impl Relation {
    /// Determines the relation. Returns an error if the two are certainly not clones of one repository: paths and
    /// commits in the notes of one would mean something else in the other.
    fn between(context: &Context, known: &KnownProject, there: Option<&Project>) -> Result<Self, CommandError> {
        let project = context.project();
        let cannot = |why: &str| {
            Err(CommandError::usage(format!("cannot take the store of {}: {why}", known.root))
                .hint("to copy it: `weir -C OLD-FOLDER backup FILE`, then `weir restore FILE` here"))
        };
        if project.repository().is_none() || there.is_some_and(|there| there.repository().is_none()) {
            return cannot("the project is still there");
        }
        let here = identity::of(context, project, GIT_TIMEOUT / 2);
        let other = match there {
            Some(there) => identity::of(context, there, GIT_TIMEOUT / 2),
            None => known.identity.clone().ok_or("its folder is gone"),
        };
        let text = match (&here, &other) {
            (Ok(here), Ok(other)) if here.root_commit() != other.root_commit() => {
                return cannot("it is not a clone of this repository");
            }
            (Ok(here), Ok(other)) if here.matches(other) => format!("the same, {here}"),
            (Ok(here), Ok(other)) => format!("the same history, published elsewhere: {here} here, {other} there"),
            (Err(why), _) => format!("cannot be compared: here, {why}"),
            (_, Err(why)) => format!("cannot be compared: there, {why}"),
        };
        Ok(Self { here: here.ok(), there: other.ok(), text })
    }
}

/// Describes a store for the user: whose it is, and how much is in it.
pub(super) fn contents(context: &Context, known: &KnownProject, store: &SharedStore) -> Result<String, CommandError> {
    let folder = context.project_stores().join(&store.folder);
    let owner = ProjectKey(store.owner.clone());
    let count = || -> Result<_, StoreError> {
        let opened = Store::open(&folder, Owner::Project(owner.clone()), Limits::default())?;
        let notes = opened.notes(&Scope::project(owner.clone()), MAX_COUNTED_NOTES)?.len();
        Ok((opened.counts()?, notes))
    };
    let ((entries, events), notes) = count().map_err(|error| CommandError::from(error).in_store(&folder))?;
    Ok(format!(
        "the store of {}: {} with {}, {}; last used {}",
        store.root,
        counted(entries as usize, "entry", "entries"),
        counted(notes, "note", "notes"),
        counted(events as usize, "event", "events"),
        when::show(known.used_at),
    ))
}

/// Returns the error for a user who did not agree, or could not be asked.
pub(super) fn not_agreed(root: &str) -> CommandError {
    let message = format!("nothing was changed: you did not agree to use the store of {root}");
    CommandError::new(ErrorKind::Denied, message).hint("run `weir adopt` in a terminal, and answer y")
}

/// Returns where the project with this key is, for messages.
pub(super) fn place(key: &str) -> String {
    moved::home(key).map_or_else(|| key.to_owned(), |home| home.display().to_string())
}
