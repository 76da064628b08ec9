//! Signing in at a server that asks for it: OAuth with a code that the user's browser brings to an address of this
//! machine.
//!
//! Invariants: nothing begins unless the user asks for it in a terminal; an answer counts only with the state of this
//! sign-in; the user signs in over HTTPS, or on this machine.

mod stored;

use std::net::Ipv4Addr;
use std::time::Duration;

use rmcp::transport::auth::{AuthError, AuthorizationManager, AuthorizationRequest, AuthorizationSession};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use url::Url;
use weir_core::unseen::named_in_line;
use weir_core::wording::one_line;
use weir_host::env::Paths;
use weir_host::error::{CommandError, ErrorKind};

use crate::entries::{Launch, ServerEntry};
use crate::tls::use_tls;
pub(crate) use stored::StoredSignIn;

/// How long the user may take.
const PATIENCE: Duration = Duration::from_secs(300);
/// How long a browser may take to send the head of a request.
const HEAD_TIMEOUT: Duration = Duration::from_secs(5);
const MAX_HEAD_BYTES: u64 = 16 << 10;
const CALLBACK: &str = "/callback";

/// A sign-in that waits for the user's browser.
pub struct SignIn {
    server: String,
    session: AuthorizationSession,
    address: Url,
    callbacks: TcpListener,
}

/// What the user said about a sign-in.
#[derive(Debug, Clone, Copy, Default)]
pub struct SignInWish<'a> {
    /// The id of a client that the provider knows already. Without one, Weir registers itself.
    pub client_id: Option<&'a str>,
    /// The port of the address that the browser returns to; 0 for any.
    pub port: u16,
}

impl SignIn {
    /// Asks a server where the user signs in.
    pub async fn begin(
        paths: &Paths,
        (server, entry): (&str, &ServerEntry),
        wish: SignInWish<'_>,
    ) -> Result<Self, CommandError> {
        let cannot = |why: &str| failed(server, why);
        let url = entry.sign_in_url().ok_or_else(|| match &entry.launch {
            Launch::Address { .. } => cannot("its entry has a header Authorization")
                .hint("add the server again without that header to sign in instead"),
            Launch::Program { .. } => {
                cannot("it is a program").hint("a program gets what it needs from variables (--env)")
            }
        })?;
        use_tls();
        let callbacks = TcpListener::bind((Ipv4Addr::LOCALHOST, wish.port)).await;
        let callbacks = callbacks.map_err(|error| cannot(&format!("port {}: {error}", wish.port)))?;
        let port = callbacks.local_addr().map_err(|error| cannot(&error.to_string()))?.port();
        let mut manager = AuthorizationManager::new(url).await.map_err(|error| cannot(&error.to_string()))?;
        manager.set_credential_store(StoredSignIn::of(paths, server, url));
        let found = manager.resolve_metadata().await.map_err(|error| cannot(&error.to_string()))?;
        manager.set_metadata(found.metadata);
        let request = AuthorizationRequest::new(format!("http://127.0.0.1:{port}{CALLBACK}"))
            .with_client_name("Weir")
            .with_initial_scope_selection();
        let request = match wish.client_id {
            Some(id) => request.with_preregistered_client(id),
            None => request,
        };
        let session = AuthorizationSession::new(manager, request).await.map_err(|(_, error)| match error {
            AuthError::RegistrationFailed(_) => {
                cannot(&error.to_string()).hint("register a client at the provider, and give its id: --client-id ID")
            }
            error => cannot(&error.to_string()),
        })?;
        let address = Url::parse(&session.auth_url).ok().filter(is_safe);
        let address =
            address.ok_or_else(|| cannot("it wants you to sign in at an address that is not one of HTTPS"))?;
        Ok(Self { server: server.to_owned(), session, address, callbacks })
    }

    /// The address that the user opens in a browser on this machine.
    pub fn address(&self) -> &str {
        self.address.as_str()
    }

    /// Returns where the user signs in, to be compared with where they mean to.
    pub fn host(&self) -> &str {
        self.address.host_str().unwrap_or_default()
    }

    /// Waits for the browser, and stores what it brings.
    pub async fn finish(self) -> Result<(), CommandError> {
        let cannot = |why: &str| failed(&self.server, why);
        let answer = tokio::time::timeout(PATIENCE, self.answer()).await;
        let answer = answer.map_err(|_| cannot(&format!("nobody did within {} minutes", PATIENCE.as_secs() / 60)))?;
        let answer = answer.map_err(|error| cannot(&error.to_string()))?;
        if let Some(error) = value(&answer, "error") {
            let why = value(&answer, "error_description").unwrap_or(error);
            return Err(cannot(&format!("it was refused: {why}")));
        }
        self.session.handle_callback_url(answer.as_str()).await.map_err(|error| cannot(&error.to_string()))?;
        Ok(())
    }

    /// Returns the address that the browser was sent back to.
    async fn answer(&self) -> std::io::Result<Url> {
        let state = value(&self.address, "state").unwrap_or_default();
        let (sender, mut answers) = mpsc::channel(1);
        // Browsers open connections in advance, on which nothing comes.
        let mut connections = JoinSet::new();
        loop {
            tokio::select! {
                stream = self.callbacks.accept() => {
                    connections.spawn(serve(stream?.0, state.clone(), sender.clone()));
                }
                Some(answer) = answers.recv() => return Ok(answer),
            }
        }
    }
}

/// Whether a user signed in at a server.
pub fn is_signed_in(paths: &Paths, server: &str, entry: &ServerEntry) -> bool {
    entry.sign_in_url().is_some_and(|url| StoredSignIn::of(paths, server, url).exists())
}

/// Forgets what a sign-in gave. Returns whether there was any.
pub fn forget(paths: &Paths, server: &str) -> Result<bool, CommandError> {
    let removed = StoredSignIn::of(paths, server, "").remove();
    removed.map_err(|error| failed(server, &error.to_string()))
}

/// Answers one request of a browser, and passes the address on if it is the answer to the sign-in.
async fn serve(mut stream: TcpStream, state: String, answers: mpsc::Sender<Url>) {
    let Ok(Some(target)) = tokio::time::timeout(HEAD_TIMEOUT, target(&mut stream)).await else { return };
    let answer = Url::parse("http://127.0.0.1").and_then(|base| base.join(&target)).ok();
    let answer = answer.filter(|url| url.path() == CALLBACK && value(url, "state").as_deref() == Some(&state));
    let (status, text) = match &answer {
        Some(url) if value(url, "error").is_some() => ("200 OK", "Weir was refused. You can close this page."),
        Some(_) => ("200 OK", "Weir goes on in the terminal. You can close this page."),
        None => ("404 Not Found", "There is nothing here."),
    };
    let response = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {}\r\nCache-Control: \
         no-store\r\nConnection: close\r\n\r\n{text}",
        text.len()
    );
    if stream.write_all(response.as_bytes()).await.is_ok() && stream.shutdown().await.is_ok() {
        // What the browser still sends is read, or it might not show the answer.
        let _ = tokio::time::timeout(HEAD_TIMEOUT, tokio::io::copy(&mut stream, &mut tokio::io::sink())).await;
    }
    if let Some(url) = answer {
        let _ = answers.send(url).await;
    }
}

/// Reads the head of a request. Returns what a GET asks for.
async fn target(stream: &mut TcpStream) -> Option<String> {
    let (mut head, mut stream) = (Vec::new(), stream.take(MAX_HEAD_BYTES));
    while !head.ends_with(b"\r\n\r\n") {
        if stream.read_buf(&mut head).await.ok()? == 0 {
            return None;
        }
    }
    let line = String::from_utf8(head).ok()?.lines().next()?.to_owned();
    line.strip_prefix("GET ")?.split(' ').next().map(str::to_owned)
}

/// Whether a user can be sent to an address to type a password.
fn is_safe(address: &Url) -> bool {
    let is_here = matches!(address.host_str(), Some("127.0.0.1" | "[::1]" | "localhost"));
    address.scheme() == "https" || address.scheme() == "http" && is_here
}

/// Returns the value of a field in the query of an address.
fn value(url: &Url, field: &str) -> Option<String> {
    url.query_pairs().find(|(name, _)| name == field).map(|(_, value)| value.into_owned())
}

/// Returns the error of a sign-in. A server may have said why, so characters that nobody sees are named.
fn failed(server: &str, why: &str) -> CommandError {
    let why = one_line(&named_in_line(why), 300);
    CommandError::new(ErrorKind::Failed, format!("cannot sign in at {server}: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_signs_in_over_https_or_on_this_machine() {
        for (address, expected) in [
            ("https://example.com/authorize?state=a", true),
            ("http://127.0.0.1:80/authorize", true),
            ("http://example.com/authorize", false),
            ("javascript:alert(1)", false),
            ("file:///etc/passwd", false),
        ] {
            assert_eq!(is_safe(&Url::parse(address).unwrap()), expected, "{address}");
        }
    }
}
