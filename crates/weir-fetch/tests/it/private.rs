//! Tests of names that resolve to private addresses, now or a moment later.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use weir_fetch::{FetchError, Guard, NameResolver, Settings};

use crate::server::{TestServer, get_with, page_of, settings, this_machine};

fn naming(addresses: Vec<IpAddr>) -> Settings {
    Settings {
        names: NameResolver::Custom(Arc::new(move |_| addresses.clone())),
        guard: Guard::default(),
        ..settings()
    }
}

#[test]
fn a_name_of_this_machine_is_refused_by_its_address() {
    let server = TestServer::saying(page_of("secret"));
    let url = format!("http://innocent.example.com:{}/", server.address.port());
    for address in ["127.0.0.1", "::ffff:127.0.0.1", "10.0.0.1", "169.254.169.254", "fd00::1", "::1", "0.0.0.0"] {
        let error = get_with(naming(vec![address.parse().unwrap()]), &url).unwrap_err();
        assert!(matches!(error, FetchError::Private { .. }), "{address}: {error}");
    }
    assert!(!server.was_reached());
}

#[test]
fn one_private_address_among_public_ones_is_enough() {
    let server = TestServer::saying(page_of("secret"));
    let url = format!("http://mixed.example.com:{}/", server.address.port());
    let addresses = vec!["93.184.216.34".parse().unwrap(), this_machine()];
    assert!(matches!(get_with(naming(addresses), &url).unwrap_err(), FetchError::Private { .. }));
    assert!(!server.was_reached());
}

#[test]
fn a_name_that_changes_between_looks_is_looked_up_once_and_refused_when_it_leads_here() {
    let server = TestServer::saying(page_of("secret"));
    let port = server.address.port();
    let looks = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&looks);
    // The first URL is allowed, and redirects to the same name at a port that is not.
    let entry = TestServer::saying(format!(
        "HTTP/1.1 302 Found\r\nlocation: http://rebind.example.com:{port}/\r\ncontent-length: 0\r\n\r\n"
    ));
    let mut settings = settings();
    settings.guard = Guard::allowing(&[format!("rebind.example.com:{}", entry.address.port())]).unwrap();
    settings.names = NameResolver::Custom(Arc::new(move |_| {
        counted.fetch_add(1, Ordering::SeqCst);
        vec![this_machine()]
    }));
    let url = format!("http://rebind.example.com:{}/", entry.address.port());
    let error = get_with(settings, &url).unwrap_err();
    assert!(matches!(error, FetchError::Private { .. }), "{error}");
    assert_eq!(looks.load(Ordering::SeqCst), 2);
    assert!(entry.was_reached());
    assert!(!server.was_reached());
}

#[test]
fn the_connection_goes_to_the_address_that_was_checked() {
    let server = TestServer::saying(page_of("<p>allowed"));
    let looks = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&looks);
    let mut settings = settings();
    settings.guard = Guard::allowing(&["wiki.example.com".to_owned()]).unwrap();
    settings.names = NameResolver::Custom(Arc::new(move |_| {
        // A second lookup would return an address where nothing listens.
        let first = counted.fetch_add(1, Ordering::SeqCst) == 0;
        vec![if first { this_machine() } else { IpAddr::from([127, 0, 0, 9]) }]
    }));
    let page = get_with(settings, &format!("http://wiki.example.com:{}/", server.address.port())).unwrap();
    assert_eq!((page.text.as_str(), looks.load(Ordering::SeqCst)), ("allowed\n", 1));
    assert_eq!(
        server.requests()[0].header("host"),
        Some(format!("wiki.example.com:{}", server.address.port()).as_str())
    );
}

#[test]
fn a_name_without_address_says_so() {
    let error = get_with(naming(Vec::new()), "http://nowhere.example.com/").unwrap_err();
    assert_eq!(error, FetchError::NoSuchHost { host: "nowhere.example.com".to_owned() });
}
