//! Patterns for allowed hosts, as the user writes them.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use super::address::canonical;

/// The ports of a pattern that names none.
const DEFAULT_PORTS: [u16; 2] = [80, 443];

/// A pattern for one or more hosts that may be reached: `example.org`, `*.example.org` (its subdomains, not itself),
/// `example.org:8443`, `192.0.2.7`, `[2001:db8::7]:8080`. Without a port, it means 80 and 443.
///
/// An address that is not public can be reached only if a pattern names that exact address, whatever name resolves to
/// it. For an address of this machine, the pattern must name the port too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostPattern {
    host: Host,
    port: Option<u16>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Host {
    Name(String),
    Below(String),
    Address(IpAddr),
}

/// The error for an invalid pattern.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a host: use a form such as `example.org`, `*.example.org`, `example.org:8443` or `192.0.2.7:8080`"
)]
pub struct BadPattern(String);

impl HostPattern {
    /// Returns whether the pattern allows the requested name or address.
    pub fn allows(&self, host: &str, port: u16) -> bool {
        if !self.port.map_or(DEFAULT_PORTS.contains(&port), |only| only == port) {
            return false;
        }
        match &self.host {
            Host::Name(name) => name == host,
            Host::Below(name) => host.strip_suffix(name.as_str()).is_some_and(|front| front.ends_with('.')),
            Host::Address(address) => host.parse().is_ok_and(|asked| canonical(asked) == *address),
        }
    }

    /// Returns whether the pattern names this exact address, and whether it names the port as well.
    pub(super) fn names(&self, address: IpAddr, port: u16) -> PatternPrecision {
        match self.host {
            Host::Address(named) if named == canonical(address) => match self.port {
                Some(only) if only == port => PatternPrecision::WithPort,
                None if DEFAULT_PORTS.contains(&port) => PatternPrecision::Address,
                _ => PatternPrecision::No,
            },
            _ => PatternPrecision::No,
        }
    }
}

/// How precisely a pattern names an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PatternPrecision {
    No,
    Address,
    WithPort,
}

impl FromStr for HostPattern {
    type Err = BadPattern;

    fn from_str(text: &str) -> Result<Self, BadPattern> {
        let bad = || BadPattern(text.to_owned());
        let trimmed = text.trim();
        if let Ok(address) = trimmed.parse::<IpAddr>() {
            return Ok(Self { host: Host::Address(canonical(address)), port: None });
        }
        let (host, port) = split_port(trimmed).ok_or_else(bad)?;
        let host = if let Some(below) = host.strip_prefix("*.") {
            Host::Below(host_name(below).filter(|name| name.parse::<IpAddr>().is_err()).ok_or_else(bad)?)
        } else {
            let name = host_name(host).ok_or_else(bad)?;
            name.parse().map_or(Host::Name(name), |address| Host::Address(canonical(address)))
        };
        Ok(Self { host, port })
    }
}

impl fmt::Display for HostPattern {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.host, self.port) {
            (Host::Name(name), _) => write!(out, "{name}")?,
            (Host::Below(name), _) => write!(out, "*.{name}")?,
            (Host::Address(IpAddr::V6(address)), Some(_)) => write!(out, "[{address}]")?,
            (Host::Address(address), _) => write!(out, "{address}")?,
        }
        self.port.map_or(Ok(()), |port| write!(out, ":{port}"))
    }
}

/// Splits a host from its optional port. Removes the brackets around an IPv6 address.
pub(super) fn split_port(text: &str) -> Option<(&str, Option<u16>)> {
    let (host, port) = if let Some(rest) = text.strip_prefix('[') {
        let (address, after) = rest.split_once(']')?;
        address.parse::<std::net::Ipv6Addr>().ok()?;
        (address, after.strip_prefix(':').or(after.is_empty().then_some("")))
    } else {
        match text.split_once(':') {
            Some((host, port)) if !port.is_empty() => (host, Some(port)),
            Some(_) => return None,
            None => (text, Some("")),
        }
    };
    let port = port?;
    if port.is_empty() {
        return Some((host, None));
    }
    // `parse` would accept a sign.
    let number: u16 = port.bytes().all(|byte| byte.is_ascii_digit()).then(|| port.parse().ok())??;
    (number != 0).then_some((host, Some(number)))
}

/// Returns the name in lower case without a trailing dot, or the address; `None` if the text is neither.
pub(super) fn host_name(text: &str) -> Option<String> {
    if text.parse::<IpAddr>().is_ok() {
        return Some(text.to_ascii_lowercase());
    }
    let name = text.strip_suffix('.').unwrap_or(text);
    let label = |label: &str| {
        !label.is_empty()
            && label.len() <= 63
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
    };
    (name.len() <= 253 && name.split('.').all(label)).then(|| name.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pattern: &str, host: &str, port: u16, expected: bool) {
        let parsed: HostPattern = pattern.parse().unwrap();
        let host = host_name(host).unwrap();
        assert_eq!(parsed.allows(&host, port), expected, "{pattern} {host}:{port}");
        assert_eq!(parsed.to_string().parse::<HostPattern>().unwrap(), parsed, "{pattern}");
    }

    #[test]
    fn a_name_is_itself_on_the_usual_ports() {
        check("example.org", "example.org", 443, true);
        check("example.org", "EXAMPLE.org.", 80, true);
        check("example.org", "example.org", 8443, false);
        check("example.org", "www.example.org", 443, false);
        check("example.org", "notexample.org", 443, false);
        check("example.org", "example.org.evil.net", 443, false);
        check("Example.ORG:8443", "example.org", 8443, true);
        check("example.org:8443", "example.org", 443, false);
    }

    #[test]
    fn a_star_is_what_is_below() {
        check("*.example.org", "a.example.org", 443, true);
        check("*.example.org", "a.b.example.org", 443, true);
        check("*.example.org", "example.org", 443, false);
        check("*.example.org", "notexample.org", 443, false);
    }

    #[test]
    fn an_address_is_itself_however_it_is_written() {
        check("192.0.2.7", "192.0.2.7", 80, true);
        check("192.0.2.7", "::ffff:192.0.2.7", 80, true);
        check("[2001:db8::7]:8080", "2001:DB8:0::7", 8080, true);
        check("2001:db8::7", "2001:db8::8", 80, false);
    }

    #[test]
    fn what_is_no_host_is_refused() {
        for text in [
            "", "*", "*.", "a b", "example.org:", "example.org:0", "example.org:+80", "http://example.org", "a..b",
            "[::1", "*.1.2.3.4", "a*b.org", "[::1]x",
        ] {
            assert!(text.parse::<HostPattern>().is_err(), "{text}");
        }
    }
}
