//! The pages as a browser sees them, and a home with something of everything to look at.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::sync::mpsc::channel;

use serde_json::{Value, json};

use crate::serve::support::{Request, Response};
use crate::support::{Home, TIMEOUT, write};

/// The server of the pages. It ends with the test.
pub(super) struct Pages {
    process: Child,
    authority: String,
    pub(super) link: String,
    /// The cookie of the browser that opened the link; empty before that.
    pub(super) cookie: String,
}

impl Pages {
    pub(super) fn start(home: &Home) -> Self {
        Self::start_with(home, &[])
    }

    pub(super) fn start_with(home: &Home, options: &[&str]) -> Self {
        let mut process = home.weir_command(&[&["ui"], options].concat()).stderr(Stdio::piped()).spawn().unwrap();
        let (sender, lines) = channel();
        let stderr = process.stderr.take().unwrap();
        // The thread ends with the program's output.
        std::thread::spawn(move || {
            BufReader::new(stderr).lines().map_while(Result::ok).try_for_each(|line| sender.send(line))
        });
        let next = || lines.recv_timeout(TIMEOUT).unwrap_or_else(|error| panic!("no link: {error}"));
        let address =
            std::iter::repeat_with(next).find_map(|line| line.trim().strip_prefix("http://").map(str::to_owned));
        let address = address.unwrap();
        let (authority, path) = address.split_once('/').unwrap();
        let (authority, link) = (authority.to_owned(), format!("/{path}"));
        Self { process, authority, link, cookie: String::new() }
    }

    /// Starts the server and opens its link.
    pub(super) fn open(home: &Home) -> Self {
        let mut pages = Self::start(home);
        let welcome = pages.send(&Request::get(&pages.link));
        assert_eq!(welcome.status, 200, "{}", welcome.text());
        let cookie = welcome.header("set-cookie").unwrap();
        pages.cookie = cookie.split(';').next().unwrap().to_owned();
        pages
    }

    pub(super) fn send(&self, request: &Request) -> Response {
        let mut stream = TcpStream::connect(&self.authority).unwrap();
        stream.set_read_timeout(Some(TIMEOUT)).unwrap();
        stream.write_all(&request.bytes(&self.authority)).unwrap();
        Response::read(&mut stream)
    }

    /// Returns a request for a page from the browser that opened the link.
    pub(super) fn request(&self, path: &str) -> Request {
        Request::get(path).header("Cookie", &self.cookie)
    }

    /// Gets a page. One redirect is followed.
    pub(super) fn get(&self, path: &str) -> Response {
        let response = self.send(&self.request(path));
        match response.header("location") {
            Some(address) => self.send(&self.request(address)),
            None => response,
        }
    }

    /// Returns the text of a page, which must be there.
    pub(super) fn page(&self, path: &str) -> String {
        let response = self.get(path);
        assert_eq!(response.status, 200, "{path}: {}", response.text());
        response.text()
    }

    pub(super) fn project(&self) -> String {
        let key = between(&self.page("/projects"), "href=\"/in/", "\"").unwrap();
        format!("/in/{}", key.split('/').next().unwrap())
    }

    pub(super) fn token(&self) -> String {
        between(&self.page("/settings"), "name=\"token\" value=\"", "\"").unwrap()
    }

    pub(super) fn form(&self, path: &str, fields: &[(&str, &str)]) -> Request {
        let encode = |text: &str| text.bytes().map(|byte| format!("%{byte:02x}")).collect::<String>();
        let pairs = fields.iter().map(|(name, value)| format!("{name}={}", encode(value)));
        Request::post(path, pairs.collect::<Vec<_>>().join("&"))
            .header("Cookie", &self.cookie)
            .header("Origin", &format!("http://{}", self.authority))
            .header("Content-Type", "application/x-www-form-urlencoded")
    }

    /// Sends a form with its token, which must be accepted. Returns where it leads.
    pub(super) fn submit(&self, path: &str, fields: &[(&str, &str)]) -> String {
        let token = self.token();
        let more: &[(&str, &str)] = &[("token", token.as_str()), ("back", "/notes")];
        let response = self.send(&self.form(path, &[fields, more].concat()));
        assert_eq!(response.status, 303, "{path}: {}", response.text());
        response.header("location").unwrap().to_owned()
    }

    pub(super) fn authority(&self) -> &str {
        &self.authority
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

pub(super) fn between(text: &str, start: &str, end: &str) -> Option<String> {
    text.split_once(start)?.1.split_once(end).map(|(found, _)| found.to_owned())
}

/// Returns the numbers from 1, one per line.
fn numbers(to: u32) -> String {
    (1..=to).map(|number| format!("{number}\n")).collect()
}

/// Reports a command and its output as Claude Code's Bash tool does. Returns the reference of the output, if it was
/// held.
pub(super) fn ran(home: &Home, command: &str, output: &str) -> Option<String> {
    let answer = home.hook(
        "s",
        "PostToolUse",
        &json!({
            "tool_name": "Bash", "tool_use_id": "t1", "duration_ms": 27, "tool_input": { "command": command },
            "tool_response": { "stdout": output, "stderr": "", "interrupted": false, "isImage": false },
        }),
    );
    let shown = answer["hookSpecificOutput"]["updatedToolOutput"]["stdout"].as_str()?.to_owned();
    between(&shown, "[ctx:", "]")
}

fn transcript() -> String {
    let now = jiff::Timestamp::now().to_string();
    let timed = |row: &str| {
        let mut row: Value = serde_json::from_str(row).unwrap();
        row["timestamp"] = json!(now);
        format!("{row}\n")
    };
    crate::window::session(60, 1_500).lines().map(timed).collect()
}

/// A home with a session, a held output, notes of the user and of a model, and a transcript. Returns the references of
/// the output and of the model's note.
pub(super) fn furnished() -> (Home, String, String) {
    let home = Home::new();
    write(&home.at(".claude/projects/p/s.jsonl"), transcript());
    home.hook("s", "UserPromptSubmit", &json!({ "prompt": "Make the pool of connections smaller" }));
    let output = ran(&home, "seq 1 30000", &numbers(30_000)).unwrap();
    home.write("pool.rs", "16");
    home.note(&["The pool has 8 connections", "--topic", "pool", "--kind", "decision"]);
    home.note(&["The pool has 16 connections", "--topic", "pool", "--kind", "decision", "--files", "pool.rs"]);
    let kept = home.session("s").call("ctx_annotate", &json!({ "text": "Tests need port 7071", "topic": "port" }));
    let note = between(&kept, "[ctx:", "]").unwrap();
    (home, output, note)
}
