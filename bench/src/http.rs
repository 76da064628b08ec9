//! A connection that is used again for each request, as clients do.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};

pub(crate) struct Connection {
    address: SocketAddr,
    stream: BufReader<TcpStream>,
}

pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Connection {
    pub(crate) fn open(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        Self { address, stream: BufReader::new(stream) }
    }

    pub(crate) fn post(&mut self, path: &str, headers: &str, body: &str) -> Reply {
        let (host, length) = (self.address, body.len());
        self.send(&format!("POST {path} HTTP/1.1\r\nHost: {host}\r\n{headers}Content-Length: {length}\r\n\r\n{body}"));
        self.head().with_body(&mut self.stream)
    }

    /// Asks for a page, and calls `at_first_byte` when its answer begins.
    pub(crate) fn get(&mut self, path: &str, headers: &str, at_first_byte: impl FnOnce()) -> Reply {
        let host = self.address;
        self.send(&format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n{headers}\r\n"));
        assert!(!self.stream.fill_buf().unwrap().is_empty(), "the server closed the connection");
        at_first_byte();
        self.head().with_body(&mut self.stream)
    }

    fn send(&mut self, request: &str) {
        self.stream.get_mut().write_all(request.as_bytes()).unwrap();
    }

    fn head(&mut self) -> Reply {
        let mut line = String::new();
        self.stream.read_line(&mut line).unwrap();
        let status = line.split(' ').nth(1).unwrap_or_else(|| panic!("not an answer: {line:?}")).parse().unwrap();
        let mut headers = Vec::new();
        loop {
            line.clear();
            self.stream.read_line(&mut line).unwrap();
            let Some((name, value)) = line.trim_end().split_once(": ") else { break };
            headers.push((name.to_lowercase(), value.to_owned()));
        }
        Reply { status, headers, body: Vec::new() }
    }
}

impl Reply {
    pub(crate) fn header(&self, wanted: &str) -> Option<&str> {
        self.headers.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.as_str())
    }

    pub(crate) fn expect_ok(&self) {
        assert_eq!(self.status, 200, "{}", String::from_utf8_lossy(&self.body));
    }

    fn with_body(mut self, stream: &mut impl std::io::Read) -> Self {
        let length = self.header("content-length").map_or(0, |length| length.parse().unwrap());
        stream.take(length).read_to_end(&mut self.body).unwrap();
        self
    }
}
