//! The map of a project: the files that matter, with their most important symbols. Also finds symbols for a search.
//!
//! Invariants: a file is read again only if it looks changed, and outlined again only if it is; files that the user's
//! rules deny or that are hidden as secrets are never opened; if a map cannot be stored, the result is an error, never
//! an old map.

mod history;
mod refresh;
mod render;
mod symbols;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use weir_context::{Context, LockedStores};
use weir_core::Scope;
use weir_host::answer::{Answer, Budget};
use weir_host::error::{CommandError, ErrorKind};
use weir_host::foreign;
use weir_outline::map::{Commits, Known, Wish, rank, unpack};
use weir_store::MapFile;

use refresh::MapPart;
pub use render::MapData;
pub use symbols::{FoundSymbol, SymbolQuery, find as find_symbols};

pub struct MapRequest {
    /// The folder, with links resolved.
    pub folder: PathBuf,
    /// Which files take part in the ranking.
    pub reach: Reach,
    /// The files being worked on, with links resolved.
    pub focus: Vec<PathBuf>,
    /// Words that describe the current work.
    pub query: String,
    pub budget: Budget,
}

/// Which files take part in the ranking of a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// All files of the project, since references come from outside the folder too.
    Project,
    /// Only the files of the folder, so that nothing else has to be read.
    Folder,
}

pub async fn map(context: &Context, order: MapRequest) -> Result<Answer<MapData>, CommandError> {
    let scope = context.scope();
    // The first map may take a while, and other calls must not wait for it.
    let context = context.with_own_stores();
    let own = context.clone();
    let work = move |open: &mut LockedStores<'_>| build_map(&own, open, &scope, &order);
    let result = context.with_stores(work).await;
    context.report_progress("");
    result
}

fn build_map(
    context: &Context,
    open: &mut LockedStores<'_>,
    scope: &Scope,
    order: &MapRequest,
) -> Result<Answer<MapData>, CommandError> {
    // A folder of the project belongs to the project's map, however small a part of it is needed now.
    let root = if order.folder.starts_with(&context.project().root) { &context.project().root } else { &order.folder };
    let now = open.now;
    let store = open.project()?;
    let folder = match order.reach {
        Reach::Project => root,
        Reach::Folder => &order.folder,
    };
    let files = refresh::refresh(context, store, scope, MapPart { root, folder }, now)?;
    let counts: Vec<u32> = files.iter().map(|file| file.count).collect();
    let known: Vec<Known> = files.into_iter().map(known).collect();
    let place: HashMap<&str, usize> = known.iter().enumerate().map(|(at, file)| (file.path.as_str(), at)).collect();
    let focus = places(&order.focus, root, &place)?;
    let together = if focus.is_empty() {
        Vec::new()
    } else {
        let commits: Commits = history::commits(context, store, scope, root)?;
        commits.with(&focus, |path| place.get(path).copied())
    };
    let (ranked, heat) = rank(&known, Wish { focus: &focus, query: &order.query, together: &together });
    let drawing = render::RankedMap { root, order, known: &known, counts: &counts, ranked, heat };
    render::answer(context, store, scope, drawing)
}

/// Returns the positions of the focused files in the list of files.
fn places(focus: &[PathBuf], root: &Path, place: &HashMap<&str, usize>) -> Result<Vec<usize>, CommandError> {
    let one = |path: &PathBuf| {
        let below = crate::indexing::below(root, path).unwrap_or_else(|| foreign::path_text(path));
        place.get(below.as_str()).copied().ok_or_else(|| {
            CommandError::new(ErrorKind::NotFound, format!("{below} is not in the map"))
                .hint("the map covers files in supported languages that are neither ignored by git nor denied by rules")
        })
    };
    focus.iter().map(one).collect()
}

fn known(file: MapFile) -> Known {
    let MapFile { path, words, defines, mentions, .. } = file;
    Known { path, words: unpack(&words), defines: unpack(&defines), mentions: unpack(&mentions) }
}

/// Returns the key under which a folder's map is stored.
fn key(root: &Path) -> String {
    foreign::path_text(root)
}
