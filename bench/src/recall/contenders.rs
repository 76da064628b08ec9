//! The contenders: ways of showing an output, and of asking once more.

use std::path::{Path, PathBuf};

use serde_json::json;

use super::QuestionTiming;
use super::set::{Output, Set};
use crate::server::Server;

/// A way of showing an output.
pub(crate) trait Contender {
    /// Sees all outputs before the first question, so that an answer has to be found among many.
    fn prepare(&mut self, set: &Set);
    fn first(&mut self, place: usize, output: &Output, question: &str) -> String;
    /// Returns what one more call with the question shows, if there is such a call.
    fn second(&mut self, place: usize, question: &str) -> Option<String>;
}

/// The beginning and the end, with this many tokens each.
pub(crate) struct HeadAndTail {
    tokens: Vec<usize>,
}

impl HeadAndTail {
    pub(crate) fn of(tokens: Vec<usize>) -> Self {
        Self { tokens }
    }
}

impl Contender for HeadAndTail {
    fn prepare(&mut self, _: &Set) {}

    fn first(&mut self, place: usize, output: &Output, _: &str) -> String {
        let half = self.tokens[place] / 2;
        let text = &output.text;
        let head = weir_tokens::fit(text, half);
        let mut start = text.len().saturating_sub(half * 8).max(head);
        while !text.is_char_boundary(start) {
            start += 1;
        }
        let mut tail = &text[start..];
        while weir_tokens::count(tail) > half {
            let cut = (tail.len() / 16).max(1);
            tail = &tail[tail.ceil_char_boundary(cut)..];
        }
        format!("{}\n…\n{tail}", &text[..head])
    }

    fn second(&mut self, _: usize, _: &str) -> Option<String> {
        None
    }
}

/// An MCP server with `ctx_execute` and `ctx_search`.
pub(crate) struct McpContender {
    server: Server,
    timing: QuestionTiming,
    project: PathBuf,
    /// Whether a later output replaces an earlier one, so that questions are asked right after each.
    forgets: bool,
    first: Vec<(usize, String)>,
    /// How a peer is restarted, and the number of questions since. One peer holds back answers if it is asked more
    /// often than a model would ask.
    peer: Option<(Vec<String>, usize)>,
    home: tempfile::TempDir,
}

/// The number of questions after which a peer is restarted.
const QUESTIONS_PER_START: usize = 3;

impl McpContender {
    /// Creates Weir itself, in an empty home.
    pub(crate) fn weir(path: &str, project: &Path, timing: QuestionTiming) -> Self {
        let home = tempfile::tempdir().unwrap();
        let path = std::fs::canonicalize(path).unwrap();
        let server = Server::start(path.to_str().unwrap(), home.path(), project);
        Self { server, timing, project: project.to_owned(), forgets: false, first: Vec::new(), peer: None, home }
    }

    /// Creates another server, from its command.
    pub(crate) fn peer(command: &str, project: &Path, timing: QuestionTiming) -> Self {
        let home = tempfile::tempdir().unwrap();
        let words: Vec<&str> = command.split_whitespace().collect();
        let mut server = Server::start_any(&words, home.path(), project);
        // A server that does not work must not be measured as one that does.
        let probe = json!({ "language": "shell", "code": "echo a probe of forty-two words" });
        let answer = server.call("ctx_execute", &probe);
        assert!(answer.contains("\na probe of forty-two words"), "{answer}");
        let peer = Some((words.iter().map(|word| (*word).to_owned()).collect(), 0));
        Self { server, timing, project: project.to_owned(), forgets: true, first: Vec::new(), peer, home }
    }

    /// Restarts a peer that was asked often; it keeps what it has stored.
    fn refresh(&mut self) {
        let Some((words, asked)) = &mut self.peer else { return };
        *asked += 1;
        if *asked > QUESTIONS_PER_START {
            *asked = 1;
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let old = std::mem::replace(&mut self.server, Server::start_any(&words, self.home.path(), &self.project));
            old.kill();
        }
    }

    /// Returns what was shown of an output without a question.
    fn shown(&mut self, place: usize, output: &Output) -> String {
        if let Some((_, text)) = self.first.iter().find(|(other, _)| *other == place) {
            return text.clone();
        }
        let text = self.execute(output, None);
        self.first.push((place, text.clone()));
        text
    }

    fn execute(&mut self, output: &Output, intent: Option<&str>) -> String {
        let code = format!("cat {}; exit {}", self.project.join(&output.name).display(), output.exit_code);
        let mut arguments = json!({ "language": "shell", "code": code });
        if let Some(intent) = intent {
            arguments["intent"] = json!(intent);
        }
        self.server.call("ctx_execute", &arguments)
    }
}

impl Contender for McpContender {
    fn prepare(&mut self, set: &Set) {
        if self.timing != QuestionTiming::First && !self.forgets {
            let all = set.outputs.iter().enumerate();
            self.first = all.map(|(place, output)| (place, self.execute(output, None))).collect();
        }
    }

    fn first(&mut self, place: usize, output: &Output, question: &str) -> String {
        match self.timing {
            QuestionTiming::First => self.execute(output, Some(question)),
            QuestionTiming::Get | QuestionTiming::Search => self.shown(place, output),
        }
    }

    fn second(&mut self, place: usize, question: &str) -> Option<String> {
        match self.timing {
            QuestionTiming::First => None,
            QuestionTiming::Get => {
                let first = self.first.iter().find(|(other, _)| *other == place)?;
                let reference = first.1.split_once("held as [ctx:")?.1.split(']').next()?;
                Some(self.server.call("ctx_get", &json!({ "ref": reference, "intent": question })))
            }
            QuestionTiming::Search => {
                self.refresh();
                Some(self.server.call("ctx_search", &json!({ "queries": [question], "limit": 1 })))
            }
        }
    }
}
