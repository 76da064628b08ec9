//! Finds a project of this user by its name, its folder or its key.

use std::path::Path;

use weir_host::answer::one_line;
use weir_host::error::{CommandError, ErrorKind};
use weir_store::KnownProject;

use crate::moved;

/// How many projects are named if one is not found.
const MAX_NAMED_PROJECTS: usize = 5;

/// Returns the name of a project: that of the folder that its key names.
pub fn name(key: &str) -> String {
    let name = moved::home(key).and_then(Path::file_name);
    name.map_or_else(|| key.to_owned(), |name| name.to_string_lossy().into_owned())
}

/// Whether a project has this name, this folder or this key.
pub fn is_called(project: &KnownProject, wanted: &str) -> bool {
    is_at(project, wanted) || is_named(project, |name| name == wanted)
}

/// Finds the one project that has this name, this folder or this key.
pub fn find<'a>(projects: &'a [KnownProject], wanted: &str) -> Result<&'a KnownProject, CommandError> {
    if let Some(found) = projects.iter().find(|project| is_at(project, wanted)) {
        return Ok(found);
    }
    let named = |is_it: &dyn Fn(&str) -> bool| -> Vec<&'a KnownProject> {
        projects.iter().filter(|project| is_named(project, is_it)).collect()
    };
    let mut found = named(&|name| name == wanted);
    if found.is_empty() {
        found = named(&|name| name.to_lowercase() == wanted.to_lowercase());
    }
    match found[..] {
        [one] => Ok(one),
        [] => Err(unknown(projects, wanted)),
        _ => Err(ambiguous(&found, wanted)),
    }
}

/// Whether a project has this key, or is in this folder.
fn is_at(project: &KnownProject, wanted: &str) -> bool {
    let folder = Path::new(wanted);
    let is_there = || Path::new(&project.root) == folder || moved::home(&project.key) == Some(folder);
    project.key == wanted || (folder.is_absolute() && is_there())
}

/// Whether the folder of a project, or the work tree in which it was last used, has a name.
fn is_named(project: &KnownProject, is_it: impl Fn(&str) -> bool) -> bool {
    let root = Path::new(&project.root).file_name().map(|name| name.to_string_lossy().into_owned());
    is_it(&name(&project.key)) || root.is_some_and(|root| is_it(&root))
}

fn unknown(projects: &[KnownProject], wanted: &str) -> CommandError {
    let error = CommandError::new(ErrorKind::NotFound, format!("unknown project `{}`", one_line(wanted, 60)));
    let mut near: Vec<(f64, String)> = projects
        .iter()
        .map(|project| {
            let name = name(&project.key);
            (strsim::jaro_winkler(&name.to_lowercase(), &wanted.to_lowercase()), name)
        })
        .collect();
    near.sort_by(|one, other| other.0.total_cmp(&one.0).then_with(|| one.1.cmp(&other.1)));
    near.dedup_by(|one, other| one.1 == other.1);
    let names: Vec<String> = near.iter().take(MAX_NAMED_PROJECTS).map(|(_, name)| one_line(name, 60)).collect();
    match names.is_empty() {
        true => error.hint("no project is known yet: run any `weir` command in the folder of a project"),
        false => error.hint(format!("the known projects with the most similar names: {}", names.join(", "))),
    }
}

fn ambiguous(projects: &[&KnownProject], wanted: &str) -> CommandError {
    let folders: Vec<String> = projects.iter().map(|project| one_line(&project.root, 120)).collect();
    CommandError::usage(format!("{} projects are named `{}`", projects.len(), one_line(wanted, 60)))
        .hint(format!("pass the folder of one of them: {}", folders.join(", ")))
}

#[cfg(test)]
mod tests {
    use weir_core::Timestamp;

    use super::*;

    fn projects() -> Vec<KnownProject> {
        let known = |key: &str, root: &str| KnownProject {
            key: key.to_owned(),
            root: root.to_owned(),
            folder: String::new(),
            used_at: Timestamp(0),
            identity: None,
        };
        vec![
            known("git:/src/api/.git", "/src/api-fix"),
            known("git:/old/web/.git", "/old/web"),
            known("path:/src/Billing", "/src/Billing"),
            known("path:/src/web", "/src/web"),
        ]
    }

    fn check(wanted: &str, expected: Result<&str, &str>) {
        let projects = projects();
        match (find(&projects, wanted), expected) {
            (Ok(found), Ok(key)) => assert_eq!(found.key, key, "{wanted}"),
            (Err(error), Err(part)) => assert!(error.to_string().contains(part), "{wanted}: {error}"),
            (Ok(found), Err(part)) => panic!("{wanted} is {} and not `{part}`", found.key),
            (Err(error), Ok(_)) => panic!("{wanted}: {error}"),
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_project_is_found_by_name_folder_and_key() {
        check("api", Ok("git:/src/api/.git"));
        check("api-fix", Ok("git:/src/api/.git"));
        check("/src/api-fix/", Ok("git:/src/api/.git"));
        check("/src/api", Ok("git:/src/api/.git"));
        check("git:/old/web/.git", Ok("git:/old/web/.git"));
        check("billing", Ok("path:/src/Billing"));
        check("/src/web", Ok("path:/src/web"));
    }

    #[test]
    fn an_unknown_or_ambiguous_name_is_an_error_with_a_way_on() {
        check("bilings", Err("similar names: Billing"));
        check("web", Err("hint: pass the folder of one of them: /old/web, /src/web"));
        check("web", Err("2 projects are named `web`"));
        check("../web", Err("unknown project"));
        assert!(find(&[], "web").unwrap_err().to_string().contains("no project is known yet"));
    }
}
