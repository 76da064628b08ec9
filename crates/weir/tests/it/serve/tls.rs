//! The server over TLS, with a certificate of our own authority.

use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use super::support::{Request, Response, Server};
use crate::support::{Home, said, write};

/// A certificate for this machine in the files of a home, and the authority that signed it.
struct Signed {
    authority: CertificateDer<'static>,
    certificate: PathBuf,
    key: PathBuf,
}

impl Signed {
    fn new(home: &Home) -> Self {
        let authority_key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = params.self_signed(&authority_key).unwrap().der().clone();
        let issuer = Issuer::from_params(&params, &authority_key);
        let key = KeyPair::generate().unwrap();
        let names = vec!["localhost".to_owned(), "127.0.0.1".to_owned()];
        let certificate = CertificateParams::new(names).unwrap().signed_by(&key, &issuer).unwrap();
        let signed = Self { authority, certificate: home.at("cert.pem"), key: home.at("key.pem") };
        write(&signed.certificate, pem("CERTIFICATE", certificate.der()));
        write(&signed.key, pem("PRIVATE KEY", &key.serialize_der()));
        signed
    }

    fn options(&self) -> [&str; 4] {
        ["--tls-cert", self.certificate.to_str().unwrap(), "--tls-key", self.key.to_str().unwrap()]
    }

    /// Returns a client that trusts the authority, or nobody.
    fn client(&self, trusts: bool) -> Arc<ClientConfig> {
        let mut roots = RootCertStore::empty();
        if trusts {
            roots.add(self.authority.clone()).unwrap();
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
        Arc::new(config.with_root_certificates(roots).with_no_client_auth())
    }
}

#[test]
fn a_client_that_trusts_the_certificate_is_served() {
    let home = Home::new();
    let signed = Signed::new(&home);
    let server = Server::start_with(&home, &signed.options());
    assert!(server.url().starts_with("https://127.0.0.1:"), "{}", server.url());
    let connect = |trusts: bool| {
        let name = ServerName::try_from("localhost").unwrap();
        StreamOwned::new(ClientConnection::new(signed.client(trusts), name).unwrap(), server.connect())
    };
    let mut stream = connect(true);
    stream.write_all(&Request::get("/ready").bytes(&server.authority())).unwrap();
    assert_eq!(Response::read(&mut stream).status, 200);
    let untrusted = connect(false).write_all(b"GET /ready HTTP/1.1\r\n\r\n");
    assert!(untrusted.is_err());
    // A client that speaks no TLS gets nothing, and the others go on.
    let mut plain = server.connect();
    plain.write_all(&Request::get("/ready").bytes(&server.authority())).unwrap();
    let mut answer = Vec::new();
    let _ = std::io::Read::read_to_end(&mut plain, &mut answer);
    assert!(!String::from_utf8_lossy(&answer).contains("HTTP/1.1"));
    let mut stream = connect(true);
    stream.write_all(&Request::get("/health").bytes(&server.authority())).unwrap();
    assert_eq!(Response::read(&mut stream).status, 200);
}

#[test]
fn files_that_are_no_certificate_are_named() {
    let home = Home::new();
    let signed = Signed::new(&home);
    let missing = home.at("missing.pem").display().to_string();
    let [_, certificate, _, key] = signed.options();
    for (certificate, key, named) in
        [(missing.as_str(), key, "missing.pem"), (key, key, "key.pem"), (certificate, certificate, "cert.pem")]
    {
        let refused = home.weir(&["serve", "--tls-cert", certificate, "--tls-key", key]);
        assert_eq!(refused.status.code(), Some(5), "{}", said(&refused));
        assert!(said(&refused).contains(named), "{}", said(&refused));
    }
    let alone = home.weir(&["serve", "--tls-cert", certificate]);
    assert_eq!(alone.status.code(), Some(2), "{}", said(&alone));
}

fn pem(label: &str, bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let encode = |three: &[u8]| {
        let bits = (0..3).fold(0_u32, |bits, at| bits << 8 | u32::from(three.get(at).copied().unwrap_or(0)));
        let digit =
            |at: usize| if at <= three.len() { char::from(DIGITS[(bits >> (18 - 6 * at) & 63) as usize]) } else { '=' };
        (0..4).map(digit).collect::<String>()
    };
    let text: String = bytes.chunks(3).map(encode).collect();
    let lines: Vec<&str> = text.as_bytes().chunks(64).map(|line| std::str::from_utf8(line).unwrap()).collect();
    format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", lines.join("\n"))
}
