//! Counts the parts of a first request that are on this machine: MCP servers, memory files, subagents, skills and
//! hooks.

use std::collections::HashMap;
use std::path::Path;

use weir_clients::RECIPES;
use weir_clients::setup::{EntryContent, Recipe, SetupScope};
use weir_context::Context;
use weir_core::wording::counted;
use weir_host::foreign::{self, MAX_SETTINGS_BYTES};
use weir_host::when;
use weir_session::prefix::{CountedPart, CountedParts, PartKind, Starts};
use weir_setup::servers::configured;

use super::memory::{self, FileBase, FolderKind, KnownFolder};
use super::{counts, deferral, servers};

/// The most files of a folder that are read.
const MAX_FILES: usize = 500;

/// Counts the parts of the first request of every client.
pub fn counted_parts(context: &Context, starts: Starts) -> CountedParts {
    let mut parts = server_parts(context, starts);
    let (files, folders) = memory::files_and_folders(context);
    for file in files {
        let note =
            (file.imports > 0).then(|| format!("with {}", counted(file.imports, "imported file", "imported files")));
        parts.extend(clients(&file.readers).map(|client| CountedPart {
            tokens: Some(file.tokens as u64),
            in_project: file.in_project,
            note: note.clone(),
            ..part(client, PartKind::Memory, &file.name)
        }));
    }
    for folder in &folders {
        parts.extend(folder_parts(context, folder));
    }
    parts.extend(deferral::start_hooks(context).into_iter().map(|(client, count)| CountedPart {
        note: Some("not counted: what they print is part of the rest".to_owned()),
        ..part(client, PartKind::Hooks, &counted(count, "command at the start", "commands at the start"))
    }));
    let inline = deferral::findings(context).into_iter().map(|found| (found.client, found.cause)).collect();
    CountedParts { parts, inline }
}

fn part(client: &'static str, kind: PartKind, name: &str) -> CountedPart {
    CountedPart {
        client,
        kind,
        name: name.to_owned(),
        tokens: None,
        tools: Vec::new(),
        in_project: false,
        settings: None,
        note: None,
    }
}

/// Returns the names of these clients, as constants.
fn clients(names: &[String]) -> impl Iterator<Item = &'static str> {
    names.iter().filter_map(|name| Some(weir_clients::find(name)?.name))
}

pub(super) fn server_parts(context: &Context, starts: Starts) -> Vec<CountedPart> {
    let configured = configured(context);
    let (ours, others): (Vec<_>, Vec<_>) = configured.into_iter().partition(|server| server.name == servers::OURS);
    let recipes: HashMap<&str, &Recipe> = RECIPES.iter().map(|recipe| (recipe.title, *recipe)).collect();
    let client_of = |title: &str| recipes.get(title).and_then(|recipe| recipe.client);
    let own = ours.iter().filter_map(|server| client_of(server.client)).map(|client| CountedPart {
        tokens: (client.overhead_tokens > 0).then_some(client.overhead_tokens),
        note: Some("its tools and instructions, as measured with this client".to_owned()),
        ..part(client.name, PartKind::Weir, "")
    });
    let mut parts: Vec<CountedPart> = own.collect();
    let distinct = servers::distinct(&others);
    for count in counts::count(context, &distinct, starts) {
        let (tools, note) = match (count.tools, count.kept) {
            (Ok(tools), None) => (Some(tools), None),
            (Ok(tools), Some(at)) => (Some(tools), Some(format!("counted on {}", when::day(at)))),
            (Err(why), _) => (None, Some(format!("not counted: {why}"))),
        };
        for title in &count.server.clients {
            let Some(client) = client_of(title) else { continue };
            parts.push(CountedPart {
                tokens: tools.as_ref().map(|tools| tools.iter().map(|tool| tool.tokens).sum()),
                tools: tools.clone().unwrap_or_default(),
                settings: recipes.get(title).and_then(|recipe| settings(recipe)),
                note: note.clone(),
                ..part(client.name, PartKind::Server, count.server.name)
            });
        }
    }
    parts
}

/// Returns the file in which a client has its servers, as a person writes its path.
fn settings(recipe: &Recipe) -> Option<String> {
    let is_servers = |what: &EntryContent| matches!(what, EntryContent::Server(..) | EntryContent::ServerTable(_));
    let part = recipe.parts_for(SetupScope::User).find(|part| is_servers(&part.what))?;
    Some(format!("~/{}", part.place.below_home().trim_start_matches('/')))
}

/// Counts the names and descriptions of the subagents or skills in a folder.
fn folder_parts(context: &Context, folder: &KnownFolder) -> Vec<CountedPart> {
    let Some(base) = memory::folder_of(context, folder.base) else { return Vec::new() };
    let place = base.join(&folder.path);
    let found = std::fs::read_dir(&place).into_iter().flatten().flatten().take(MAX_FILES);
    let mut described = Vec::new();
    for entry in found {
        let path = match &folder.file {
            Some(file) => entry.path().join(file),
            None if entry.path().extension().is_some_and(|ending| ending == "md") => entry.path(),
            None => continue,
        };
        let read = match (folder.base, path.strip_prefix(&base)) {
            (FileBase::Project, Ok(below)) => foreign::read_below(&base, below, MAX_SETTINGS_BYTES),
            _ => foreign::read_user_file(&path, MAX_SETTINGS_BYTES),
        };
        if let Ok(bytes) = read {
            described.push(description(&entry.path(), &String::from_utf8_lossy(&bytes)));
        }
    }
    if described.is_empty() {
        return Vec::new();
    }
    let kind = match folder.kind {
        FolderKind::Subagents => PartKind::Subagents,
        FolderKind::Skills => PartKind::Skills,
    };
    let name = if folder.base == FileBase::Project {
        folder.path.clone()
    } else {
        memory::short(context, &base, &folder.path)
    };
    let tokens = described.iter().map(|text| weir_tokens::count(text) as u64).sum();
    let of_client = |client| CountedPart {
        tokens: Some(tokens),
        in_project: folder.base != FileBase::Home,
        note: Some(format!("the descriptions of {}", described.len())),
        ..part(client, kind, &name)
    };
    clients(&folder.readers).map(of_client).collect()
}

/// Returns the name and the description of a subagent or a skill: those of its front matter, or else its first line.
fn description(path: &Path, text: &str) -> String {
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let Some((front, body)) = text.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---")) else {
        return format!("{name}: {}", text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default());
    };
    let mut lines = front.lines().skip_while(|line| !line.starts_with("description:"));
    let Some(first) = lines.next() else {
        return format!("{name}: {}", body.lines().skip(1).find(|line| !line.trim().is_empty()).unwrap_or_default());
    };
    // A long description continues in indented lines.
    let more = lines.take_while(|line| line.starts_with([' ', '\t']) || line.is_empty());
    let words: Vec<&str> =
        std::iter::once(first.trim_start_matches("description:")).chain(more).map(str::trim).collect();
    format!("{name}: {}", words.join(" ").trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subagent_is_described_by_its_front_matter_or_its_first_line() {
        let check = |text: &str, expected: &str| assert_eq!(description(Path::new("a/reviewer.md"), text), expected);
        check("---\nname: r\ndescription: Reads code.\ntools: Read\n---\nLong prompt", "reviewer: Reads code.");
        check("---\ndescription: >\n  Reads\n  code.\nmodel: x\n---\n", "reviewer: > Reads code.");
        check("---\nmodel: x\n---\n\nFirst line\nsecond", "reviewer: First line");
        check("\nFirst line\nsecond", "reviewer: First line");
    }
}
