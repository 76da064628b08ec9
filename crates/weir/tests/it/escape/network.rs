//! The network: by default, there is only the run's own loopback.

use std::net::TcpListener;

use super::world::{User, World, announce_skip};
use super::{Probe, ProbeArguments, check};

#[test]
fn a_user_reaches_nothing_outside() {
    check(User::Plain, &PROBE);
}

#[test]
fn root_reaches_nothing_outside() {
    check(User::Root, &PROBE);
}

/// Asks the proxy for a tunnel, and checks the first line of its answer.
fn check_proxy(hosts: &str, asked: &str, answered: &str) {
    for user in [User::Plain, User::Root] {
        let Some(world) = World::new(user) else { return announce_skip() };
        world.configure_wholly(&format!("network = \"allow-list\"\n[run]\nhosts = [{hosts}]\n"));
        let code = format!(
            "exec 3<>/dev/tcp/127.0.0.1/3128; printf 'CONNECT {asked} HTTP/1.1\\r\\nHost: {asked}\\r\\n\\r\\n' >&3; \
             head -n 1 <&3"
        );
        let answer = world.run(&code);
        assert!(answer["text"].as_str().unwrap().starts_with(answered), "as {user:?}, {asked}: {answer}");
    }
}

/// Number 32 of the list.
#[test]
fn the_proxy_reaches_only_what_is_allowed() {
    check_proxy("\"allowed.example\"", "other.example:443", "HTTP/1.1 403");
    check_proxy("\"allowed.example\"", "allowed.example.other.example:443", "HTTP/1.1 403");
    check_proxy("\"allowed.example\"", "169.254.169.254:80", "HTTP/1.1 403");
}

/// Number 33 of the list.
#[test]
fn the_proxy_does_not_reach_the_machine_by_an_allowed_name() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    check_proxy("\"localhost\"", &format!("localhost:{port}"), "HTTP/1.1 403");
}

/// Hosts that are not allowed are unreachable, and the run's loopback stays private.
#[test]
fn with_an_allowed_host_the_rest_stays_out_of_reach() {
    for user in [User::Plain, User::Root] {
        let Some(world) = World::new(user) else { return announce_skip() };
        world.configure("network = \"allow-list\"\n[run]\nhosts = [\"allowed.example\"]");
        let said = world.probe(&PROBE, "full");
        let expected: Vec<_> =
            PROBE.rows.iter().map(|(name, outcome)| ((*name).to_owned(), (*outcome).to_owned())).collect();
        assert_eq!(said, expected, "as {user:?}");
    }
}

/// Starts services on the machine's loopback.
fn told(_: &World) -> ProbeArguments {
    let listeners = ["127.0.0.1:0", "[::1]:0"].map(|address| TcpListener::bind(address).unwrap());
    let port = |listener: &TcpListener| listener.local_addr().unwrap().port().to_string();
    ProbeArguments { words: listeners.iter().map(port).collect(), _kept: Box::new(listeners) }
}

pub(super) const PROBE: Probe = Probe {
    source: "network.c",
    told,
    rows: &[
        ("27 connect to a service on the machine's loopback", "ECONNREFUSED"),
        ("27 connect to a service on the machine's IPv6 loopback", "ECONNREFUSED"),
        ("+ connect to it by the address of any", "ECONNREFUSED"),
        ("+ connect to it by a mapped address", "ECONNREFUSED"),
        ("28 connect to an address of the local network", "ENETUNREACH"),
        ("28 connect to the address of cloud metadata", "ENETUNREACH"),
        ("+ connect to an address of the internet", "ENETUNREACH"),
        ("+ connect to a private IPv6 address", "ENETUNREACH"),
        ("29 send a datagram to the local network", "ENETUNREACH"),
        ("29 send a datagram to everybody near", "ENETUNREACH"),
        ("+ make a raw socket", "EPERM"),
        ("+ give an interface an address", "EPERM"),
        ("+ hear what the kernel says of devices", "EPERM"),
        ("+ ask for the routes", "works"),
        ("+ serve and connect on the run's own loopback", "works"),
    ],
};
