//! One connection of a run to the proxy: reads the request, checks it and forwards it.

use std::io::{self, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

use super::Rules;
use super::body::Body;
use super::connect::{ConnectError, connect};
use super::head::{self, RequestKind};
use super::listen::ShutdownSignal;
use super::relay::relay;

/// How long a client may take to read a refusal.
const REFUSAL_TIMEOUT: Duration = Duration::from_secs(2);

/// Serves one request. An error on the connection ends it and is not reported.
pub(super) fn serve(client: &TcpStream, rules: &Rules, stop: &ShutdownSignal) {
    let _ = client.set_nodelay(true);
    if client.set_nonblocking(true).is_err() {
        return;
    }
    let refusal = match request(client, rules, stop) {
        Ok((head, rest)) => answer(client, &ReceivedRequest { head, rest }, rules, stop),
        Err(refusal) => Err(refusal),
    };
    if let Err(Some(refusal)) = refusal {
        let _ = send_refusal(client, &refusal, stop);
    }
}

/// Refuses a connection because there are too many at once.
pub(super) fn refuse_excess(client: TcpStream) {
    let refusal = HttpRefusal { status: "503 Service Unavailable", text: "too many connections at once".to_owned() };
    let _ = client.set_nonblocking(true);
    let _ = (&client).write(refusal.to_string().as_bytes());
    let _ = client.shutdown(Shutdown::Write);
}

struct ReceivedRequest {
    head: head::Head,
    /// The bytes that followed the head in the same read.
    rest: Vec<u8>,
}

struct HttpRefusal {
    status: &'static str,
    text: String,
}

impl std::fmt::Display for HttpRefusal {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { status, text } = self;
        let length = text.len() + "weir: \n".len();
        write!(
            out,
            "HTTP/1.1 {status}\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: {length}\r\n\
             connection: close\r\n\r\nweir: {text}\n"
        )
    }
}

/// The error response to send, or `None` if the connection is unusable.
type ErrorResponse = Option<HttpRefusal>;

fn bad(text: &str) -> ErrorResponse {
    Some(HttpRefusal { status: "400 Bad Request", text: text.to_owned() })
}

/// Reads the head of a request, with one deadline for all of it, so a client cannot stall by sending single bytes.
fn request(client: &TcpStream, rules: &Rules, stop: &ShutdownSignal) -> Result<(head::Head, Vec<u8>), ErrorResponse> {
    let until = Instant::now() + rules.patience.head;
    let mut bytes = Vec::new();
    let mut buffer = [0; 8192];
    loop {
        let read = match stop.read(client, &mut buffer, until) {
            Ok(0) => return Err(None),
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::TimedOut => {
                let text = "the request took too long".to_owned();
                return Err(Some(HttpRefusal { status: "408 Request Timeout", text }));
            }
            Err(_) => return Err(None),
        };
        // The end may be split across two reads.
        let from = bytes.len().saturating_sub(3);
        bytes.extend_from_slice(&buffer[..read]);
        if let Some(end) = head::end(&bytes[from..]).map(|end| from + end) {
            let rest = bytes.split_off(end);
            return Ok((head::parse(&bytes).map_err(bad)?, rest));
        }
        if bytes.len() >= head::MAX_HEAD_BYTES {
            let text = format!("the request head is larger than {} bytes", head::MAX_HEAD_BYTES);
            return Err(Some(HttpRefusal { status: "431 Request Header Fields Too Large", text }));
        }
    }
}

fn answer(
    client: &TcpStream,
    request: &ReceivedRequest,
    rules: &Rules,
    stop: &ShutdownSignal,
) -> Result<(), ErrorResponse> {
    let (host, port) = (&request.head.host, request.head.port);
    let server = match connect(rules, host, port, stop) {
        Ok(server) => server,
        Err(ConnectError::Stopped) => return Err(None),
        Err(ConnectError::Failed(why)) => {
            let text = format!("cannot reach {host} port {port}: {why}");
            return Err(Some(HttpRefusal { status: "502 Bad Gateway", text }));
        }
        Err(ConnectError::Refused { why, add }) => {
            let mut text = format!("{host} port {port} is refused: {why}");
            if let Some(add) = add {
                text +=
                    &format!("\nTo allow it, the user can add \"{add}\" to `{}` in the configuration.", rules.setting);
            }
            return Err(Some(HttpRefusal { status: "403 Forbidden", text }));
        }
    };
    pass(client, &server, request, rules, stop)
}

/// Forwards the request and what follows it.
fn pass(
    client: &TcpStream,
    server: &TcpStream,
    request: &ReceivedRequest,
    rules: &Rules,
    stop: &ShutdownSignal,
) -> Result<(), ErrorResponse> {
    let until = Instant::now() + rules.patience.idle;
    let send = |to: &TcpStream, bytes: &[u8]| stop.write_all(to, bytes, until).map_err(|_| None);
    let (body, rest) = match &request.head.kind {
        RequestKind::Connect => {
            send(client, b"HTTP/1.1 200 Connection established\r\n\r\n")?;
            (Body::endless(), request.rest.as_slice())
        }
        RequestKind::Plain { head, length } => {
            let mut body = Body::new(*length);
            let taken = body.take(&request.rest).map_err(|_| bad("the body is not chunked"))?;
            send(server, head.as_bytes())?;
            (body, &request.rest[..taken])
        }
    };
    send(server, rest)?;
    // However this ends, both sides notice on their own connection.
    let _ = relay(client, server, body, rules.patience.idle, stop);
    Ok(())
}

/// Sends a refusal and waits until the client has read it: closing a connection with unread data resets it, and the
/// text may be lost.
fn send_refusal(client: &TcpStream, refusal: &HttpRefusal, stop: &ShutdownSignal) -> io::Result<()> {
    let until = Instant::now() + REFUSAL_TIMEOUT;
    stop.write_all(client, refusal.to_string().as_bytes(), until)?;
    client.shutdown(Shutdown::Write)?;
    let mut buffer = [0; 8192];
    while stop.read(client, &mut buffer, until)? > 0 {}
    Ok(())
}
