//! A server that sends exactly what a test wants, over real sockets.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use weir_fetch::{FetchError, Fetched, Fetcher, Guard, Limits, Page, Request, Settings, fetch};

#[derive(Debug, Clone, Default)]
pub(crate) struct ReceivedRequest {
    pub line: String,
    pub headers: Vec<(String, String)>,
    pub body: String,
}

impl ReceivedRequest {
    pub(crate) fn path(&self) -> &str {
        self.line.split(' ').nth(1).unwrap_or_default()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

#[derive(Clone)]
pub(crate) struct TestServer {
    pub address: SocketAddr,
    pub connections: Arc<AtomicUsize>,
    requests: Arc<Mutex<Vec<ReceivedRequest>>>,
}

impl TestServer {
    /// Answers each request with this function, which may write anything to the socket.
    pub(crate) fn new(answer: impl Fn(&ReceivedRequest, &mut TcpStream) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let server =
            Self { address: listener.local_addr().unwrap(), connections: Arc::default(), requests: Arc::default() };
        let (shared, answer) = (server.clone(), Arc::new(answer));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                shared.connections.fetch_add(1, Ordering::SeqCst);
                let (shared, answer, mut stream) = (shared.clone(), Arc::clone(&answer), stream.unwrap());
                std::thread::spawn(move || {
                    if let Some(request) = read(&stream) {
                        shared.requests.lock().unwrap().push(request.clone());
                        answer(&request, &mut stream);
                    }
                });
            }
        });
        server
    }

    pub(crate) fn saying(answer: impl Into<Vec<u8>>) -> Self {
        let answer = answer.into();
        Self::new(move |_, stream| drop(stream.write_all(&answer)))
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(crate) fn requests(&self) -> Vec<ReceivedRequest> {
        self.requests.lock().unwrap().clone()
    }

    pub(crate) fn was_reached(&self) -> bool {
        self.connections.load(Ordering::SeqCst) > 0
    }
}

fn read(stream: &TcpStream) -> Option<ReceivedRequest> {
    let mut reader = BufReader::new(stream);
    let mut request = ReceivedRequest::default();
    reader.read_line(&mut request.line).ok()?;
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        let (name, value) = (name.to_ascii_lowercase(), value.trim().to_owned());
        if name == "content-length" {
            length = value.parse().ok()?;
        }
        request.headers.push((name, value));
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    request.body = String::from_utf8(body).ok()?;
    (!request.line.is_empty()).then_some(request)
}

/// Returns an answer after which the server closes the connection, as it says: a client that kept it could lose a request.
pub(crate) fn answer(headers: &str, body: impl AsRef<[u8]>) -> Vec<u8> {
    let body = body.as_ref();
    let mut bytes =
        format!("HTTP/1.1 200 OK\r\n{headers}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n", body.len())
            .into_bytes();
    bytes.extend_from_slice(body);
    bytes
}

pub(crate) fn page_of(html: &str) -> Vec<u8> {
    answer("content-type: text/html", html)
}

/// Settings that allow this machine and have short limits.
pub(crate) fn settings() -> Settings {
    Settings {
        guard: Guard::allowing(&["127.0.0.1".to_owned()]).unwrap(),
        limits: Limits { bytes: 1 << 20, received: 1 << 20, time: Duration::from_secs(10), redirects: 5 },
        ..Settings::default()
    }
}

pub(crate) fn get_with(settings: Settings, url: &str) -> Result<Page, FetchError> {
    let request = Request { url: url.to_owned(), ..Request::default() };
    match fetch(&request, &Fetcher::new(settings))? {
        Fetched::Page(page) => Ok(*page),
        Fetched::Unchanged => panic!("nothing was kept that could be unchanged"),
    }
}

pub(crate) fn get(url: &str) -> Result<Page, FetchError> {
    get_with(settings(), url)
}

pub(crate) fn this_machine() -> IpAddr {
    IpAddr::from([127, 0, 0, 1])
}
