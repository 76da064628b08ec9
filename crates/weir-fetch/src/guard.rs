//! Decides which hosts and addresses may be reached. Invariant: an address that is not known to be public is private.
//!
//! A host is checked by its name and, when we resolve it ourselves, by every address it resolves to. The connection
//! goes to one of the checked addresses, so a name that changes its address in between gains nothing. With a proxy, the
//! proxy resolves names: only names and literal addresses are checked here, and the proxy's own rules decide the rest.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use url::{Host, Url};

use crate::FetchError;

/// Private hosts that may be reached, and hosts that may not.
#[derive(Debug, Clone, Default)]
pub struct Guard {
    allowed: Vec<Pattern>,
    denied: Vec<Pattern>,
}

/// A pattern that cannot be parsed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a host: use a name, `*.name`, an IP address or a network such as 10.0.0.0/8, optionally followed by `:port`"
)]
pub struct PatternError(String);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Pattern {
    hosts: Hosts,
    port: Option<u16>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Hosts {
    All,
    Name(String),
    Below(String),
    Network(IpAddr, u8),
}

/// Names that mean this machine, its network or a cloud's metadata service, whatever resolver is used.
const PRIVATE_NAMES: &[&str] =
    &["localhost", "localdomain", "local", "internal", "home.arpa", "metadata", "instance-data"];

impl Guard {
    /// Creates a guard that allows these hosts even if they are private: names, `*.name`, addresses or networks, each
    /// optionally with a port.
    ///
    /// A name only allows its host to be on this machine or in a private network. Link-local addresses, where clouds
    /// keep credentials, have to be allowed by address.
    pub fn allowing(patterns: &[String]) -> Result<Self, PatternError> {
        Ok(Self { allowed: parse_all(patterns)?, denied: Vec::new() })
    }

    /// Denies these hosts even if they are allowed: patterns as in [`Self::allowing`], or `*` for all hosts.
    pub fn denying(self, patterns: &[String]) -> Result<Self, PatternError> {
        let (all, some): (Vec<String>, Vec<String>) = patterns.iter().cloned().partition(|text| text.trim() == "*");
        let mut denied = parse_all(&some)?;
        denied.extend(all.iter().map(|_| Pattern { hosts: Hosts::All, port: None }));
        Ok(Self { denied, ..self })
    }

    /// Checks whether a URL may be requested at all, before anything is resolved.
    pub(crate) fn check_url(&self, url: &Url) -> Result<(), FetchError> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(FetchError::Scheme { scheme: url.scheme().to_owned() });
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(FetchError::Credentials);
        }
        let port = url.port_or_known_default().unwrap_or_default();
        let host = url.host_str().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
        let address = host.parse().ok().map(as_reached);
        if names(&self.denied, host, port) || address.is_some_and(|address| holds(&self.denied, address, port)) {
            return Err(FetchError::Denied { host: host.to_owned() });
        }
        match url.host() {
            None => Err(FetchError::Url { text: url.to_string(), why: "it has no host".to_owned() }),
            Some(Host::Ipv4(address)) => self.check_address(&address.to_string(), IpAddr::V4(address), port),
            Some(Host::Ipv6(address)) => self.check_address(&address.to_string(), IpAddr::V6(address), port),
            Some(Host::Domain(name)) if is_private_name(name) && !names(&self.allowed, name, port) => {
                Err(FetchError::Private { host: name.to_owned(), address: None })
            }
            Some(Host::Domain(_)) => Ok(()),
        }
    }

    /// Checks whether a connection to this address may be opened for this host.
    pub(crate) fn check_address(&self, host: &str, address: IpAddr, port: u16) -> Result<(), FetchError> {
        let reached = as_reached(address);
        if holds(&self.denied, reached, port) {
            return Err(FetchError::Denied { host: host.to_owned() });
        }
        let allowed = match class_of(reached) {
            AddressClass::Public => true,
            AddressClass::Private => names(&self.allowed, host, port) || holds(&self.allowed, reached, port),
            AddressClass::Special => holds(&self.allowed, reached, port),
        };
        if allowed {
            return Ok(());
        }
        // An address that was given literally is not named twice.
        let address = Some(address).filter(|address| address.to_string() != host);
        Err(FetchError::Private { host: host.to_owned(), address })
    }
}

fn parse_all(patterns: &[String]) -> Result<Vec<Pattern>, PatternError> {
    patterns.iter().map(|text| Pattern::parse(text).ok_or_else(|| PatternError(text.clone()))).collect()
}

fn names(patterns: &[Pattern], host: &str, port: u16) -> bool {
    let host = plain(host);
    patterns.iter().filter(|pattern| pattern.takes(port)).any(|pattern| match &pattern.hosts {
        Hosts::All => true,
        Hosts::Name(name) => *name == host,
        Hosts::Below(name) => is_below(&host, name),
        Hosts::Network(..) => false,
    })
}

fn holds(patterns: &[Pattern], address: IpAddr, port: u16) -> bool {
    patterns.iter().filter(|pattern| pattern.takes(port)).any(|pattern| match &pattern.hosts {
        Hosts::Network(network, bits) => contains(*network, *bits, address),
        _ => false,
    })
}

impl Pattern {
    fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if let Some(network) = network(text) {
            return Some(Self { hosts: network, port: None });
        }
        let (host, port) = match text.rsplit_once(':') {
            Some((host, port)) => (host, Some(port.parse().ok()?)),
            None => (text, None),
        };
        let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        if let Some(hosts) = network(bare) {
            return Some(Self { hosts, port });
        }
        let (below, name) = match host.strip_prefix("*.") {
            Some(name) => (true, name),
            None => (false, host),
        };
        let name = match Host::parse(name).ok()? {
            Host::Domain(name) if !name.contains('*') => plain(&name),
            _ => return None,
        };
        Some(Self { hosts: if below { Hosts::Below(name) } else { Hosts::Name(name) }, port })
    }

    fn takes(&self, port: u16) -> bool {
        self.port.is_none_or(|only| only == port)
    }
}

fn network(text: &str) -> Option<Hosts> {
    network_of(text).map(|(address, bits)| Hosts::Network(address, bits))
}

/// Parses an address, or a network written as `address/bits`.
pub(crate) fn network_of(text: &str) -> Option<(IpAddr, u8)> {
    let (address, bits) = match text.split_once('/') {
        Some((address, bits)) => (address.parse::<IpAddr>().ok()?, Some(bits.parse::<u8>().ok()?)),
        None => (text.parse::<IpAddr>().ok()?, None),
    };
    let most = if address.is_ipv4() { 32 } else { 128 };
    let bits = bits.unwrap_or(most);
    (bits <= most).then_some((address, bits))
}

pub(crate) fn contains(network: IpAddr, bits: u8, address: IpAddr) -> bool {
    let bits = u32::from(bits);
    match (network, address) {
        (IpAddr::V4(network), IpAddr::V4(address)) => {
            bits == 0 || (network.to_bits() ^ address.to_bits()) >> (32 - bits) == 0
        }
        (IpAddr::V6(network), IpAddr::V6(address)) => {
            bits == 0 || (network.to_bits() ^ address.to_bits()) >> (128 - bits) == 0
        }
        _ => false,
    }
}

/// Normalises a host name for comparison: lower case, without the trailing dot.
pub(crate) fn plain(host: &str) -> String {
    host.trim_end_matches('.').to_ascii_lowercase()
}

pub(crate) fn is_below(host: &str, name: &str) -> bool {
    host.strip_suffix(name).is_some_and(|before| before.ends_with('.'))
}

fn is_private_name(host: &str) -> bool {
    let host = plain(host);
    host.is_empty() || PRIVATE_NAMES.iter().any(|name| host == *name || is_below(&host, name))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AddressClass {
    Public,
    /// This machine or a private network.
    Private,
    /// Link-local addresses, where clouds keep credentials, and addresses that are not hosts.
    Special,
}

/// Returns the address that packets actually reach: IPv6 has several ways to embed an IPv4 address.
fn as_reached(address: IpAddr) -> IpAddr {
    let IpAddr::V6(six) = address else { return address };
    let segments = six.segments();
    let four = |high: u16, low: u16| {
        let [a, b] = high.to_be_bytes();
        let [c, d] = low.to_be_bytes();
        IpAddr::V4(Ipv4Addr::new(a, b, c, d))
    };
    match segments {
        // `::1` and `::` are not embedded IPv4 addresses.
        [0, 0, 0, 0, 0, 0, 0, 0 | 1] => address,
        // IPv4-compatible, IPv4-mapped and IPv4-translated.
        [0, 0, 0, 0, 0 | 0xffff, 0 | 0xffff, high, low] => four(high, low),
        // NAT64: the well-known prefix, and the local-use prefix in the same form. Longer addresses below the local-use
        // prefix may have the IPv4 address elsewhere, so they are not known to be public.
        [0x64, 0xff9b, 0 | 1, 0, 0, 0, high, low] => four(high, low),
        // 6to4.
        [0x2002, high, low, ..] => four(high, low),
        _ => address,
    }
}

fn class_of(address: IpAddr) -> AddressClass {
    match address {
        IpAddr::V4(address) => class_of_ipv4(address),
        IpAddr::V6(address) => class_of_ipv6(address),
    }
}

fn class_of_ipv4(address: Ipv4Addr) -> AddressClass {
    match address.octets() {
        // Metadata services of clouds, at a public address and in the shared range.
        [168, 63, 129, 16] | [100, 100, 100, 200] => AddressClass::Special,
        [127, ..] | [10, ..] | [192, 168, ..] | [100, 64..=127, ..] | [172, 16..=31, ..] => AddressClass::Private,
        // "This network", link-local, protocol assignments, documentation, benchmarking, relays, multicast, reserved.
        [0, ..]
        | [169, 254, ..]
        | [192, 0, 0, _]
        | [192, 0, 2, _]
        | [192, 88, 99, _]
        | [198, 18..=19, ..]
        | [198, 51, 100, _]
        | [203, 0, 113, _]
        | [224..=255, ..] => AddressClass::Special,
        _ => AddressClass::Public,
    }
}

fn class_of_ipv6(address: Ipv6Addr) -> AddressClass {
    match address.segments() {
        [0, 0, 0, 0, 0, 0, 0, 1] => AddressClass::Private,
        // Metadata services of clouds, which are in the private range.
        [0xfd00, 0xec2 | 0xc1 | 0x42, ..] | [0xfd20, 0xce, ..] => AddressClass::Special,
        [0xfc00..=0xfdff, ..] => AddressClass::Private,
        // Tunnels that carry IPv4, protocol assignments and documentation are within 2000::/3 but are not hosts.
        [0x2001, 0..=0x1ff, ..] | [0x2001, 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] | [0x3ffe, ..] => AddressClass::Special,
        [0x2000..=0x3fff, ..] => AddressClass::Public,
        _ => AddressClass::Special,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(guard: &Guard, url: &str) -> bool {
        guard.check_url(&Url::parse(url).unwrap()).is_ok()
    }

    fn guard(patterns: &[&str]) -> Guard {
        Guard::allowing(&patterns.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn private_hosts_are_refused_however_they_are_spelt() {
        for url in [
            "http://127.0.0.1/",
            "http://2130706433/",
            "http://0x7f.1/",
            "http://0177.0.0.1/",
            "http://127.1/",
            "http://0/",
            "http://0.0.0.0/",
            "http://10.1.2.3/",
            "http://172.16.0.1/",
            "http://172.31.255.255/",
            "http://192.168.1.1/",
            "http://100.64.0.1/",
            "http://169.254.169.254/latest/meta-data/",
            "http://168.63.129.16/",
            "http://192.0.2.1/",
            "http://198.18.0.1/",
            "http://224.0.0.1/",
            "http://255.255.255.255/",
            "http://[::1]/",
            "http://[::]/",
            "http://[::ffff:127.0.0.1]/",
            "http://[::ffff:0:127.0.0.1]/",
            "http://[::127.0.0.1]/",
            "http://[::ffff:a9fe:a9fe]/",
            "http://[64:ff9b::7f00:1]/",
            "http://[64:ff9b:1::a00:1]/",
            "http://[64:ff9b:1:a00:0:100:5db8:d822]/",
            "http://[64:ff9b:0:a00:0:100:5db8:d822]/",
            "http://[2002:7f00:1::]/",
            "http://[2002:a9fe:a9fe::1]/",
            "http://[2001:0:1::1]/",
            "http://[2001:db8::1]/",
            "http://[fc00::1]/",
            "http://[fd00:ec2::254]/",
            "http://[fe80::1]/",
            "http://[fec0::1]/",
            "http://[ff02::1]/",
            "http://[100::1]/",
            "http://localhost/",
            "http://LOCALHOST./",
            "http://app.localhost:8080/",
            "http://metadata.google.internal/",
            "http://metadata/",
            "http://printer.local/",
            "http://router.home.arpa/",
            "http://①②⑦.0.0.1/",
        ] {
            assert!(!check(&Guard::default(), url), "{url}");
        }
    }

    #[test]
    fn public_hosts_are_reached() {
        for url in [
            "https://example.com/", "https://example.com:8443/", "http://93.184.216.34/", "http://172.32.0.1/",
            "http://100.128.0.1/", "http://[2606:4700::1]/", "http://[64:ff9b::5db8:d822]/", "https://notlocalhost/",
            "https://internal.example.com/",
        ] {
            assert!(check(&Guard::default(), url), "{url}");
        }
    }

    #[test]
    fn other_schemes_and_credentials_are_refused() {
        for url in ["file:///etc/passwd", "ftp://example.com/", "gopher://example.com/", "data:text/html,x"] {
            assert!(!check(&Guard::default(), url), "{url}");
        }
        assert!(!check(&Guard::default(), "https://user@example.com/"));
        assert!(!check(&Guard::default(), "https://:secret@example.com/"));
    }

    #[test]
    fn what_is_allowed_is_reached_and_nothing_beside_it() {
        let guard = guard(&["localhost:8080", "*.corp.internal", "10.0.0.0/8", "[::1]:3000", "192.168.1.5"]);
        for url in [
            "http://localhost:8080/", "http://wiki.corp.internal/", "http://10.200.0.1/", "http://[::1]:3000/",
            "http://192.168.1.5/", "http://[::ffff:10.0.0.1]/",
        ] {
            assert!(check(&guard, url), "{url}");
        }
        for url in ["http://localhost/", "http://corp.internal/", "http://11.x.internal/", "http://192.168.1.6/"] {
            assert!(!check(&guard, url), "{url}");
        }
    }

    #[test]
    fn a_name_that_is_allowed_does_not_lead_to_metadata() {
        let guard = guard(&["wiki.example.com"]);
        assert!(guard.check_address("wiki.example.com", "10.0.0.1".parse().unwrap(), 443).is_ok());
        assert!(guard.check_address("wiki.example.com", "127.0.0.1".parse().unwrap(), 443).is_ok());
        for metadata in ["169.254.169.254", "100.100.100.200", "fd00:ec2::254", "fd00:c1::a9fe:a9fe", "fd00:42::42"] {
            assert!(guard.check_address("wiki.example.com", metadata.parse().unwrap(), 80).is_err(), "{metadata}");
        }
        assert!(guard.check_address("other.example.com", "10.0.0.1".parse().unwrap(), 443).is_err());
        let guard = self::guard(&["169.254.169.254"]);
        assert!(guard.check_address("any.example.com", "169.254.169.254".parse().unwrap(), 80).is_ok());
    }

    #[test]
    fn what_is_denied_is_not_reached_whatever_is_allowed() {
        let guard = guard(&["wiki.example.com"]);
        let guard = guard.denying(&["*.example.com".to_owned(), "93.184.216.34".to_owned()]).unwrap();
        for url in ["https://wiki.example.com/", "https://WIKI.example.com./", "http://93.184.216.34/"] {
            let denied = guard.check_url(&Url::parse(url).unwrap());
            assert!(matches!(denied, Err(FetchError::Denied { .. })), "{url}");
        }
        assert!(check(&guard, "https://example.com/"));
        assert!(guard.check_address("other.org", "93.184.216.34".parse().unwrap(), 443).is_err());
        assert!(!check(&guard.denying(&["*".to_owned()]).unwrap(), "https://example.com/"));
    }

    #[test]
    fn what_is_no_pattern_is_said() {
        for text in ["", "a b", "10.0.0.0/33", "*", "*.*.x", "host:port", "http://x/"] {
            assert!(Guard::allowing(&[text.to_owned()]).is_err(), "{text}");
        }
    }
}
