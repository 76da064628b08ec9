//! Finds entries by references as people type them: in full, or only the first characters.

use weir_core::{Level, Reference};
use weir_host::answer::one_line;
use weir_host::error::{CommandError, ErrorKind};

use crate::needs::KnowledgeContext;

/// The fewest characters that are looked up. Fewer are probably a slip.
const MIN_CHARS: usize = 3;
/// The maximum number of references that an error lists.
const MAX_LISTED: usize = 6;

/// Returns the reference that a text names, in full or by its first characters.
pub async fn resolve(context: &KnowledgeContext, text: &str) -> Result<Reference, CommandError> {
    let wrong = match Reference::parse(text) {
        Ok(reference) => return Ok(reference),
        Err(error) => error,
    };
    let where_listed = format!("`weir history` and {} list references", context.face().search());
    let beginning = Reference::beginning(text).filter(|beginning| beginning.len() >= MIN_CHARS);
    let Some(beginning) = beginning else {
        return Err(CommandError::usage(wrong.to_string()).hint(where_listed));
    };
    let mut found = in_progress(context, &beginning);
    let (scope, wanted) = (context.scope(), beginning.clone());
    let stored = context.with_stores(move |open| {
        let mut stored = Vec::new();
        for level in [Level::Project, Level::User] {
            if let Some(store) = open.existing(level)? {
                stored.extend(store.beginning_with(&scope, &wanted, MAX_LISTED + 1)?);
            }
        }
        Ok(stored)
    });
    found.extend(stored.await?);
    let typed = one_line(text.trim(), 40);
    match &found[..] {
        [(one, _)] => Ok(*one),
        [] => Err(CommandError::new(ErrorKind::NotFound, format!("no reference here begins with `{typed}`"))
            .hint(where_listed)),
        several => {
            let shown = several.iter().take(MAX_LISTED);
            let list = shown.map(|(reference, title)| format!("  {reference} {}", one_line(title, 60)));
            let more = if several.len() > MAX_LISTED { "\n  …" } else { "" };
            let list = list.collect::<Vec<_>>().join("\n");
            Err(CommandError::usage(format!("`{typed}` is the beginning of several references"))
                .hint(format!("add characters until only one is left:\n{list}{more}")))
        }
    }
}

pub async fn resolve_all(context: &KnowledgeContext, texts: &[String]) -> Result<Vec<Reference>, CommandError> {
    let mut references = Vec::with_capacity(texts.len());
    for text in texts {
        references.push(resolve(context, text).await?);
    }
    Ok(references)
}

fn in_progress(context: &KnowledgeContext, beginning: &str) -> Vec<(Reference, String)> {
    let runs = context.runs_in_progress().into_iter().map(|run| (run.reference, run.title));
    runs.filter(|(reference, _)| reference.as_str().starts_with(beginning)).collect()
}

#[cfg(test)]
mod tests {
    use weir_core::{EntryKind, NewEntry, Origin};
    use weir_host::face::Face;

    use super::*;

    #[test]
    fn a_beginning_names_an_entry_unless_several_have_it() {
        let folder = tempfile::tempdir().unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let context = KnowledgeContext::without_machine(folder.path(), Face::Http);
        for (reference, title) in [("k7f2m9q4xz", "one"), ("k7f2zzzzzz", "two"), ("zyjr7j9p4e", "three")] {
            let reference = Reference::parse(reference).ok();
            let entry = NewEntry::new(EntryKind::Run, Origin::Tool, Level::Project, title.to_owned());
            runtime.block_on(context.keep(NewEntry { reference, ..entry })).unwrap();
        }
        let check = |text: &str, expected: &str| {
            let found = runtime.block_on(resolve(&context, text));
            let found = found.map_or_else(|error| error.to_string(), |reference| reference.to_string());
            assert!(found.contains(expected), "{text}: {found}");
        };
        check("ctx:ZYJ", "[ctx:zyjr7j9p4e]");
        check("k7f2m", "[ctx:k7f2m9q4xz]");
        check("[ctx:k7f2zzzzzz]", "[ctx:k7f2zzzzzz]");
        check("k7f", "`k7f` is the beginning of several references");
        check("k7f", "\n  [ctx:k7f2m9q4xz] one\n  [ctx:k7f2zzzzzz] two");
        check("abc", "no reference here begins with `abc`");
        check("zy", "is not a reference");
    }
}
