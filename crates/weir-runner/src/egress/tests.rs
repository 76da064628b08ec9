//! Tests the proxy over real sockets. Names are made up: the tests' resolver maps them to servers on loopback, which
//! the rules name by address and port if a test needs to reach them.

use std::io::{Read, Write};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::{Egress, Patience, Rules, serve};

/// Returns rules with a resolver that maps every name to this address.
fn rules(allow: &[String], address: &str) -> Rules {
    let address: IpAddr = address.parse().unwrap();
    Rules {
        allow: allow.iter().map(|pattern| pattern.parse().unwrap()).collect(),
        resolve: Arc::new(move |_, port| Ok(vec![SocketAddr::new(address, port)])),
        setting: "network.allow",
        patience: Patience::default(),
    }
}

/// Allows `good.test` on this port, and the loopback address behind it.
fn open_rules(port: u16) -> Rules {
    rules(&[format!("good.test:{port}"), format!("127.0.0.1:{port}")], "127.0.0.1")
}

fn start(rules: Rules) -> (Egress, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    (serve(OwnedFd::from(listener), rules).unwrap(), address)
}

fn server<T: Send + 'static>(serve: impl FnOnce(TcpStream) -> T + Send + 'static) -> (u16, JoinHandle<T>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    (port, thread::spawn(move || serve(listener.accept().unwrap().0)))
}

/// Reads up to and including an empty line.
fn read_head(stream: &mut TcpStream) -> String {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap() == 1 {
        head.push(byte[0]);
    }
    String::from_utf8(head).unwrap()
}

fn connect(proxy: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(proxy).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream
}

fn ask(proxy: SocketAddr, request: &str) -> String {
    let mut stream = connect(proxy);
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

fn tunnel(proxy: SocketAddr, port: u16) -> TcpStream {
    let mut stream = connect(proxy);
    write!(stream, "CONNECT good.test:{port} HTTP/1.1\r\nHost: good.test:{port}\r\n\r\n").unwrap();
    assert_eq!(read_head(&mut stream), "HTTP/1.1 200 Connection established\r\n\r\n");
    stream
}

fn refused(rules: Rules, target: &str, parts: &[&str]) {
    let (_egress, proxy) = start(rules);
    for request in [
        format!("CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n\r\n"),
        format!("GET http://{target}/ HTTP/1.1\r\nHost: {target}\r\n\r\n"),
    ] {
        let answer = ask(proxy, &request);
        assert!(answer.starts_with("HTTP/1.1 403 Forbidden\r\n"), "{target}: {answer}");
        for part in parts {
            assert!(answer.contains(part), "{target} should say `{part}`: {answer}");
        }
    }
}

#[test]
fn a_plain_request_reaches_an_allowed_host() {
    let (port, served) = server(|mut stream| {
        let head = read_head(&mut stream);
        let mut body = [0; 5];
        stream.read_exact(&mut body).unwrap();
        stream.write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhello").unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        // A second request after the first must not arrive here.
        let mut rest = Vec::new();
        stream.read_to_end(&mut rest).unwrap();
        (head, body, rest)
    });
    let (_egress, proxy) = start(open_rules(port));
    let request = format!(
        "POST http://good.test:{port}/a HTTP/1.1\r\nHost: good.test:{port}\r\nProxy-Authorization: secret\r\n\
         Content-Length: 5\r\n\r\n12345GET http://evil.test/ HTTP/1.1\r\nHost: evil.test\r\n\r\n"
    );
    assert!(ask(proxy, &request).ends_with("\r\n\r\nhello"));
    let (head, body, rest) = served.join().unwrap();
    let expected =
        format!("POST /a HTTP/1.1\r\nhost: good.test:{port}\r\ncontent-length: 5\r\nconnection: close\r\n\r\n");
    assert_eq!((head, &body, rest.as_slice()), (expected, b"12345", b"".as_slice()));
}

#[test]
fn a_tunnel_reaches_an_allowed_host_and_passes_on_half_closes() {
    let (port, served) = server(|mut stream| {
        let mut got = String::new();
        // Ends only when the client's end is forwarded.
        stream.read_to_string(&mut got).unwrap();
        stream.write_all(got.to_uppercase().as_bytes()).unwrap();
    });
    let (_egress, proxy) = start(open_rules(port));
    let mut stream = tunnel(proxy, port);
    stream.write_all(b"hello").unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert_eq!(answer, "HELLO");
    served.join().unwrap();
}

#[test]
fn an_unlisted_host_is_refused_and_the_setting_is_named() {
    let allow = ["good.test".to_owned()];
    refused(rules(&allow, "1.1.1.1"), "evil.test:80", &["the host is not allowed", "\"evil.test\" to `network.allow`"]);
    refused(rules(&allow, "1.1.1.1"), "good.test:22", &["the host is not allowed", "\"good.test:22\" to"]);
    refused(rules(&allow, "1.1.1.1"), "93.184.216.34:443", &["\"93.184.216.34\" to"]);
    refused(rules(&allow, "1.1.1.1"), "127.0.0.1:80", &["a loopback address", "\"127.0.0.1:80\" to"]);
}

#[test]
fn an_allowed_name_does_not_lead_to_this_machine() {
    let allow = ["good.test".to_owned(), "127.0.0.1".to_owned()];
    for address in ["127.0.0.1", "::1", "::ffff:127.0.0.1", "127.9.9.9"] {
        refused(rules(&allow, address), "good.test:80", &["a loopback address", "To allow it"]);
    }
    for address in ["0.0.0.0", "::", "64:ff9b::7f00:1", "::7f00:1"] {
        refused(rules(&allow, address), "good.test:80", &["it resolves to"]);
    }
}

#[test]
fn metadata_is_never_reached() {
    let allow = ["good.test", "169.254.169.254", "169.254.169.254:80", "[fd00:ec2::254]:80"].map(str::to_owned);
    for address in ["169.254.169.254", "fd00:ec2::254", "::ffff:169.254.169.254", "168.63.129.16"] {
        refused(rules(&allow, address), "good.test:80", &["metadata service"]);
    }
    refused(rules(&allow, "1.1.1.1"), "169.254.169.254:80", &["metadata service"]);
    refused(rules(&allow, "1.1.1.1"), "[fd00:ec2::254]:80", &["metadata service"]);
}

#[test]
fn private_addresses_are_reached_when_named_only() {
    for address in ["10.0.0.1", "192.168.0.1", "fd12::1"] {
        refused(rules(&["good.test".to_owned()], address), "good.test:80", &["a private address", address]);
    }
}

#[test]
fn one_bad_address_among_good_ones_is_refused() {
    let mut rules = rules(&["good.test".to_owned()], "1.1.1.1");
    rules.resolve = Arc::new(|_, port| Ok(vec![([1, 1, 1, 1], port).into(), ([127, 0, 0, 1], port).into()]));
    refused(rules, "good.test:80", &["a loopback address"]);
}

#[test]
fn a_name_is_resolved_once() {
    let (port, served) = server(drop);
    let mut rules = open_rules(port);
    let asked = Arc::new(std::sync::atomic::AtomicU32::new(0));
    let counter = Arc::clone(&asked);
    rules.resolve = Arc::new(move |_, port| {
        // A second lookup would return another address.
        let times = counter.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        Ok(vec![SocketAddr::new(if times == 0 { [127, 0, 0, 1] } else { [127, 0, 0, 2] }.into(), port)])
    });
    let (_egress, proxy) = start(rules);
    drop(tunnel(proxy, port));
    served.join().unwrap();
    assert_eq!(asked.load(std::sync::atomic::Ordering::SeqCst), 1);
}

#[test]
fn a_bad_request_is_told_so() {
    let (_egress, proxy) = start(open_rules(80));
    let cases = [
        ("GET http://good.test/ HTTP/1.1\r\nHost: evil.test\r\n\r\n".to_owned(), "400 Bad Request"),
        (
            "POST http://good.test/ HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n".to_owned(),
            "400",
        ),
        (format!("GET http://good.test/{} HTTP/1.1\r\n\r\n", "a".repeat(70_000)), "431 "),
    ];
    for (request, status) in cases {
        let answer = ask(proxy, &request);
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{answer}");
    }
}

#[test]
fn a_host_that_does_not_answer_is_a_bad_gateway() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let (_egress, proxy) = start(open_rules(port));
    let answer = ask(proxy, &format!("CONNECT good.test:{port} HTTP/1.1\r\n\r\n"));
    assert!(answer.starts_with("HTTP/1.1 502 Bad Gateway\r\n") && answer.contains("refused"), "{answer}");
}

#[test]
fn a_slow_request_is_given_up() {
    let mut rules = open_rules(80);
    rules.patience.head = Duration::from_millis(300);
    let (_egress, proxy) = start(rules);
    let mut stream = connect(proxy);
    stream.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
    let begun = Instant::now();
    let mut answer = Vec::new();
    let mut buffer = [0; 1024];
    // One byte at a time: each is in time, but the head as a whole is not.
    while begun.elapsed() < Duration::from_secs(10) {
        if stream.write_all(b"a").is_err() {
            break;
        }
        match stream.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => answer.extend_from_slice(&buffer[..read]),
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
            Err(_) => break,
        }
    }
    assert!(answer.starts_with(b"HTTP/1.1 408"), "{}", String::from_utf8_lossy(&answer));
    assert!(begun.elapsed() < Duration::from_secs(5));
}

#[test]
fn an_idle_tunnel_is_closed() {
    let (port, served) = server(|mut stream| stream.read(&mut [0; 8]).unwrap());
    let mut rules = open_rules(port);
    rules.patience.idle = Duration::from_millis(200);
    let (_egress, proxy) = start(rules);
    let mut stream = tunnel(proxy, port);
    assert_eq!(stream.read(&mut [0; 8]).unwrap(), 0);
    assert_eq!(served.join().unwrap(), 0);
}

#[test]
fn one_connection_too_many_is_told_so() {
    let (_egress, proxy) = start(open_rules(80));
    let held: Vec<_> = (0..super::MAX_CONNECTIONS).map(|_| connect(proxy)).collect();
    let mut one_more = connect(proxy);
    let mut answer = String::new();
    one_more.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 503 "), "{answer}");
    // A connection that ends makes room for another.
    for mut stream in held {
        stream.shutdown(Shutdown::Write).unwrap();
        stream.read_to_end(&mut Vec::new()).unwrap();
        assert!(ask(proxy, "GET / HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 400 "));
    }
}

#[test]
fn dropping_it_ends_everything_at_once() {
    let (port, served) = server(|mut stream| stream.read(&mut [0; 8]).unwrap_or(0));
    let mut rules = open_rules(port);
    let resolve = Arc::clone(&rules.resolve);
    let (release, held) = std::sync::mpsc::channel::<()>();
    let held = std::sync::Mutex::new(held);
    rules.allow.push("slow.test".parse().unwrap());
    rules.resolve = Arc::new(move |name, port| {
        if name == "slow.test" {
            let _ = held.lock().unwrap().recv();
        }
        resolve(name, port)
    });
    let (egress, proxy) = start(rules);
    let mut tunnel = tunnel(proxy, port);
    let mut silent = connect(proxy);
    let mut resolving = connect(proxy);
    resolving.write_all(b"CONNECT slow.test:80 HTTP/1.1\r\n\r\n").unwrap();
    // Dropping the server ends all three: every wait polls its lifeline.
    let begun = Instant::now();
    drop(egress);
    assert!(begun.elapsed() < Duration::from_secs(1), "{:?}", begun.elapsed());
    assert_eq!(tunnel.read(&mut [0; 8]).unwrap_or(0), 0);
    assert_eq!(silent.read(&mut [0; 8]).unwrap_or(0), 0);
    assert_eq!(resolving.read(&mut [0; 8]).unwrap_or(0), 0);
    assert_eq!(served.join().unwrap(), 0);
    assert!(TcpStream::connect(proxy).is_err());
    drop(release);
}

/// Measures how long it takes to read this many bytes from a server that sends them as fast as it can.
fn transfer(bytes: usize, open: impl FnOnce(u16) -> TcpStream) -> Duration {
    let (port, served) = server(move |mut stream| {
        let block = vec![7; 1 << 20];
        let mut left = bytes;
        while left > 0 {
            let size = left.min(block.len());
            stream.write_all(&block[..size]).unwrap();
            left -= size;
        }
    });
    let mut stream = open(port);
    let begun = Instant::now();
    let mut buffer = vec![0; 256 << 10];
    let mut got = 0;
    while let read @ 1.. = stream.read(&mut buffer).unwrap() {
        got += read;
    }
    let took = begun.elapsed();
    assert_eq!(got, bytes);
    served.join().unwrap();
    took
}

#[test]
fn a_big_transfer_goes_through_at_a_fair_speed() {
    let bytes = 50 << 20;
    let direct = transfer(bytes, |port| connect(SocketAddr::from(([127, 0, 0, 1], port))));
    let mut kept = None;
    let through = transfer(bytes, |port| {
        let (egress, proxy) = start(open_rules(port));
        kept = Some(egress);
        tunnel(proxy, port)
    });
    let rate = |took: Duration| 50.0 / took.as_secs_f64();
    println!("direct {:.0} MiB/s, through the proxy {:.0} MiB/s", rate(direct), rate(through));
    // The proxy copies everything twice and the machine may be busy, so fail only if the proxy is clearly broken.
    assert!(through < direct * 20 + Duration::from_secs(2), "direct {direct:?}, through {through:?}");
}
