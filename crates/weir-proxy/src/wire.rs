//! The formats of requests to a model's API: where the results of tools are in a body, and which calls they answer.
//!
//! Invariants: a body is only looked at, and every text is known by its place in it; a body that is not as its format
//! says is not understood at all, so that it is passed on as it is. Adding a format takes a file in `wire` and a line
//! in [`FORMATS`].

mod anthropic;
mod chat;
mod json;
mod responses;
mod tools;

use std::cell::OnceCell;
use std::collections::HashMap;
use std::time::Duration;

use axum::http::Method;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use weir_host::face::Face;

/// The formats, told apart by the end of the path.
const FORMATS: &[WireFormat] = &[anthropic::FORMAT, anthropic::COUNT, chat::FORMAT, responses::FORMAT];

pub(super) struct WireFormat {
    paths: &'static [&'static str],
    /// Reads a body, or returns `None` if it is not of this format.
    pub(super) read: for<'a> fn(&'a str) -> Option<Conversation<'a>>,
    /// Whether a model is shown the request.
    pub(super) reaches_model: bool,
    /// Returns how long the provider keeps what this request writes to its cache, if that is known.
    pub(super) lifetime: fn(&str) -> Option<Duration>,
}

/// Returns the format of a request, if its results of tools are known.
pub(super) fn format_of(method: &Method, path: &str) -> Option<&'static WireFormat> {
    let is_of = |format: &&WireFormat| format.paths.iter().any(|end| path.ends_with(end));
    FORMATS.iter().find(is_of).filter(|_| *method == Method::POST)
}

pub(super) struct Conversation<'a> {
    pub(super) results: Vec<ResultText<'a>>,
    calls: HashMap<String, ModelCall<'a>>,
    first_call: Option<String>,
    tools: Option<&'a RawValue>,
    face: OnceCell<Option<Face>>,
}

/// One text of a tool's result. A result may have several.
pub(super) struct ResultText<'a> {
    /// The text as a JSON string, as a part of the body.
    pub(super) literal: &'a str,
    pub(super) about: AboutResult,
}

/// What a request says about a tool's result.
#[derive(Clone)]
pub(super) struct AboutResult {
    pub(super) call: String,
    /// Whether the client says that the call failed.
    pub(super) failed: bool,
    /// Whether the model has not answered it yet.
    pub(super) is_new: bool,
}

struct ModelCall<'a> {
    name: String,
    input: Option<&'a RawValue>,
}

impl<'a> Conversation<'a> {
    fn new(tools: Option<&'a RawValue>) -> Self {
        Self { results: Vec::new(), calls: HashMap::new(), first_call: None, tools, face: OnceCell::new() }
    }

    fn add_call(&mut self, id: String, call: ModelCall<'a>) {
        self.first_call.get_or_insert_with(|| id.clone());
        self.calls.insert(id, call);
    }

    /// Adds the texts of a result: a string, or the parts of a list that are text.
    fn add_result(&mut self, content: &'a RawValue, about: &AboutResult) {
        let texts = json::texts(content).into_iter();
        self.results.extend(texts.map(|literal| ResultText { literal, about: about.clone() }));
    }

    /// Returns the name of the conversation: its first call, which stays the first until the client compacts.
    pub(super) fn name(&self) -> &str {
        self.first_call.as_deref().unwrap_or_default()
    }

    /// Returns the name and the input of the tool that a call used. Both are empty if the request does not have the
    /// call.
    pub(super) fn call(&self, id: &str) -> (&str, Value) {
        let Some(call) = self.calls.get(id) else { return ("", Value::Null) };
        let input: Value = call.input.and_then(|input| serde_json::from_str(input.get()).ok()).unwrap_or_default();
        // Some formats have the input as a string, which is JSON unless the tool takes any text.
        let input = match input {
            Value::String(text) => {
                serde_json::from_str(&text).ok().filter(Value::is_object).unwrap_or_else(|| json!({ "input": text }))
            }
            input => input,
        };
        (&call.name, input)
    }

    /// Returns how the model can read the rest of a text that is held back, if one of its tools can.
    pub(super) fn face(&self) -> Option<Face> {
        *self.face.get_or_init(|| tools::face(self.tools?))
    }

    /// Whether somebody asked how the model can read the rest, and it cannot.
    pub(super) fn has_no_reader(&self) -> bool {
        self.face.get() == Some(&None)
    }
}

/// Returns a body in which some of its parts are replaced, each by another text, in the order of the body.
pub(super) fn splice(body: &str, replaced: &[(&str, String)]) -> String {
    let mut spliced = String::with_capacity(body.len());
    let mut at = 0;
    for (part, text) in replaced {
        let Some((start, end)) = place(body, part).filter(|(start, _)| *start >= at) else { continue };
        spliced.push_str(&body[at..start]);
        spliced.push_str(text);
        at = end;
    }
    spliced.push_str(&body[at..]);
    spliced
}

fn place(text: &str, part: &str) -> Option<(usize, usize)> {
    let start = part.as_ptr().addr().checked_sub(text.as_ptr().addr())?;
    let end = start.checked_add(part.len())?;
    text.get(start..end).map(|_| (start, end))
}

#[cfg(test)]
mod tests;
