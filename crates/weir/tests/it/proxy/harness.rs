//! A scripted API, and the proxy in front of it.

use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};

use rustix::process::{Pid, Signal, kill_process};

use crate::support::{Home, TIMEOUT};

/// A request, as it arrived at the API.
#[derive(Debug, Clone)]
pub(super) struct Asked {
    pub(super) line: String,
    headers: Vec<(String, String)>,
    /// The body, without its framing.
    pub(super) body: Vec<u8>,
}

impl Asked {
    /// Reads a request. Returns `None` at the end of the connection.
    pub(super) fn read(from: &mut impl BufRead) -> Option<Self> {
        let (line, headers) = head(from)?;
        let mut asked = Self { line, headers, body: Vec::new() };
        asked.body = match (asked.header("content-length"), asked.header("transfer-encoding")) {
            (Some(length), _) => {
                let mut body = vec![0; length.parse().unwrap()];
                from.read_exact(&mut body).ok()?;
                body
            }
            (None, Some(_)) => chunks(from),
            (None, None) => Vec::new(),
        };
        Some(asked)
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        find(&self.headers, name)
    }
}

#[derive(Debug)]
pub(super) struct Answered {
    pub(super) status: u16,
    headers: Vec<(String, String)>,
    /// The body, without its framing.
    pub(super) body: Vec<u8>,
}

impl Answered {
    fn read(from: &mut impl BufRead) -> Self {
        let (line, headers) = head(from).unwrap();
        let status = line.split(' ').nth(1).unwrap().parse().unwrap();
        let body = match find(&headers, "transfer-encoding") {
            Some(_) => chunks(from),
            None => {
                let mut body = Vec::new();
                from.read_to_end(&mut body).unwrap();
                body
            }
        };
        Self { status, headers, body }
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        find(&self.headers, name)
    }
}

fn find<'h>(headers: &'h [(String, String)], name: &str) -> Option<&'h str> {
    headers.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
}

fn head(from: &mut impl BufRead) -> Option<(String, Vec<(String, String)>)> {
    let mut next = || {
        let mut line = String::new();
        from.read_line(&mut line).ok().filter(|bytes| *bytes > 0).map(|_| line.trim_end().to_owned())
    };
    let first = next()?;
    let mut headers = Vec::new();
    while let Some(line) = next().filter(|line| !line.is_empty()) {
        let (name, value) = line.split_once(':').unwrap();
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    Some((first, headers))
}

fn chunks(from: &mut impl BufRead) -> Vec<u8> {
    let mut body = Vec::new();
    loop {
        let mut line = String::new();
        from.read_line(&mut line).unwrap();
        let length = usize::from_str_radix(line.trim_end(), 16).unwrap_or_else(|error| panic!("{error}: {line}"));
        let begin = body.len();
        body.resize(begin + length + 2, 0);
        from.read_exact(&mut body[begin..]).unwrap();
        body.truncate(begin + length);
        if length == 0 {
            return body;
        }
    }
}

/// An API on loopback, which records what it is asked.
pub(super) struct Api {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Api {
    /// Starts an API that always gives the same small answer.
    pub(super) fn start() -> Self {
        Self::answering(|_, stream| {
            stream
                .write_all(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}")
                .unwrap();
        })
    }

    /// Starts an API that answers by a function, which writes whatever it wants.
    pub(super) fn answering(answer: impl Fn(&Asked, &mut TcpStream) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let api = Self { address: listener.local_addr().unwrap(), asked: Arc::default() };
        let (asked, answer) = (Arc::clone(&api.asked), Arc::new(answer));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (asked, answer, mut stream) = (Arc::clone(&asked), Arc::clone(&answer), stream.unwrap());
                std::thread::spawn(move || {
                    let mut reader = BufReader::new(stream.try_clone().unwrap());
                    while let Some(one) = Asked::read(&mut reader) {
                        asked.lock().unwrap().push(one.clone());
                        answer(&one, &mut stream);
                    }
                });
            }
        });
        api
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(super) fn count(&self) -> usize {
        self.asked.lock().unwrap().len()
    }

    pub(super) fn last(&self) -> Asked {
        self.asked.lock().unwrap().last().unwrap().clone()
    }
}

/// A proxy. It ends with the test.
pub(super) struct Proxy {
    process: Child,
    address: SocketAddr,
    lines: Receiver<String>,
}

impl Proxy {
    /// Starts a proxy in the project, in front of an API.
    pub(super) fn start(home: &Home, url: &str) -> Self {
        Self::spawn(Self::command(home, url))
    }

    pub(super) fn command(home: &Home, url: &str) -> Command {
        home.weir_command(&["proxy", "--upstream", url, "--bind", "127.0.0.1:0"])
    }

    /// Starts a command, and waits until it listens.
    pub(super) fn spawn(mut command: Command) -> Self {
        let mut process = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let stderr = process.stderr.take().unwrap();
        let (sender, lines) = channel();
        // The thread ends with the proxy's output.
        std::thread::spawn(move || {
            BufReader::new(stderr).lines().map_while(Result::ok).try_for_each(|line| sender.send(line))
        });
        let first = lines.recv_timeout(TIMEOUT).unwrap();
        let address = first.strip_prefix("weir: listening on http://").unwrap_or_else(|| panic!("{first}"));
        Self { address: address.parse().unwrap(), process, lines }
    }

    pub(super) fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).unwrap()
    }

    pub(super) fn host(&self) -> String {
        self.address.to_string()
    }

    pub(super) fn post(&self, path: &str, body: &[u8]) -> Answered {
        self.send(&format!("POST {path}"), &[("content-type", "application/json")], body)
    }

    /// Sends a request. Returns the answer.
    pub(super) fn send(&self, line: &str, headers: &[(&str, &str)], body: &[u8]) -> Answered {
        let mut request = format!("{line} HTTP/1.1\r\nconnection: close\r\ncontent-length: {}\r\n", body.len());
        if !headers.iter().any(|(name, _)| *name == "host") {
            request.push_str(&format!("host: {}\r\n", self.host()));
        }
        headers.iter().for_each(|(name, value)| request.push_str(&format!("{name}: {value}\r\n")));
        let mut stream = self.connect();
        // In one piece, so that a refused body has arrived by the time the connection is closed.
        stream.write_all(&[request.as_bytes(), b"\r\n", body].concat()).unwrap();
        Answered::read(&mut BufReader::new(stream))
    }

    /// Ends the proxy as Ctrl-C does. Returns what it printed on standard output and on standard error since its first
    /// line.
    pub(super) fn end(mut self) -> (String, String) {
        kill_process(Pid::from_child(&self.process), Signal::INT).unwrap();
        let status = self.process.wait().unwrap();
        assert!(status.success(), "{status}");
        let mut said = String::new();
        self.process.stdout.take().unwrap().read_to_string(&mut said).unwrap();
        (said, self.lines.iter().collect::<Vec<_>>().join("\n"))
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
