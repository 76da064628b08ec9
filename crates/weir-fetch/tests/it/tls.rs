//! Tests of TLS with our own certificate authority.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::pki_types::PrivateKeyDer;
use weir_fetch::{FetchError, Guard, NameResolver, RootCertificates};

use crate::server::{answer, get_with, settings, this_machine};

/// Starts a server with a certificate signed by our authority. Returns the authority's certificate and the port.
fn serve() -> (Vec<u8>, u16) {
    let authority_key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = params.self_signed(&authority_key).unwrap();
    let issuer = Issuer::from_params(&params, &authority_key);
    let key = KeyPair::generate().unwrap();
    let certificate =
        CertificateParams::new(vec!["docs.example.com".to_owned()]).unwrap().signed_by(&key, &issuer).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], PrivateKeyDer::Pkcs8(key.serialize_der().into()))
        .unwrap();
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let config = Arc::new(config);
    std::thread::spawn(move || {
        for socket in listener.incoming() {
            let connection = rustls::ServerConnection::new(Arc::clone(&config)).unwrap();
            let mut stream = rustls::StreamOwned::new(connection, socket.unwrap());
            let mut asked = [0; 4096];
            let Ok(length) = stream.read(&mut asked) else { continue };
            let reply = if asked[..length].starts_with(b"GET /down") {
                b"HTTP/1.1 302 Found\r\nlocation: http://docs.example.com/\r\ncontent-length: 0\r\n\r\n".to_vec()
            } else {
                answer("content-type: text/plain", "over TLS")
            };
            let _ = stream.write_all(&reply);
            stream.conn.send_close_notify();
            let _ = stream.flush();
        }
    });
    (authority.der().to_vec(), port)
}

fn trusting(roots: RootCertificates) -> weir_fetch::Settings {
    weir_fetch::Settings {
        roots,
        guard: Guard::allowing(&["docs.example.com".to_owned(), "other.example.com".to_owned()]).unwrap(),
        names: NameResolver::Custom(Arc::new(|_| vec![this_machine()])),
        ..settings()
    }
}

#[test]
fn a_trusted_certificate_for_the_name_is_wanted() {
    let (authority, port) = serve();
    let url = format!("https://docs.example.com:{port}/");
    let page = get_with(trusting(RootCertificates::Custom(vec![authority.clone()])), &url).unwrap();
    assert_eq!(page.text, "over TLS");
    let error = get_with(trusting(RootCertificates::System), &url).unwrap_err();
    assert!(matches!(error, FetchError::Untrusted { .. }), "{error:?}");
    let other = format!("https://other.example.com:{port}/");
    let error = get_with(trusting(RootCertificates::Custom(vec![authority])), &other).unwrap_err();
    assert!(matches!(error, FetchError::Untrusted { .. }), "{error:?}");
}

#[test]
fn a_redirect_to_plain_http_is_refused_unless_it_is_asked_for() {
    let (authority, port) = serve();
    let url = format!("https://docs.example.com:{port}/down");
    let settings = trusting(RootCertificates::Custom(vec![authority]));
    let error = get_with(settings.clone(), &url).unwrap_err();
    assert_eq!(error, FetchError::Downgrade { url: "http://docs.example.com/".to_owned() });
    let error = get_with(weir_fetch::Settings { downgrade: true, ..settings }, &url).unwrap_err();
    assert!(matches!(error, FetchError::Unreachable { .. }), "{error:?}");
}
