//! The tools that show the newest records: `ctx_history`, `ctx_reflect` and `ctx_context`. Invariant: an answer says
//! what it left out.

use std::ops::ControlFlow;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, json};
use weir_core::NoteKind;
use weir_core::wording::{fence, flat};
use weir_http::problem::Problem;
use weir_records::{KeptRecord, Position, RecordId, StoredRecord};
use weir_tools::SharedTool;

use super::look_back::look_back;
use super::shown::{MAX_TEXT_BYTES, draw, happened, name_of, shown};
use super::{Declared, Project, ToolAnswer};
use crate::service::Service;
use crate::service::answers::value_of;
use crate::service::callers::Caller;
use crate::service::entries;
use crate::service::problem::invalid;

/// How many records a list has without a limit of the caller, and at most.
const DEFAULT_LISTED: usize = 20;
const MAX_LISTED: usize = 100;

/// List what was noted, superseded, confirmed and removed, newest first.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct History {
    project: Project,
    /// Number, for the next page
    before: Option<u64>,
    limit: Option<usize>,
}

/// Sum up the newest records: by whom, decided, forked.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Reflect {
    project: Project,
}

/// Show the team's newest notes that are current.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Context {
    project: Project,
    limit: Option<usize>,
}

impl Declared for History {
    const TOOL: SharedTool = weir_tools::HISTORY;

    fn run(self, service: &Service, caller: &Caller) -> Result<ToolAnswer, Problem> {
        let Self { project: Project(project), before, limit } = self;
        let (scope, mark) = (caller.scope(project)?, draw(service)?);
        let limit = listed(limit)?;
        let (mut text, mut data) = (String::new(), Vec::new());
        let rest = look_back(service, &scope, before, |records| {
            for StoredRecord { position, record } in records {
                if data.len() == limit {
                    return Ok(ControlFlow::Break(position));
                }
                let (what, about) = happened(&record);
                let user = name_of(&record.author.user.0);
                match record.body.kept() {
                    None => text.push_str(&format!("{} {user} {what} {about}\n", position.0)),
                    Some(kept) => {
                        let title = fence(mark, &flat(&kept.title, MAX_TEXT_BYTES));
                        text.push_str(&format!("{} {user} {what} {about} {}\n{title}\n", position.0, record.id));
                    }
                }
                data.push(json!({
                    "seq": position.0, "id": record.id.to_string(), "what": what, "about": about,
                    "author": { "user": record.author.user.0.as_str(), "client": record.author.client.as_str() },
                    "at": record.time.millis,
                }));
            }
            Ok(ControlFlow::Continue(()))
        })?;
        let next = (rest.0 > 0).then(|| rest.0.saturating_add(1));
        if let Some(next) = next {
            text.push_str(&format!("older records: before {next}\n"));
        }
        Ok(ToolAnswer { text, data: json!({ "records": data, "before": next }) })
    }
}

impl Declared for Reflect {
    const TOOL: SharedTool = weir_tools::REFLECT;

    fn run(self, service: &Service, caller: &Caller) -> Result<ToolAnswer, Problem> {
        let (scope, mark) = (caller.clear_scope(service, self.project.0)?, draw(service)?);
        let (mut count, mut by_user, mut decisions) = (0u64, Map::new(), Vec::new());
        let everything: Option<u64> = None;
        let rest = look_back(service, &scope, everything, |records| {
            for StoredRecord { record, .. } in records {
                count += 1;
                let written = by_user.entry(record.author.user.0.clone()).or_insert_with(|| 0.into());
                *written = (written.as_u64().unwrap_or_default() + 1).into();
                let note = record.body.kept().and_then(|kept| kept.note.as_ref());
                if note.is_some_and(|note| note.kind == NoteKind::Decision) {
                    decisions.push(record.id);
                }
            }
            Ok(ControlFlow::Continue(()))
        })?;
        let mut text = format!("{count} records after position {}\n", rest.0);
        by_user.iter().for_each(|(user, count)| text.push_str(&format!("{}: {count}\n", name_of(user))));
        let hidden: Vec<RecordId> = decisions.split_off(decisions.len().min(DEFAULT_LISTED));
        let decided = entries::described(service, &scope, &decisions)?;
        decided.iter().for_each(|entry| text.push_str(&shown(entry, mark)));
        let decided = value_of(&decided)?;
        if !hidden.is_empty() {
            text.push_str(&format!("{} older decisions are not shown; ctx_search finds them\n", hidden.len()));
        }
        let data = json!({ "records": count, "by_user": by_user, "decided": decided, "more_decided": hidden.len() });
        Ok(ToolAnswer { text, data })
    }
}

impl Declared for Context {
    const TOOL: SharedTool = weir_tools::CONTEXT;

    fn run(self, service: &Service, caller: &Caller) -> Result<ToolAnswer, Problem> {
        let Self { project: Project(project), limit } = self;
        let (scope, mark) = (caller.clear_scope(service, project)?, draw(service)?);
        let limit = listed(limit)?;
        let everything: Option<u64> = None;
        let mut found: Vec<KeptRecord> = Vec::new();
        let rest = look_back(service, &scope, everything, |records| {
            let kept = records.iter().filter(|stored| stored.record.body.kept().is_some());
            let kept: Vec<(Position, RecordId)> = kept.map(|stored| (stored.position, stored.record.id)).collect();
            let ids: Vec<RecordId> = kept.iter().map(|(_, id)| *id).collect();
            let mut current = entries::current(service, &scope, &ids)?.into_iter().peekable();
            for (position, id) in kept {
                if found.len() == limit {
                    return Ok(ControlFlow::Break(position));
                }
                found.extend(current.next_if(|kept| kept.record.id == id));
            }
            Ok(ControlFlow::Continue(()))
        })?;
        let notes = entries::shown_in(service, &scope, &found)?;
        let mut text: String = notes.iter().map(|entry| shown(entry, mark)).collect();
        if rest.0 > 0 {
            text.push_str(&format!("notes up to position {} are not shown; ctx_search finds them\n", rest.0));
        }
        Ok(ToolAnswer { text, data: json!({ "notes": value_of(&notes)?, "after": rest.0 }) })
    }
}

fn listed(limit: Option<usize>) -> Result<usize, Problem> {
    let limit = limit.unwrap_or(DEFAULT_LISTED);
    if (1..=MAX_LISTED).contains(&limit) {
        return Ok(limit);
    }
    Err(invalid(format!("`limit` must be between 1 and {MAX_LISTED}")))
}
