//! A remote server that asks for a sign-in with OAuth, and a user whose browser is this test.
#![expect(clippy::disallowed_methods, reason = "the tests start the server")]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use super::{home_with, reads};
use crate::support::{Home, WEIR, files_below, said, text};

const SERVER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../weir-gateway/tests/servers/oauth.py");

/// The server, which ends with its input.
struct Provider {
    _process: Child,
    address: String,
}

impl Provider {
    fn start(arguments: &[&str]) -> Self {
        let mut command = Command::new("python3");
        command.arg(SERVER).args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let mut address = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut address).unwrap();
        Self { _process: process, address: address.trim().to_owned() }
    }

    fn home(&self) -> Home {
        home_with(&json!({ "remote": { "url": format!("{}/mcp", self.address) } }))
    }

    fn log(&self) -> Vec<String> {
        serde_json::from_str(&get(&format!("{}/log", self.address)).1).unwrap()
    }
}

/// Asks for an address as a browser does. Returns the head of the answer and its body.
fn get(url: &str) -> (String, String) {
    let (host, path) = url.strip_prefix("http://").unwrap().split_once('/').unwrap();
    let mut stream = TcpStream::connect(host).unwrap();
    write!(stream, "GET /{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.to_owned(), body.to_owned())
}

/// Returns where an answer sends the browser.
fn location(head: &str) -> String {
    head.lines().find_map(|line| line.strip_prefix("Location: ")).unwrap_or_else(|| panic!("{head}")).to_owned()
}

/// Signs in as a user does in a terminal. `browse` is the browser, which is given the address that is printed. Returns
/// whether it worked, and everything that was printed.
fn login(home: &Home, browse: impl FnOnce(&str)) -> (bool, String) {
    let mut command = home.command(WEIR, &["servers", "login", "remote"]);
    let mut process = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(process.stderr.take().unwrap());
    let mut printed = String::new();
    let address = loop {
        let before = printed.len();
        if lines.read_line(&mut printed).unwrap() == 0 {
            break None;
        }
        let line = printed[before..].trim();
        if line.starts_with("http") {
            break Some(line.to_owned());
        }
    };
    if let Some(address) = address {
        browse(&address);
    }
    lines.read_to_string(&mut printed).unwrap();
    let output = process.wait_with_output().unwrap();
    (output.status.success(), printed + &text(&output.stdout))
}

#[test]
fn a_user_signs_in_once_and_stays_signed_in() {
    // Weir renews a token in good time, so that it does here at every start.
    let provider = Provider::start(&["--expires-in", "5"]);
    let home = provider.home();
    let refused = home.piped(&["servers", "test"]);
    let told = said(&refused);
    assert!(told.contains("asks the user to sign in: `weir servers login remote` in a terminal"), "{told}");
    let (is_done, printed) = login(&home, |address| {
        let callback = location(&get(address).0);
        // Somebody else's answer ends nothing.
        let (here, _) = callback.split_once('?').unwrap();
        assert!(get(&format!("{here}?code=stolen&state=guessed")).0.starts_with("HTTP/1.1 404"));
        let (head, body) = get(&callback);
        assert!(head.starts_with("HTTP/1.1 200") && body.contains("You can close this page"), "{head}\n{body}");
    });
    assert!(is_done, "{printed}");
    assert!(printed.contains("remote wants you to sign in at 127.0.0.1") && printed.contains("1 tool"), "{printed}");
    // Every start renews the token with one that the provider takes once.
    for _ in 0..2 {
        assert!(home.ok(&["servers", "test"]).contains("✓ remote: 1 tool"));
    }
    let mut server = home.server();
    let called = server.answered("ctx_call_read", &reads("remote", "whoami", &json!({})));
    assert_eq!(called, "somebody who has signed in");
    assert!(server.end().success());
    let log = provider.log();
    assert_eq!(
        log[..2],
        ["register Weir".to_owned(), format!("token authorization_code for {}/mcp", provider.address)]
    );
    assert!(log[2..].len() >= 3 && log[2..].iter().all(|line| line.starts_with("token refresh_token")), "{log:?}");
    // What it gave is in one file, for the user alone.
    let file = home.data().join("gateway/sign-ins/remote.json");
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let stored: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    let token = stored["credentials"]["token_response"]["access_token"].as_str().unwrap().as_bytes();
    let others = files_below(home.path()).into_iter().filter(|path| *path != file);
    for path in others {
        let bytes = std::fs::read(&path).unwrap();
        assert!(!bytes.windows(token.len()).any(|part| part == token), "{}", path.display());
    }
    assert!(home.ok(&["servers"]).contains("you are signed in"));
    assert!(home.piped(&["servers", "remove", "remote"]).status.success() && !file.exists());
}

#[test]
fn a_sign_in_that_ended_is_asked_for_again() {
    let provider = Provider::start(&[]);
    let home = provider.home();
    let browse = |address: &str| drop(get(&location(&get(address).0)));
    assert!(login(&home, browse).0);
    get(&format!("{}/revoke", provider.address));
    let told = said(&home.piped(&["servers", "test"]));
    assert!(told.contains("asks the user to sign in"), "{told}");
    assert!(login(&home, browse).0);
    // The same name at another address is another server, which gets nothing.
    let other = Provider::start(&[]);
    super::set(&home, &json!({ "remote": { "url": format!("{}/mcp", other.address) } }));
    assert!(said(&home.piped(&["servers", "test"])).contains("asks the user to sign in"));
    assert_eq!(other.log(), Vec::<String>::new());
}

#[test]
fn a_sign_in_that_fails_says_why_and_leaves_nothing() {
    let provider = Provider::start(&["--refuse"]);
    let home = provider.home();
    let (is_done, printed) = login(&home, |address| drop(get(&location(&get(address).0))));
    assert!(!is_done && printed.contains("cannot sign in at remote: it was refused: the user"), "{printed}");
    assert!(!printed.contains('\u{202e}'), "{printed}");
    let provider = Provider::start(&["--insecure"]);
    let home = provider.home();
    let (is_done, printed) = login(&home, |address| panic!("{address}"));
    assert!(!is_done && printed.contains("an address that is not one of HTTPS"), "{printed}");
    assert!(!home.data().join("gateway/sign-ins").exists());
    // Only the user signs in.
    let refused = home.weir(&["servers", "login", "remote"]);
    assert!(said(&refused).contains("only you can"), "{}", said(&refused));
}
