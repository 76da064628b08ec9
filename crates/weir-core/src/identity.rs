//! The identity of a repository: what all clones of it have in common, on any machine.
//!
//! Invariants: an identity contains no credentials; it is a claim that any folder can make, so it may suggest that two
//! folders belong together, but nothing is opened because of it.

use std::fmt;
use std::net::Ipv6Addr;
use std::str::FromStr;

use crate::redact::redact;

/// The schemes of remotes on a network, with their default ports.
const SCHEMES: &[(&str, u16)] =
    &[("https", 443), ("http", 80), ("ssh", 22), ("git", 9418), ("git+ssh", 22), ("ssh+git", 22)];
/// The port of remotes that are written without a scheme, as in `git@example.org:path`.
const SSH_PORT: u16 = 22;
/// The longest address of a remote that is read, in bytes.
const MAX_ADDRESS_BYTES: usize = 2048;
/// How an identity begins as text.
const PREFIX: &str = "repo:";

/// The identity of a repository: its root commit, and where it is published.
#[derive(Debug, Clone, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct RepositoryIdentity {
    root_commit: String,
    remote: Option<String>,
}

/// The error for a text that is not an identity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not the identity of a repository")]
pub struct NotAnIdentity;

impl RepositoryIdentity {
    /// Creates the identity of a repository with these root commits, published at this address. Of several root
    /// commits, the one with the smallest hash counts. Returns `None` if there is none, or if one of them is not a
    /// hash.
    pub fn new<'a>(roots: impl IntoIterator<Item = &'a str>, address: Option<&str>) -> Option<Self> {
        let roots: Option<Vec<&str>> = roots.into_iter().map(|root| is_hash(root).then_some(root)).collect();
        let root_commit = roots?.into_iter().min()?.to_owned();
        Some(Self { root_commit, remote: address.and_then(normalise_remote) })
    }

    /// Returns the hash of the root commit.
    pub fn root_commit(&self) -> &str {
        &self.root_commit
    }

    /// Returns where the repository is published, as [`normalise_remote`] writes it.
    pub fn remote(&self) -> Option<&str> {
        self.remote.as_deref()
    }

    /// Returns whether both can be clones of one repository: they have the same root commit, and are not published at
    /// different places.
    pub fn matches(&self, other: &Self) -> bool {
        let differ = self.remote.is_some() && other.remote.is_some() && self.remote != other.remote;
        self.root_commit == other.root_commit && !differ
    }
}

impl fmt::Display for RepositoryIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PREFIX}{}", self.root_commit)?;
        self.remote.iter().try_for_each(|remote| write!(f, "@{remote}"))
    }
}

impl FromStr for RepositoryIdentity {
    type Err = NotAnIdentity;

    fn from_str(text: &str) -> Result<Self, NotAnIdentity> {
        let text = text.strip_prefix(PREFIX).ok_or(NotAnIdentity)?;
        let (root, remote) = text.split_once('@').map_or((text, None), |(root, remote)| (root, Some(remote)));
        let is_normal = |remote: &str| network_remote(remote, None).as_deref() == Some(remote);
        if is_hash(root) && remote.is_none_or(is_normal) {
            Ok(Self { root_commit: root.to_owned(), remote: remote.map(str::to_owned) })
        } else {
            Err(NotAnIdentity)
        }
    }
}

impl TryFrom<String> for RepositoryIdentity {
    type Error = NotAnIdentity;

    fn try_from(text: String) -> Result<Self, NotAnIdentity> {
        text.parse()
    }
}

impl From<RepositoryIdentity> for String {
    fn from(identity: RepositoryIdentity) -> Self {
        identity.to_string()
    }
}

/// Returns where a remote is, in one form for all the ways to write it: `example.org/team/project`. Scheme, user,
/// password, default port, query and the suffix `.git` are left out. Returns `None` for a folder or a file, for an
/// address that is not understood, and for one that may contain a secret even so.
pub fn normalise_remote(address: &str) -> Option<String> {
    let address = address.trim();
    if address.len() > MAX_ADDRESS_BYTES || address.chars().any(|c| c.is_control() || c.is_whitespace()) {
        return None;
    }
    match address.split_once("://") {
        Some((scheme, rest)) => {
            let (_, port) = SCHEMES.iter().find(|(name, _)| scheme.eq_ignore_ascii_case(name))?;
            network_remote(rest, Some(*port))
        }
        None => scp_remote(address),
    }
}

/// Normalises what follows the scheme of an address.
fn network_remote(rest: &str, default_port: Option<u16>) -> Option<String> {
    let (authority, path) = rest.split_once('/')?;
    joined(host_and_port(without_user(authority))?, default_port, path)
}

/// Normalises an address such as `git@example.org:team/project` or `git@[example.org:2222]:team/project`.
fn scp_remote(address: &str) -> Option<String> {
    let (host, path) = match address.split_once("]:") {
        Some((host, path)) if !host.contains('/') => {
            let (_, inner) = host.split_once('[')?;
            // Brackets enclose an IPv6 address, or a host with its port.
            let has_port = inner.bytes().filter(|byte| *byte == b':').count() == 1;
            (if has_port { host_and_port(inner)? } else { host_and_port(&format!("[{inner}]"))? }, path)
        }
        _ => {
            let (host, path) = address.split_once(':').filter(|(host, _)| !host.contains('/'))?;
            (host_and_port(without_user(host))?, path)
        }
    };
    // `C:/folder` is a path on Windows, and `name::address` is for a program that git would start.
    let is_drive = host.0.len() == 1;
    if is_drive || path.starts_with(':') { None } else { joined(host, Some(SSH_PORT), path) }
}

fn without_user(authority: &str) -> &str {
    authority.rsplit_once('@').map_or(authority, |(_, host)| host)
}

/// Returns the host in lower case, and the port if there is one.
fn host_and_port(text: &str) -> Option<(String, Option<u16>)> {
    let (host, port) = match text.strip_prefix('[') {
        Some(inner) => {
            let (address, rest) = inner.split_once(']')?;
            let port = if rest.is_empty() { "" } else { rest.strip_prefix(':')? };
            (format!("[{}]", address.parse::<Ipv6Addr>().ok()?), port)
        }
        None => {
            let (host, port) = text.split_once(':').unwrap_or((text, ""));
            let host = host.trim_end_matches('.').to_ascii_lowercase();
            let is_name = !host.is_empty() && host.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._".contains(&b));
            (is_name.then_some(host)?, port)
        }
    };
    if port.is_empty() {
        return Some((host, None));
    }
    let port = port.bytes().all(|byte| byte.is_ascii_digit()).then(|| port.parse::<u16>().ok()).flatten()?;
    Some((host, Some(port)))
}

fn joined((host, port): (String, Option<u16>), default_port: Option<u16>, path: &str) -> Option<String> {
    let path = plain_path(path)?;
    let port = port.filter(|port| Some(*port) != default_port).map(|port| format!(":{port}")).unwrap_or_default();
    let remote = format!("{host}{port}/{path}");
    redact(remote.as_bytes()).found.is_empty().then_some(remote)
}

/// Returns a path without empty parts, query and `.git`.
fn plain_path(path: &str) -> Option<String> {
    // A password with a slash in it would be taken for a path, but then an `@` follows.
    if path.contains(['@', '\\']) {
        return None;
    }
    let path = path.split(['?', '#']).next()?;
    let mut parts: Vec<&str> = path.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    while let Some(last) = parts.pop() {
        let last = last.trim_end_matches(".git");
        if !last.is_empty() {
            parts.push(last);
            break;
        }
    }
    let goes_nowhere = parts.is_empty() || parts.iter().any(|part| matches!(*part, "." | ".."));
    (!goes_nowhere).then(|| parts.join("/"))
}

fn is_hash(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ONE: &str = "0123456789abcdef0123456789abcdef01234567";
    const TWO: &str = "fedcba9876543210fedcba9876543210fedcba98";

    fn check(expected: Option<&str>, addresses: &[&str]) {
        for address in addresses {
            assert_eq!(normalise_remote(address).as_deref(), expected, "{address}");
        }
    }

    #[test]
    fn all_forms_of_an_address_are_one_remote() {
        check(
            Some("example.org/team/project"),
            &[
                "https://example.org/team/project",
                "https://example.org/team/project.git",
                "https://example.org/team/project.git/",
                "https://example.org/team//project/",
                "https://example.org:443/team/project",
                "http://example.org:80/team/project",
                "HTTPS://Example.ORG/team/project",
                "https://example.org./team/project",
                "https://user@example.org/team/project",
                "https://user:password@example.org/team/project",
                "https://user:p@ss:word@example.org/team/project.git",
                "https://example.org/team/project?access=key#part",
                "ssh://git@example.org/team/project.git",
                "ssh://git@example.org:22/team/project.git",
                "git+ssh://example.org/team/project",
                "git://example.org/team/project",
                "git://example.org:9418/team/project",
                "git@example.org:team/project.git",
                "git@example.org:/team/project",
                "example.org:team/project",
                "git@[example.org:22]:team/project",
                "  git@example.org:team/project.git\n",
            ],
        );
    }

    #[test]
    fn what_makes_a_difference_stays() {
        check(Some("example.org:8443/a/b"), &["https://example.org:8443/a/b.git", "git@[example.org:8443]:a/b"]);
        check(Some("example.org:22/a/b"), &["https://example.org:22/a/b"]);
        check(Some("example.org/Team/Project"), &["https://example.org/Team/Project"]);
        check(Some("example.org/~user/project"), &["ssh://example.org/~user/project", "example.org:~user/project"]);
        check(Some("[::1]:2222/a"), &["ssh://git@[0::1]:2222/a"]);
        check(Some("[fe80::1]/a"), &["git@[FE80::1]:a.git", "https://[fe80::1]/a"]);
    }

    #[test]
    fn files_and_what_is_not_understood_are_no_remote() {
        check(
            None,
            &[
                "", "/srv/project.git", "../project", "project", "./a:b/project", "file:///srv/project.git",
                "C:/projects/project", "C:\\projects\\project", "ext::sh", "codecommit::region://project",
                "https://example.org", "https://example.org/", "https://example.org/.git",
                "https://example.org/a/../b", "https://exa mple.org/a", "https://example.org/a\nb",
                "https://[example.org/a", "https://example.org:port/a", "https://example.org:+80/a",
                "https://example.org:99999/a", "https://user:pass/word@example.org/a",
                "https://user:12/34@example.org/a", "https://user:12/34?5@example.org/a",
                "user:password@example.org:a",
            ],
        );
    }

    #[test]
    fn a_secret_in_the_path_is_not_repeated() {
        let token = format!("ghp_{}", "aB3dE6gH9jK2mN5pQ8sT1vW4xY7zA0cF3hJ6");
        check(None, &[&format!("https://example.org/{token}/project")]);
    }

    #[test]
    fn the_smallest_root_commit_counts() {
        let identity = RepositoryIdentity::new([TWO, ONE], Some("git@example.org:a/b.git")).unwrap();
        assert_eq!(identity.to_string(), format!("repo:{ONE}@example.org/a/b"));
        assert_eq!(RepositoryIdentity::new([], None), None);
        assert_eq!(RepositoryIdentity::new([ONE, "fatal: bad object"], None), None);
        assert_eq!(RepositoryIdentity::new([ONE], Some("../b")).unwrap().to_string(), format!("repo:{ONE}"));
    }

    #[test]
    fn clones_match_unless_they_are_published_at_different_places() {
        let identity = |root, address| RepositoryIdentity::new([root], address).unwrap();
        let known = identity(ONE, Some("https://example.org/a/b"));
        assert!(known.matches(&identity(ONE, Some("git@example.org:a/b"))));
        assert!(known.matches(&identity(ONE, None)));
        assert!(!known.matches(&identity(ONE, Some("https://example.org/fork/b"))));
        assert!(!known.matches(&identity(TWO, Some("https://example.org/a/b"))));
    }

    #[test]
    fn an_identity_is_read_as_it_was_written() {
        for address in [None, Some("https://example.org:8443/a/b.git"), Some("ssh://[::1]/a"), Some("x.org:443/a")] {
            let identity = RepositoryIdentity::new([ONE], address).unwrap();
            let text = serde_json::to_string(&identity).unwrap();
            assert_eq!(text, format!("\"{identity}\""));
            assert_eq!(serde_json::from_str::<RepositoryIdentity>(&text).unwrap(), identity);
        }
        for text in ["", "repo:", ONE, "repo:xyz", &format!("repo:{ONE}@"), &format!("repo:{ONE}@user:x@example.org/a")]
        {
            assert_eq!(text.parse::<RepositoryIdentity>(), Err(NotAnIdentity), "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_password_is_never_part_of_a_remote(user in "[a-z]{1,8}", password in "[!-~]{1,20}") {
            let remote = normalise_remote(&format!("https://{user}:{password}@example.org/team/project.git"));
            prop_assert!(remote.is_none() || remote.as_deref() == Some("example.org/team/project"), "{remote:?}");
        }

        #[test]
        fn any_address_is_refused_or_gives_an_identity_that_can_be_read(address in "(https://|ssh://|)[!-~]{0,60}") {
            let identity = RepositoryIdentity::new([ONE], Some(&address)).unwrap();
            prop_assert_eq!(identity.to_string().parse::<RepositoryIdentity>(), Ok(identity));
        }
    }
}
