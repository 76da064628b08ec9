//! TLS of the server: the certificate and the key that the user names.

use std::path::Path;
use std::sync::Arc;

use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use weir_host::error::{CommandError, ErrorKind};

/// Reads a certificate with its chain and its key, both as PEM.
pub(super) fn acceptor(certificate: &Path, key: &Path) -> Result<TlsAcceptor, CommandError> {
    let chain = CertificateDer::pem_file_iter(certificate)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| unusable(certificate, "certificate", &error.to_string()))?;
    if chain.is_empty() {
        return Err(unusable(certificate, "certificate", "there is none in the file"));
    }
    let secret = PrivateKeyDer::from_pem_file(key).map_err(|error| unusable(key, "key", &error.to_string()))?;
    let provider = Arc::new(ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, secret));
    let mut config = config.map_err(|error| unusable(certificate, "certificate", &error.to_string()))?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}

fn unusable(path: &Path, what: &str, why: &str) -> CommandError {
    CommandError::new(ErrorKind::Config, format!("cannot use the {what} in {}: {why}", path.display()))
        .hint("name PEM files: the certificate with its chain in one, its private key in the other")
}
