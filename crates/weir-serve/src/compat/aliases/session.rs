//! Tools about a session: what they report, how a summary becomes a note, and the topic that a note may have.

use serde_json::{Value, json};
use weir_core::wording::flat;
use weir_host::answer::Answer;
use weir_host::error::CommandError;
use weir_operations::context::Reach;
use weir_session::engram::without_private;

use super::super::super::ServerState;
use super::super::record::{Place, Subject};
use super::Given;

/// How many characters of the goal are in the title of a summary.
const MAX_GOAL_CHARS: usize = 80;
/// How many words and characters of a title are in a topic.
const MAX_TOPIC_WORDS: usize = 8;
const MAX_TOPIC_CHARS: usize = 60;
/// Where learnings come from, if the caller does not say.
const DEFAULT_SOURCE: &str = "mem_capture_passive";

/// What hooks would report.
#[derive(Debug, Clone, Copy)]
pub(super) enum Report {
    Begin,
    Prompt,
    /// A text says what was learned.
    Learnings,
}

impl Report {
    /// Stores what the caller reports.
    pub(super) async fn answer(self, state: &ServerState, given: &Given<'_>) -> Result<Answer, CommandError> {
        let session = if matches!(self, Self::Begin) { given.required("id")? } else { given.session() };
        // What a model names is within the project of the server.
        let subject = Subject { project: None, folder: None, session: flat(&session, 200), reach: Reach::OwnProject };
        let place = Place::find(state, &subject).await?;
        match self {
            Self::Begin => {
                let is_new = place.begin(given.text("directory").as_deref()).await?;
                let text = if is_new { "the session is noted" } else { "the session is known" };
                Ok(Answer::new(text.to_owned(), json!({ "session": subject.session, "new": is_new })))
            }
            Self::Prompt => Ok(match place.prompt(&given.required("content")?).await? {
                Some(number) => Answer::new(format!("kept as event {number}"), json!({ "event": number })),
                None => Answer::nothing("nothing that a user says, so nothing was kept".to_owned(), json!({})),
            }),
            Self::Learnings => {
                let source = given.text("source").unwrap_or_else(|| DEFAULT_SOURCE.to_owned());
                let learned = place.learn(&given.required("content")?, &source).await?;
                let (found, kept, before) = (learned.extracted, learned.saved, learned.duplicates);
                let mut text = format!("extracted={found} saved={kept} duplicates={before}");
                if learned.left_out > 0 {
                    text.push_str(&format!(" left_out={}: pass the rest in another call", learned.left_out));
                }
                Ok(Answer::new(text, json!(learned)))
            }
        }
    }
}

/// Returns the note of a summary. A later summary of the same session is a new revision of it.
pub(super) fn summary(content: &str, session: &str) -> Result<Value, CommandError> {
    let content = without_private(content);
    let goal = goal(&content).map(|goal| format!(": {}", flat(goal, MAX_GOAL_CHARS))).unwrap_or_default();
    let text = format!("Session summary{goal}\n\n{content}");
    Ok(json!({ "text": text, "kind": "finding", "topic": format!("session {session}") }))
}

/// Returns the first line below the heading `Goal`.
fn goal(content: &str) -> Option<&str> {
    let is_heading = |line: &&str| line.starts_with('#');
    let is_goal = |line: &str| line.trim_matches(['#', ' ', '\t', ':']).eq_ignore_ascii_case("goal");
    let mut lines = content.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.find(|line| is_heading(line) && is_goal(line))?;
    lines.next().filter(|line| !is_heading(line))
}

/// Suggests a topic: the type, and the words of the title.
pub(super) fn topic_key(given: &Given<'_>) -> Result<String, CommandError> {
    let about = given.text("title").or_else(|| given.text("content"));
    let about = about.ok_or_else(|| {
        CommandError::usage("there is nothing to make a topic from").hint("pass `title`, or `content` without one")
    })?;
    let family = words(&given.text("type").unwrap_or_default());
    let family = if family.is_empty() { "topic".to_owned() } else { family };
    let name = words(&about);
    let name = if name.is_empty() { "general".to_owned() } else { name };
    Ok(format!("Suggested topic_key: {family}/{name}"))
}

/// Returns the first words of a text in lower case, joined by hyphens.
fn words(text: &str) -> String {
    let lower = text.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let joined = words.take(MAX_TOPIC_WORDS).collect::<Vec<_>>().join("-");
    joined.chars().take(MAX_TOPIC_CHARS).collect::<String>().trim_end_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(content: &str, title: &str) {
        let note = summary(content, "s1").unwrap();
        let text = note["text"].as_str().unwrap();
        assert_eq!(text.lines().next(), Some(title), "{content}");
        assert_eq!(note["topic"], "session s1");
    }

    #[test]
    fn a_summary_is_named_by_its_goal() {
        check("## Goal\n\nMake the pool smaller\n\n## Discoveries\n- x", "Session summary: Make the pool smaller");
        check("# goal:\n## Discoveries\n- x", "Session summary");
        check("Goal: none of the headings", "Session summary");
        check("## Goal\n<private>the merger</private> with X", "Session summary: [REDACTED] with X");
    }

    #[test]
    fn a_topic_has_the_words_of_the_title() {
        assert_eq!(words("Fixed N+1 query, in `UserList`!"), "fixed-n-1-query-in-userlist");
        assert_eq!(words("…"), "");
        assert_eq!(words(&"long ".repeat(40)), "long-long-long-long-long-long-long-long");
    }
}
