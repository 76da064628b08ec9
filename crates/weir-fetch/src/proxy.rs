//! Chooses the proxy for a page. Invariant: this machine is never reached through a proxy, where its name means another
//! host.

use std::net::IpAddr;

use url::{Host, Url};

use crate::guard::{contains, is_below, network_of, plain};

/// The proxies set in the environment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Proxies {
    /// The proxy for `http`, such as `http://proxy.example.com:3128`.
    pub http: Option<String>,
    /// The proxy for `https`.
    pub https: Option<String>,
    /// Hosts that are reached without a proxy: names including their subdomains, addresses, networks, or `*`.
    pub none_for: String,
}

impl Proxies {
    pub(crate) fn of(&self, url: &Url) -> Option<&str> {
        let proxy = match url.scheme() {
            "https" => self.https.as_deref(),
            _ => self.http.as_deref(),
        };
        proxy.filter(|proxy| !proxy.trim().is_empty() && !self.is_direct(url))
    }

    fn is_direct(&self, url: &Url) -> bool {
        let (name, address) = match url.host() {
            None => return true,
            Some(Host::Domain(name)) => (plain(name), None),
            Some(Host::Ipv4(address)) => (address.to_string(), Some(IpAddr::V4(address))),
            Some(Host::Ipv6(address)) => (address.to_string(), Some(IpAddr::V6(address))),
        };
        if name == "localhost" || is_below(&name, "localhost") || address.is_some_and(|address| address.is_loopback()) {
            return true;
        }
        self.none_for.split([',', ' ']).map(str::trim).filter(|entry| !entry.is_empty()).any(|entry| {
            let bare = plain(entry.strip_prefix("*.").or(entry.strip_prefix('.')).unwrap_or(entry));
            match (network_of(&bare), address) {
                (Some((network, bits)), Some(address)) => contains(network, bits, address),
                _ => entry == "*" || bare == name || (address.is_none() && is_below(&name, &bare)),
            }
        })
    }
}

/// Returns the proxy's URL with a scheme that makes the proxy resolve names.
pub(crate) fn address(proxy: &str) -> String {
    for (scheme, resolving) in [("socks5://", "socks5h://"), ("socks4://", "socks4a://"), ("socks://", "socks5h://")] {
        if let Some(rest) = proxy.strip_prefix(scheme) {
            return format!("{resolving}{rest}");
        }
    }
    proxy.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(none_for: &str, url: &str) -> bool {
        let proxies = Proxies {
            http: Some("http://p:1".to_owned()),
            https: Some("http://p:2".to_owned()),
            none_for: none_for.to_owned(),
        };
        proxies.of(&Url::parse(url).unwrap()).is_some()
    }

    #[test]
    fn pages_go_through_the_proxy_of_their_scheme() {
        let proxies = Proxies { https: Some("http://p:2".to_owned()), ..Proxies::default() };
        assert_eq!(proxies.of(&Url::parse("https://example.com").unwrap()), Some("http://p:2"));
        assert_eq!(proxies.of(&Url::parse("http://example.com").unwrap()), None);
    }

    #[test]
    fn hosts_that_are_excepted_are_reached_directly() {
        assert!(check("", "https://example.com"));
        assert!(!check("*", "https://example.com"));
        assert!(!check("other.org, example.com", "https://example.com"));
        assert!(!check(".example.com", "https://a.example.com"));
        assert!(!check("*.example.com", "https://a.example.com"));
        assert!(check("example.com", "https://notexample.com"));
        assert!(!check("10.0.0.0/8", "https://10.1.1.1"));
        assert!(check("10.0.0.0/8", "https://11.1.1.1"));
        assert!(!check("::1", "http://[::1]"));
    }

    #[test]
    fn this_machine_is_reached_directly() {
        for url in ["http://localhost:80", "http://x.localhost", "http://127.0.0.2", "http://[::1]"] {
            assert!(!check("", url), "{url}");
        }
    }
}
