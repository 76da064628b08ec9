//! The proxy in front of an API with TLS.

use std::io::{BufReader, Write as _};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::mpsc::channel;

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use tokio_rustls::rustls::pki_types::PrivateKeyDer;
use tokio_rustls::rustls::{ServerConfig, ServerConnection, StreamOwned, crypto};

use super::harness::{Asked, Proxy};
use super::parsed;
use crate::support::{Home, TIMEOUT};

/// Returns an authority's certificate as PEM, and the configuration of a server on this machine that it vouches for.
fn authority() -> (String, ServerConfig) {
    let authority_key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = params.self_signed(&authority_key).unwrap();
    let issuer = Issuer::from_params(&params, &authority_key);
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    let certificate = params.signed_by(&key, &issuer).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], PrivateKeyDer::Pkcs8(key.serialize_der().into()))
        .unwrap();
    (pem(authority.der()), config)
}

fn pem(der: &[u8]) -> String {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for three in der.chunks(3) {
        let bits = three.iter().fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - three.len()));
        for at in 0..4 {
            let letter = char::from(LETTERS[(bits >> (18 - 6 * at)) as usize & 63]);
            text.push(if at > three.len() { '=' } else { letter });
        }
    }
    let lines: Vec<&str> = text.as_bytes().chunks(64).map(|line| std::str::from_utf8(line).unwrap()).collect();
    format!("-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n", lines.join("\n"))
}

#[test]
fn an_api_with_tls_is_reached_if_its_certificate_is_trusted() {
    let (home, (authority, config)) = (Home::new(), authority());
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let url = format!("https://localhost:{}", listener.local_addr().unwrap().port());
    let (sender, asked) = channel();
    let config = Arc::new(config);
    std::thread::spawn(move || {
        for socket in listener.incoming() {
            let connection = ServerConnection::new(Arc::clone(&config)).unwrap();
            let mut stream = StreamOwned::new(connection, socket.unwrap());
            let Some(one) = Asked::read(&mut BufReader::new(&mut stream)) else { continue };
            sender.send(one).unwrap();
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 8\r\nconnection: close\r\n\r\nover TLS");
            stream.conn.send_close_notify();
            let _ = stream.flush();
        }
    });
    home.write("authority.pem", authority);
    let mut command = Proxy::command(&home, &url);
    command.env("SSL_CERT_FILE", home.project().join("authority.pem"));
    let proxy = Proxy::spawn(command);
    let answered = proxy.post("/v1/messages", b"{\"messages\":[]}");
    assert_eq!((answered.status, answered.body.as_slice()), (200, b"over TLS".as_slice()), "{answered:?}");
    assert_eq!(asked.recv_timeout(TIMEOUT).unwrap().body, b"{\"messages\":[]}");

    // Another authority does not vouch for it.
    let (other, _) = self::authority();
    home.write("other.pem", other);
    let mut command = Proxy::command(&home, &url);
    command.env("SSL_CERT_FILE", home.project().join("other.pem"));
    let answered = Proxy::spawn(command).post("/v1/messages", b"{\"messages\":[]}");
    assert_eq!(answered.status, 502, "{answered:?}");
    assert!(parsed(&answered)["detail"].as_str().unwrap().contains("certificate"), "{answered:?}");
}
