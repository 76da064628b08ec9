//! Tests a confined process that acts as an attacker would. The process is this test program again.

use std::fs::File;
use std::net::{TcpListener, UdpSocket};
use std::path::Path;
use std::time::Duration;

use super::{Confined, Fences, Lost, serve};

const ANSWER_TIMEOUT: Duration = Duration::from_secs(20);

/// The confined process itself: the other tests start it with a socket as its standard input.
#[test]
fn confined_role() {
    let stdin = rustix::fs::fstat(rustix::stdio::stdin()).unwrap();
    if rustix::fs::FileType::from_raw_mode(stdin.st_mode) == rustix::fs::FileType::Socket {
        let _ = serve(|request| attack(request).into_bytes());
    }
}

fn attack(request: &[u8]) -> String {
    let denied = |result: std::io::Result<()>| match result {
        Ok(()) => "done".to_owned(),
        Err(error) => format!("{:?}", error.kind()),
    };
    match request {
        b"open" => denied(File::open("/etc/passwd").map(drop)),
        b"make" => denied(File::create("/tmp/made-in-confinement").map(drop)),
        b"listen" => denied(TcpListener::bind("127.0.0.1:0").map(drop)),
        b"send" => denied(UdpSocket::bind("127.0.0.1:0").map(drop)),
        b"list" => denied(std::fs::read_dir("/").map(drop)),
        b"remove" => denied(std::fs::remove_file("/tmp/weir-no-such-file")),
        b"thread" => denied(std::thread::Builder::new().spawn(|| ()).map(drop)),
        b"signal" => denied(
            rustix::process::kill_process(rustix::process::Pid::INIT, rustix::process::Signal::CONT)
                .map_err(Into::into),
        ),
        b"memory" => {
            let mut taken: Vec<Vec<u8>> = Vec::new();
            loop {
                taken.push(vec![1; 64 << 20]);
            }
        }
        b"spin" => loop {
            std::hint::spin_loop();
        },
        b"abort" => std::process::abort(),
        b"overflow" => overflow(1).to_string(),
        other => String::from_utf8_lossy(other).into_owned(),
    }
}

/// Overflows the stack, a memory fault such as a broken parser causes.
#[expect(unconditional_recursion, reason = "that is what it is for")]
fn overflow(depth: u64) -> u64 {
    std::hint::black_box([depth; 64]);
    overflow(depth + 1) + depth
}

fn confined() -> Confined {
    Confined::start(Path::new("/proc/self/exe"), "confined::tests::confined_role").unwrap()
}

#[test]
fn a_confined_process_answers_request_after_request() {
    let mut process = confined();
    assert_eq!(process.fences(ANSWER_TIMEOUT).unwrap(), Fences::Filtered);
    let long = "long ".repeat(100_000);
    for text in ["one", "two", &long] {
        assert_eq!(process.ask(text.as_bytes(), ANSWER_TIMEOUT).unwrap(), text.as_bytes());
    }
}

#[test]
fn a_confined_process_has_no_files_no_network_and_no_processes() {
    let mut process = confined();
    for attempt in ["open", "make", "listen", "send", "list", "remove", "thread", "signal"] {
        let said = process.ask(attempt.as_bytes(), ANSWER_TIMEOUT).unwrap();
        assert_eq!(String::from_utf8_lossy(&said), "PermissionDenied", "{attempt}");
    }
}

#[test]
fn what_ends_a_confined_process_is_an_answer() {
    for attempt in ["memory", "abort", "overflow"] {
        let lost = confined().ask(attempt.as_bytes(), ANSWER_TIMEOUT);
        assert!(matches!(lost, Err(Lost::Crashed)), "{attempt}: {lost:?}");
    }
    let lost = confined().ask(b"spin", Duration::from_millis(300));
    assert!(matches!(lost, Err(Lost::TooSlow)), "{lost:?}");
}

#[test]
fn a_request_that_is_too_long_is_refused() {
    let lost = confined().ask(&vec![0; super::MAX_MESSAGE_BYTES + 1], ANSWER_TIMEOUT);
    assert!(matches!(lost, Err(Lost::Crashed)), "{lost:?}");
}
