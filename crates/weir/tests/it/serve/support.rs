//! The program as an HTTP server, and a small client that can also misbehave.

use std::io::{BufRead as _, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, channel};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::support::{Home, TIMEOUT, WEIR, wait_until};

/// The program as a server on a free port of the loopback interface. It ends with the test.
pub(crate) struct Server {
    process: Child,
    /// What it has written to standard error, line by line, after the first line.
    errors: Mutex<Receiver<String>>,
    url: String,
    token: String,
}

impl Server {
    pub(crate) fn start(home: &Home) -> Self {
        Self::start_with(home, &[])
    }

    pub(crate) fn start_with(home: &Home, options: &[&str]) -> Self {
        Self::start_in(home, options, &[])
    }

    pub(crate) fn start_in(home: &Home, options: &[&str], variables: &[(&str, &str)]) -> Self {
        let bind: &[&str] = if options.contains(&"--bind") { &[] } else { &["--bind", "127.0.0.1:0"] };
        let arguments = [&["serve"], bind, options].concat();
        let mut command = home.weir_command(&arguments);
        command.envs(variables.iter().copied());
        Self::spawn(home, command)
    }

    pub(crate) fn start_team(home: &Home, options: &[&str]) -> Self {
        Self::start_team_in(home, options, &[])
    }

    pub(crate) fn start_team_in(home: &Home, options: &[&str], variables: &[(&str, &str)]) -> Self {
        let bind: &[&str] = if options.contains(&"--bind") { &[] } else { &["--bind", "127.0.0.1:0"] };
        let mut command = home.server_command(&[&["serve"], bind, options].concat());
        command.envs(variables.iter().copied());
        Self::spawn(home, command)
    }

    /// Starts a server that may have only so many files open.
    pub(crate) fn start_with_files(home: &Home, files: usize) -> Self {
        let script = format!("ulimit -n {files}; exec \"$@\"");
        Self::spawn(home, home.command("sh", &["-c", &script, "sh", WEIR, "serve", "--bind", "127.0.0.1:0"]))
    }

    /// Starts the server of a team whose umask gives everything away.
    pub(crate) fn start_open_to_all(home: &Home, options: &[&str]) -> Self {
        let server = home.server_command(&[]);
        let program = server.get_program().to_str().unwrap();
        let start = ["-c", "umask 000; exec \"$@\"", "sh", program, "serve", "--bind", "127.0.0.1:0"];
        Self::spawn(home, home.command("sh", &[&start[..], options].concat()))
    }

    fn spawn(home: &Home, mut command: Command) -> Self {
        let token = print_token(home, "run");
        let mut process = command.stderr(Stdio::piped()).spawn().unwrap();
        let (sender, errors) = channel();
        let stderr = process.stderr.take().unwrap();
        // The thread ends with the program's output.
        std::thread::spawn(move || {
            BufReader::new(stderr).lines().map_while(Result::ok).try_for_each(|line| sender.send(line))
        });
        let first = errors.recv_timeout(TIMEOUT).unwrap_or_else(|error| panic!("no address: {error}"));
        let url = first.strip_prefix("weir: listening on ").unwrap_or_else(|| panic!("{first}")).to_owned();
        Self { process, errors: Mutex::new(errors), url, token }
    }

    /// Returns where the server is, without a slash at the end.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Returns a token with the highest scope.
    pub(crate) fn token(&self) -> &str {
        &self.token
    }

    /// Returns the host and port by which this machine reaches the server.
    pub(crate) fn authority(&self) -> String {
        self.url.rsplit('/').next().unwrap().replace("0.0.0.0", "127.0.0.1")
    }

    /// Opens a connection. Reading from it takes a bounded time.
    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.authority()).unwrap();
        stream.set_read_timeout(Some(TIMEOUT)).unwrap();
        stream
    }

    pub(crate) fn send(&self, request: &Request) -> Response {
        let mut stream = self.connect();
        stream.write_all(&request.bytes(&self.authority())).unwrap();
        Response::read(&mut stream)
    }

    pub(crate) fn get(&self, path: &str) -> Response {
        self.send(&Request::get(path).token(&self.token))
    }

    pub(crate) fn post(&self, tool: &str, arguments: &Value) -> Response {
        self.send(&Request::tool(tool, arguments).token(&self.token))
    }

    /// Calls a tool, which must answer. Returns the body of the answer.
    pub(crate) fn call(&self, tool: &str, arguments: &Value) -> Value {
        let response = self.post(tool, arguments);
        assert_eq!(response.status, 200, "{tool} {arguments}: {}", response.text());
        response.json()
    }

    /// Sends a message of MCP with the token. Returns the answer.
    pub(crate) fn mcp(&self, message: &Value) -> Response {
        self.send(&Request::mcp(message).token(&self.token))
    }

    /// Returns the next line that the server writes to standard error.
    pub(crate) fn next_line(&self) -> String {
        self.errors.lock().unwrap().recv_timeout(TIMEOUT).unwrap_or_else(|error| panic!("no line: {error}"))
    }

    pub(crate) fn terminate(&self) {
        let id = i32::try_from(self.process.id()).ok().and_then(Pid::from_raw).unwrap();
        kill_process(id, Signal::TERM).unwrap();
    }

    /// Kills the server, as a machine that fails does.
    pub(crate) fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    /// Waits until the server has ended on its own.
    pub(crate) fn wait_for_end(&mut self) -> ExitStatus {
        let mut ended = None;
        assert!(wait_until(TIMEOUT, || {
            ended = self.process.try_wait().unwrap();
            ended.is_some()
        }));
        ended.unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

pub(crate) fn print_token(home: &Home, scope: &str) -> String {
    home.ok(&["serve", "--print-token", "--scope", scope]).trim().to_owned()
}

#[derive(Clone)]
pub(crate) struct Request {
    method: &'static str,
    path: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Request {
    /// Returns a request without a body.
    pub(crate) fn get(path: &str) -> Self {
        Self { method: "GET", path: path.to_owned(), headers: Vec::new(), body: Vec::new() }
    }

    pub(crate) fn post(path: &str, body: impl Into<Vec<u8>>) -> Self {
        Self { method: "POST", body: body.into(), ..Self::get(path) }
    }

    pub(crate) fn tool(name: &str, arguments: &Value) -> Self {
        Self::post(&format!("/v1/tools/{name}"), arguments.to_string()).header("Content-Type", "application/json")
    }

    pub(crate) fn mcp(message: &Value) -> Self {
        Self::post("/mcp", message.to_string())
            .header("Content-Type", "application/json")
            .header("Accept", "application/json, text/event-stream")
    }

    pub(crate) fn method(self, method: &'static str) -> Self {
        Self { method, ..self }
    }

    /// Returns the same request with a header. A second `Host` takes the place of the usual one.
    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn token(self, token: &str) -> Self {
        self.header("Authorization", &format!("Bearer {token}"))
    }

    /// Returns the request as bytes, for a server with this host and port.
    pub(crate) fn bytes(&self, authority: &str) -> Vec<u8> {
        let mut head = format!("{} {} HTTP/1.1\r\nConnection: close\r\n", self.method, self.path);
        let has = |wanted: &str| self.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case(wanted));
        if !has("host") {
            head.push_str(&format!("Host: {authority}\r\n"));
        }
        if !has("content-length") && !has("transfer-encoding") && !self.body.is_empty() {
            head.push_str(&format!("Content-Length: {}\r\n", self.body.len()));
        }
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str("\r\n");
        [head.as_bytes(), &self.body].concat()
    }
}

#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Response {
    /// Reads an answer until the connection is closed.
    pub(crate) fn read(stream: &mut impl Read) -> Self {
        let mut bytes = Vec::new();
        let ended = stream.read_to_end(&mut bytes);
        let end = bytes.windows(4).position(|window| window == b"\r\n\r\n");
        let end = end.unwrap_or_else(|| panic!("no answer ({ended:?}): {}", String::from_utf8_lossy(&bytes)));
        let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
        let mut lines = head.lines();
        let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
        let headers = lines.filter_map(|line| line.split_once(": "));
        let headers: Vec<(String, String)> =
            headers.map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned())).collect();
        let is_chunked = headers.iter().any(|(name, _)| name == "transfer-encoding");
        let body = bytes[end + 4..].to_vec();
        Self { status, headers, body: if is_chunked { unchunked(&body) } else { body } }
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {} {}", self.status, self.text()))
    }

    /// Checks that this is an error in the common form, and returns it.
    #[track_caller]
    pub(crate) fn problem(&self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", self.text());
        assert_eq!(self.header("content-type"), Some("application/problem+json"), "{self:?}");
        assert!(self.header("x-request-id").is_some_and(|id| !id.is_empty()), "{self:?}");
        let problem = self.json();
        assert_eq!(problem["status"], json!(status), "{problem}");
        for field in ["type", "title", "detail"] {
            assert!(problem[field].as_str().is_some_and(|text| !text.is_empty()), "{field}: {problem}");
        }
        problem
    }
}

/// Returns the content of a body that was sent in chunks.
fn unchunked(mut body: &[u8]) -> Vec<u8> {
    let mut content = Vec::new();
    while let Some(end) = body.windows(2).position(|window| window == b"\r\n") {
        let size = usize::from_str_radix(std::str::from_utf8(&body[..end]).unwrap(), 16).unwrap();
        if size == 0 {
            break;
        }
        content.extend_from_slice(&body[end + 2..end + 2 + size]);
        body = &body[end + 2 + size + 2..];
    }
    content
}
