//! The tools of engram: each is one of ours with other names for its arguments, stores something as a hook would, or
//! is not supported. Invariants: a filter that we do not have is refused and not ignored; a tool needs the token scope
//! of what it does.

mod session;

use std::sync::Arc;

use axum::extract::Request;
use axum::http::StatusCode;
use axum::response::Response;
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use weir_host::answer::{Answer, one_line};
use weir_host::error::{CommandError, ErrorKind};
use weir_host::when;
use weir_http::answer;
use weir_http::problem::Problem;
use weir_knowledge::projects;
use weir_operations::Effect;
use weir_operations::tool_call;
use weir_session::engram;

use super::super::ServerState;
use super::super::caller::Caller;
use super::super::tokens::TokenScope;
use super::super::tools::{self, ToolAnswer, ToolCall};
use super::Compat;

/// A tool of engram.
pub(crate) struct Alias {
    pub(super) name: &'static str,
    /// What it does, for a model.
    pub(super) about: &'static str,
    arguments: &'static [Argument],
    /// What it does to the store.
    pub effect: Effect,
    meaning: Meaning,
}

/// An argument of a tool: its name, its type, and whether it may be left out.
struct Argument {
    name: &'static str,
    of_type: &'static str,
    is_required: bool,
}

/// What a tool of engram is here.
enum Meaning {
    /// One of our tools, by its name, with its arguments.
    Tool(&'static str, fn(&Given<'_>) -> Result<Value, CommandError>),
    /// Stores something that hooks would report.
    Report(session::Report),
    /// Answers without a store.
    Words(fn(&Given<'_>) -> Result<String, CommandError>),
    /// Nothing. The hint says what to use instead.
    Missing(&'static str),
}

const fn required(name: &'static str) -> Argument {
    Argument { name, of_type: "string", is_required: true }
}

const fn text(name: &'static str) -> Argument {
    Argument { name, of_type: "string", is_required: false }
}

const fn number(name: &'static str) -> Argument {
    Argument { name, of_type: "integer", is_required: false }
}

/// The tools, in the order of lists.
pub(super) const ALIASES: &[Alias] = &[
    Alias {
        name: "mem_search",
        about: "Search the notes of this project by words and meaning.",
        arguments: &[required("query"), text("type"), text("project"), text("scope"), number("limit")],
        effect: Effect::Reads,
        meaning: Meaning::Tool("ctx_search", |given| {
            given.refuse("type", "omit `type`: notes cannot be searched by their kind")?;
            let (query, scope, limit) = (given.required("query")?, given.scope()?, given.get("limit"));
            Ok(json!({ "queries": [query], "kind": "note", "scope": scope, "limit": limit }))
        }),
    },
    Alias {
        name: "mem_save",
        about: "Keep a decision, finding or convention for later sessions. Reusing a topic_key adds a revision.",
        arguments: &[
            required("title"),
            required("content"),
            text("type"),
            text("topic_key"),
            text("scope"),
            text("project"),
            text("session_id"),
        ],
        effect: Effect::Adds,
        meaning: Meaning::Tool("ctx_annotate", |given| {
            Ok(json!({
                "text": engram::note_text(&given.required("title")?, &given.required("content")?),
                "kind": engram::kind(&given.text("type").unwrap_or_default()).as_str(),
                "topic": given.text("topic_key"),
                "scope": given.scope()?,
            }))
        }),
    },
    Alias {
        name: "mem_context",
        about: "Show recent sessions, prompts and notes.",
        arguments: &[text("project"), text("scope"), number("limit")],
        effect: Effect::Reads,
        meaning: Meaning::Tool("ctx_context", |given| {
            Ok(json!({ "scope": given.scope()?, "limit": given.get("limit") }))
        }),
    },
    Alias {
        name: "mem_session_summary",
        about: "Keep a summary of the session: goal, discoveries, accomplished, next steps, relevant files.",
        arguments: &[required("content"), text("project"), text("session_id")],
        effect: Effect::Adds,
        meaning: Meaning::Tool("ctx_annotate", |given| session::summary(&given.required("content")?, &given.session())),
    },
    Alias {
        name: "mem_get_observation",
        about: "Get the text behind a reference such as ctx:k7f2m9q4xz, from mem_search or mem_context.",
        arguments: &[required("id")],
        effect: Effect::Reads,
        meaning: Meaning::Tool("ctx_get", |given| Ok(json!({ "ref": given.required("id")? }))),
    },
    Alias {
        name: "mem_save_prompt",
        about: "Keep what the user asked for.",
        arguments: &[required("content"), text("project"), text("session_id")],
        effect: Effect::Adds,
        meaning: Meaning::Report(session::Report::Prompt),
    },
    Alias {
        name: "mem_capture_passive",
        about: "Keep the items below a heading `## Key Learnings:` of a text, each once.",
        arguments: &[required("content"), text("source"), text("project"), text("session_id")],
        effect: Effect::Adds,
        meaning: Meaning::Report(session::Report::Learnings),
    },
    Alias {
        name: "mem_session_start",
        about: "Say that a session began.",
        arguments: &[required("id"), text("project"), text("directory")],
        effect: Effect::Adds,
        meaning: Meaning::Report(session::Report::Begin),
    },
    Alias {
        name: "mem_session_end",
        about: "Say that a session ended, with an optional summary.",
        arguments: &[required("id"), text("summary"), text("project")],
        effect: Effect::Adds,
        meaning: Meaning::Tool("ctx_annotate", |given| match given.text("summary") {
            Some(summary) => session::summary(&summary, &given.required("id")?),
            None => Err(CommandError::usage("nothing to store: a session ends by itself, and there is no `summary`")
                .hint("pass `summary`, or do without this call")),
        }),
    },
    Alias {
        name: "mem_suggest_topic_key",
        about: "Suggest a topic_key for mem_save.",
        arguments: &[text("type"), text("title"), text("content")],
        effect: Effect::Reads,
        meaning: Meaning::Words(session::topic_key),
    },
    Alias {
        name: "mem_update",
        about: "Not supported.",
        arguments: &[],
        effect: Effect::Adds,
        meaning: Meaning::Missing("a note never changes: keep a new one with ctx_annotate and `supersedes`"),
    },
    Alias {
        name: "mem_delete",
        about: "Not supported.",
        arguments: &[],
        effect: Effect::Removes,
        meaning: Meaning::Missing("`weir forget` removes notes, after a dry run"),
    },
    Alias {
        name: "mem_stats",
        about: "Not supported.",
        arguments: &[],
        effect: Effect::Reads,
        meaning: Meaning::Missing("`weir doctor` has the numbers of the store, `weir stats` those of conversations"),
    },
    Alias {
        name: "mem_timeline",
        about: "Not supported.",
        arguments: &[],
        effect: Effect::Reads,
        meaning: Meaning::Missing("`weir history` lists what happened, by session and time"),
    },
];

impl Alias {
    /// Returns the tools that a server has.
    pub(crate) fn all(compat: Option<Compat>) -> &'static [Self] {
        match compat {
            Some(Compat::Engram) => ALIASES,
            None => &[],
        }
    }

    /// Finds a tool by its name, among those that a server has.
    pub(crate) fn find(compat: Option<Compat>, name: &str) -> Option<&'static Self> {
        Self::all(compat).iter().find(|alias| alias.name == name)
    }

    /// Whether a caller is told of the tool: it does something, and the token of the caller allows it.
    pub(crate) fn is_listed(&self, scope: TokenScope) -> bool {
        self.is_supported() && TokenScope::for_effect(self.effect) <= scope
    }

    fn is_supported(&self) -> bool {
        !matches!(self.meaning, Meaning::Missing(_))
    }

    pub(crate) fn tool(&self) -> Tool {
        let properties: JsonObject =
            self.arguments.iter().map(|one| (one.name.to_owned(), json!({ "type": one.of_type }))).collect();
        let required = self.arguments.iter().filter(|one| one.is_required).map(|one| Value::from(one.name));
        let schema = [
            ("type".to_owned(), Value::from("object")),
            ("properties".to_owned(), Value::Object(properties)),
            ("required".to_owned(), required.collect()),
        ];
        let annotations = match self.effect {
            Effect::Reads => ToolAnnotations::new().read_only(true),
            _ => ToolAnnotations::new().destructive(false),
        };
        Tool::new(self.name, self.about, Arc::new(JsonObject::from_iter(schema))).with_annotations(annotations)
    }

    /// Answers `POST /v1/tools/{name}`.
    pub(super) async fn handle(&'static self, state: Arc<ServerState>, request: Request) -> Result<Response, Problem> {
        let needed = TokenScope::for_effect(self.effect);
        let caller = Caller::of(request.headers(), &state.tokens, needed)?;
        let arguments = tools::arguments_of(request).await?;
        let cancel = CancellationToken::new();
        let _given_up = cancel.clone().drop_guard();
        let Answer { text, data, found, .. } = self.call(&state, caller, arguments, cancel).await??;
        Ok(answer::json(StatusCode::OK, &json!({ "text": text, "found": found, "data": data })))
    }

    /// Calls it. The outer error is that there are too many calls.
    pub(crate) async fn call(
        &self,
        state: &Arc<ServerState>,
        mut caller: Caller,
        arguments: JsonObject,
        cancel: CancellationToken,
    ) -> Result<Result<Answer, CommandError>, Problem> {
        let given = Given { arguments: &arguments, caller: &caller };
        if let Err(error) = self.check(state, &given) {
            return Ok(Err(error));
        }
        let (tool, translated) = match &self.meaning {
            Meaning::Tool(tool, translate) => (*tool, translate(&given)),
            Meaning::Report(report) => return Ok(report.answer(state, &given).await),
            Meaning::Words(say) => {
                return Ok(say(&given).map(|text| Answer::new(text.clone(), json!({ "text": text }))));
            }
            Meaning::Missing(hint) => return Ok(Err(self.missing(hint))),
        };
        let (operation, arguments) = match (tool_call::find(tool), translated) {
            (Some(operation), Ok(Value::Object(arguments))) => (operation, arguments),
            (_, Err(error)) => return Ok(Err(error)),
            _ => return Ok(Err(CommandError::broken(&format!("{} has no meaning", self.name)))),
        };
        caller.session = Some(given.session());
        caller.client = caller.client.or_else(|| Some(engram::CLIENT.to_owned()));
        let call = ToolCall { operation, caller, arguments, cancel };
        let ToolAnswer { answer, remarks } = call.run_apart(Arc::clone(state)).await?;
        Ok(answer.map(|mut answer| {
            answer.text.extend(remarks.iter().map(|remark| format!("\n{remark}")));
            answer
        }))
    }

    /// Refuses arguments that are not known, and projects other than that of the server: a model chose them.
    fn check(&self, state: &ServerState, given: &Given<'_>) -> Result<(), CommandError> {
        let is_known = |name: &str| self.arguments.iter().any(|argument| argument.name == name);
        let unknown = given.arguments.keys().find(|name| !is_known(name));
        if let Some(name) = unknown.filter(|_| self.is_supported()) {
            let names: Vec<&str> = self.arguments.iter().map(|argument| argument.name).collect();
            return Err(CommandError::usage(format!("{} has no argument `{}`", self.name, one_line(name, 60)))
                .hint(format!("{} takes {}", self.name, names.join(", "))));
        }
        let own = state.calls.base().project().as_known(when::now());
        match given.text("project").filter(|name| !projects::is_called(&own, name)) {
            Some(name) => {
                let (name, own) = (one_line(&name, 60), projects::name(&own.key));
                Err(CommandError::new(
                    ErrorKind::Denied,
                    format!("this server is for the project `{own}`, not `{name}`"),
                )
                .hint("omit `project`"))
            }
            None => Ok(()),
        }
    }

    fn missing(&self, hint: &str) -> CommandError {
        CommandError::new(ErrorKind::NotFound, format!("{} is not supported", self.name)).hint(hint)
    }
}

/// The arguments of a call, and who makes it.
struct Given<'a> {
    arguments: &'a JsonObject,
    caller: &'a Caller,
}

impl Given<'_> {
    /// Returns an argument as it is.
    fn get(&self, name: &str) -> Option<&Value> {
        self.arguments.get(name)
    }

    /// Returns an argument that is a text, unless it is blank.
    fn text(&self, name: &str) -> Option<String> {
        let text = match self.get(name)? {
            Value::String(text) => text.clone(),
            Value::Number(number) => number.to_string(),
            _ => return None,
        };
        Some(text).filter(|text| !text.trim().is_empty())
    }

    /// Returns an argument that must be there.
    fn required(&self, name: &str) -> Result<String, CommandError> {
        self.text(name)
            .ok_or_else(|| CommandError::usage(format!("`{name}` is missing")).hint(format!("pass `{name}`")))
    }

    /// Refuses an argument that we cannot do.
    fn refuse(&self, name: &str, hint: &str) -> Result<(), CommandError> {
        match self.text(name) {
            Some(_) => Err(CommandError::usage(format!("`{name}` is not supported here")).hint(hint)),
            None => Ok(()),
        }
    }

    /// Returns the scope that is meant.
    fn scope(&self) -> Result<Option<&'static str>, CommandError> {
        self.text("scope").map(|scope| engram::scope(&scope)).transpose()
    }

    /// Returns the key of the session: the one that is named, that of the request, or one for all calls without.
    fn session(&self) -> String {
        let named = self.text("session_id").or_else(|| self.caller.session.clone());
        named.map_or_else(|| "manual".to_owned(), |key| one_line(&key, 200))
    }
}
