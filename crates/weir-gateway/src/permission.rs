//! May a tool of a server be called? The entry, the user's rules and the user decide; a server has no say.
//!
//! Invariants: what is denied stays denied however it is called; a call that destroys something, or whose tool has
//! changed since the user last knew it, is asked about or refused; nothing here widens what the client would allow.

use rmcp::model::Tool;
use serde_json::Value;
use weir_context::{Context, permission};
use weir_core::wording::one_line;
use weir_host::error::{CommandError, ErrorKind};
use weir_policy::rules::Verdict;

use crate::effect::ToolEffect;
use crate::entries::ServerEntry;

/// How much of a changed description a question shows, in characters.
const MAX_SHOWN_CHARS: usize = 600;
/// How much of the arguments of a call a question shows, in characters.
const MAX_ARGUMENTS_CHARS: usize = 1_500;

/// Who has already agreed to a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    /// The client knows the tool by its own name and hints, and has asked or has a rule.
    ByClient,
    /// The client knows only what kind of call it is.
    Kind,
    /// Nobody: a script makes the call.
    Nobody,
}

/// A call to decide about.
pub(crate) struct Wish<'a> {
    pub server: &'a str,
    pub entry: &'a ServerEntry,
    pub tool: &'a Tool,
    pub arguments: &'a Value,
    /// The description that the user knows, if the tool has changed since.
    pub changed: Option<&'a str>,
    pub asked: Asked,
}

/// Returns an error unless the call may be made.
pub(crate) async fn require(context: &Context, wish: &Wish<'_>) -> Result<(), CommandError> {
    let name = wish.name();
    if !wish.entry.offers(&wish.tool.name) {
        return Err(denied(&format!("the entry of {} denies {}", wish.server, wish.tool.name)));
    }
    let rules = permission::rules(context);
    let rule = rules.tool(&format!("mcp__{}__{}", wish.server, wish.tool.name));
    let verdict = rule.map(|rule| rule.verdict);
    if verdict == Some(Verdict::Deny) {
        return Err(denied(&format!("a rule denies {name}")));
    }
    let is_allowed =
        verdict == Some(Verdict::Allow) || wish.entry.allow.iter().any(|name| *name == wish.tool.name || name == "*");
    let effect = ToolEffect::of(wish.tool);
    let is_open = match wish.asked {
        Asked::ByClient => true,
        Asked::Kind => effect < ToolEffect::Destroys || is_allowed,
        Asked::Nobody => effect == ToolEffect::Reads || is_allowed,
    };
    let why = match wish.changed {
        Some(known) => format!(
            "the description of {name} has changed. It was:\n{}\nIt is:\n{}",
            excerpt(known),
            excerpt(wish.tool.description.as_deref().unwrap_or_default())
        ),
        None if verdict == Some(Verdict::Ask) && wish.asked != Asked::ByClient => format!("a rule asks about {name}"),
        None if !is_open && effect == ToolEffect::Destroys => format!("{name} may destroy something"),
        None if !is_open => format!("a script calls {name}, which may write"),
        None => return Ok(()),
    };
    let arguments = one_line(&wish.arguments.to_string(), MAX_ARGUMENTS_CHARS);
    let about = format!("{why}\n\n{arguments}");
    match context.consent(&format!("Call {name}?"), &lines(&about)).await? {
        true => Ok(()),
        false => Err(denied(why.lines().next().unwrap_or_default()).hint(hint(wish))),
    }
}

impl Wish<'_> {
    fn name(&self) -> String {
        format!("{}/{}", self.server, self.tool.name)
    }
}

fn denied(why: &str) -> CommandError {
    CommandError::new(ErrorKind::Denied, format!("nothing was called. {why}"))
        .hint("do not work around this; the user can change the rule")
}

fn hint(wish: &Wish<'_>) -> String {
    let (server, tool) = (wish.server, &wish.tool.name);
    match wish.changed {
        Some(_) => format!(
            "the user could not be asked or declined; after reading it, they can run `weir servers accept {server} {tool}`"
        ),
        None => format!(
            "the user could not be asked or declined; they can allow it with `weir servers allow {server} {tool}`"
        ),
    }
}

fn excerpt(text: &str) -> String {
    one_line(text, MAX_SHOWN_CHARS)
}

/// Breaks long lines, so that a question can show all of them.
fn lines(text: &str) -> String {
    let wrap = |line: &str| -> Vec<String> {
        let chars: Vec<char> = line.chars().collect();
        chars.chunks(200).map(|chunk| chunk.iter().collect()).collect()
    };
    text.lines().flat_map(wrap).collect::<Vec<_>>().join("\n")
}
