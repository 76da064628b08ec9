//! The options that every server has: where it listens, who may reach it, its limits and its log.
//!
//! Invariant: an address that other machines can reach is served only with TLS, or if the user says explicitly that it
//! may be plain.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches, value_parser};
use tokio_rustls::TlsAcceptor;
use weir_host::env::Env;
use weir_host::error::{CommandError, ErrorKind};
use weir_host::paint;

use crate::guard::AllowedHosts;
use crate::listen::{Listening, ServerLimits};
use crate::log::LogFormat;
use crate::tls;

const DEFAULT_ADDRESS: &str = "127.0.0.1:4747";
/// The longest life of a token that expires, in seconds: ten years.
const MAX_TOKEN_SECONDS: u64 = 10 * 365 * 24 * 60 * 60;
/// Threads for blocking work besides that of calls.
const SPARE_THREADS: usize = 16;

/// Returns the options about where a server listens, and who reaches it.
pub fn address_options() -> [Arg; 6] {
    let file = |name: &'static str, other: &'static str| {
        Arg::new(name).long(name).value_name("FILE").value_parser(value_parser!(PathBuf)).requires(other)
    };
    [
        Arg::new("bind")
            .long("bind")
            .value_name("ADDRESS")
            .default_value(DEFAULT_ADDRESS)
            .value_parser(parse_address)
            .help("Listen on this address and port; port 0 lets the system choose one"),
        file("tls-cert", "tls-key").help("Serve TLS with this certificate and its chain, as PEM"),
        file("tls-key", "tls-cert").help("Use the private key in this PEM file"),
        Arg::new("insecure")
            .long("insecure")
            .action(ArgAction::SetTrue)
            .help("Listen without TLS on an address that other machines can reach; anyone on the way can read tokens"),
        Arg::new("allow-host")
            .long("allow-host")
            .value_name("NAME[:PORT]")
            .value_parser(value_parser!(NamedHost))
            .action(ArgAction::Append)
            .help("Also accept requests for this host name, with the port of a proxy in front; can be repeated"),
        Arg::new("log")
            .long("log")
            .value_name("FORMAT")
            .default_value("off")
            .value_parser(PossibleValuesParser::new(["off", "text", "json"]))
            .help("Write one line for each request to standard error"),
    ]
}

/// Returns the options about the limits of requests and connections.
pub fn limit_options() -> [Arg; 5] {
    let number = |name: &'static str, unit: &'static str, most: u64| {
        Arg::new(name).long(name).value_name(unit).value_parser(value_parser!(u64).range(1..=most))
    };
    [
        number("max-body", "MIB", 256).default_value("4").help("Maximum size of a request body"),
        number("max-connections", "NUMBER", 10_000)
            .default_value("256")
            .help("Maximum number of connections; further ones wait"),
        number("max-connections-per-address", "NUMBER", 10_000).help(
            "Maximum number of connections of one address, or of a proxy; further ones are closed [default: half]",
        ),
        number("header-timeout", "SECONDS", 600)
            .default_value("10")
            .help("Close a connection that takes longer to send a request's head, or is idle for longer"),
        number("request-timeout", "SECONDS", 86_400).default_value("600").help("Cancel a call that takes longer"),
    ]
}

/// Where a server listens, and how.
pub struct Door {
    address: SocketAddr,
    tls: Option<TlsAcceptor>,
}

impl Door {
    /// Reads the options. An address that other machines can reach needs TLS, or the word of the user.
    pub fn of(env: &Env, arguments: &ArgMatches) -> Result<Self, CommandError> {
        let file = |name: &str| arguments.get_one::<PathBuf>(name).map(|path| env.folder.join(path));
        let address = *arguments.get_one::<SocketAddr>("bind").ok_or_else(|| CommandError::usage("no address"))?;
        let tls = match (file("tls-cert"), file("tls-key")) {
            (Some(certificate), Some(key)) => Some(tls::acceptor(&certificate, &key)?),
            _ => None,
        };
        if tls.is_none() && !is_loopback(address) && !arguments.get_flag("insecure") {
            return Err(CommandError::usage(format!(
                "cannot serve {address}: other machines can reach it, and there is no TLS"
            ))
            .hint("name a certificate with --tls-cert and --tls-key, or serve 127.0.0.1")
            .hint("--insecure serves it without TLS; everybody on the way can then read the tokens"));
        }
        Ok(Self { address, tls })
    }

    /// Binds the address.
    pub async fn open(self) -> Result<Listening, CommandError> {
        let listening = Listening::bind(self.address).await?;
        Ok(match self.tls {
            Some(tls) => listening.with_tls(tls),
            None => listening,
        })
    }
}

/// Says where the server is, and whether others can listen. The first line is complete once connections are accepted.
pub fn announce(listening: &Listening, tokens_are: &str) {
    let (address, scheme) = (listening.address(), if listening.is_plain() { "http" } else { "https" });
    paint::warn(&format!("weir: listening on {scheme}://{address}"));
    paint::warn(&format!("weir: {tokens_are}"));
    if listening.is_plain() && !is_loopback(address) {
        paint::warn("weir: this address is not protected by TLS: everybody on the way can read tokens and answers");
    }
}

/// Returns the names by which a server may be reached.
pub fn hosts(address: SocketAddr, arguments: &ArgMatches) -> AllowedHosts {
    let named = arguments.get_many::<NamedHost>("allow-host").into_iter().flatten();
    let own = AllowedHosts::loopback(address.port()).and_address(address);
    named.fold(own, |hosts, named| hosts.and_host(&named.host, named.port.unwrap_or(address.port())))
}

/// A host that the user names, with the port by which it is reached if that is not the server's own.
#[derive(Debug, Clone, PartialEq, Eq)]
struct NamedHost {
    host: String,
    port: Option<u16>,
}

impl FromStr for NamedHost {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (host, port) = match text.rsplit_once(':') {
            // The colons of an address in brackets are its own.
            Some((host, port)) if !port.ends_with(']') => {
                (host, Some(port.parse().map_err(|_| format!("`{port}` is not a port"))?))
            }
            _ => (text, None),
        };
        if host.is_empty() {
            return Err("the host name is empty".to_owned());
        }
        Ok(Self { host: host.to_owned(), port })
    }
}

pub fn limits(arguments: &ArgMatches) -> ServerLimits {
    let usual = ServerLimits::default();
    let number = |name: &str| arguments.get_one::<u64>(name).copied();
    let count = |name: &str| number(name).and_then(|number| usize::try_from(number).ok());
    let max_connections = count("max-connections").unwrap_or(usual.max_connections);
    ServerLimits {
        max_body_bytes: count("max-body").map_or(usual.max_body_bytes, |mib| mib << 20),
        max_connections,
        max_per_address: count("max-connections-per-address").unwrap_or((max_connections / 2).max(1)),
        header_timeout: number("header-timeout").map_or(usual.header_timeout, Duration::from_secs),
        request_timeout: number("request-timeout").map(Duration::from_secs).or(usual.request_timeout),
    }
}

pub fn log_format(arguments: &ArgMatches) -> LogFormat {
    match arguments.get_one::<String>("log").map(String::as_str) {
        Some("json") => LogFormat::Json,
        Some("text") => LogFormat::Text,
        _ => LogFormat::Off,
    }
}

/// Whether only this machine can reach an address.
fn is_loopback(address: SocketAddr) -> bool {
    address.ip().to_canonical().is_loopback()
}

/// Parses an address with a port. Of all names, only `localhost` is one.
fn parse_address(text: &str) -> Result<SocketAddr, String> {
    let text = text.strip_prefix("localhost:").map_or_else(|| text.to_owned(), |port| format!("127.0.0.1:{port}"));
    SocketAddr::from_str(&text)
        .map_err(|_| "write an IP address and a port, such as 127.0.0.1:4747 or [::1]:0".to_owned())
}

/// Parses how long a token is valid: a number and a unit.
pub fn parse_life(text: &str) -> Result<Duration, CommandError> {
    let refused = || {
        CommandError::usage(format!("`{text}` is not a time that a token can be valid for"))
            .hint("write a number and a unit, such as 30m, 8h or 7d, up to ten years")
    };
    let (number, unit) = text.split_at_checked(text.len().saturating_sub(1)).ok_or_else(refused)?;
    let seconds: u64 = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 60 * 60,
        "d" => 24 * 60 * 60,
        _ => return Err(refused()),
    };
    let number: u64 = number.parse().map_err(|_| refused())?;
    let life = number.checked_mul(seconds).filter(|life| (1..=MAX_TOKEN_SECONDS).contains(life));
    life.map(Duration::from_secs).ok_or_else(refused)
}

/// Returns the runtime of a server. Connections share a few threads, and `calls` of the stores work on others.
pub fn runtime(calls: usize) -> Result<tokio::runtime::Runtime, CommandError> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .max_blocking_threads(calls + SPARE_THREADS)
        .build()
        .map_err(|error| CommandError::new(ErrorKind::Failed, format!("cannot start: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_reaches_a_loopback_address() {
        for (address, expected) in [
            ("127.0.0.1:1", Some(true)),
            ("127.9.9.9:1", Some(true)),
            ("[::1]:1", Some(true)),
            ("[::ffff:127.0.0.1]:1", Some(true)),
            ("localhost:1", Some(true)),
            ("0.0.0.0:1", Some(false)),
            ("[::]:1", Some(false)),
            ("192.168.1.7:1", Some(false)),
            ("example.com:1", None),
            ("127.0.0.1", None),
        ] {
            assert_eq!(parse_address(address).ok().map(is_loopback), expected, "{address}");
        }
    }

    #[test]
    fn a_token_is_valid_for_a_time() {
        for (text, seconds) in [("30m", Some(1_800)), ("8h", Some(28_800)), ("7d", Some(604_800)), ("1s", Some(1))] {
            assert_eq!(parse_life(text).ok(), seconds.map(Duration::from_secs), "{text}");
        }
        for text in ["", "h", "0h", "-1h", "8", "8 h", "99999d", "8ü", "18446744073709551615d"] {
            assert!(parse_life(text).is_err(), "{text}");
        }
    }
}
