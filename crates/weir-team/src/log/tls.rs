//! TLS to the database, by rustls with ring.

use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};
use tokio_postgres_rustls::MakeRustlsConnect;
use weir_records::{ErrorKind, PortError, Result};

use super::options::PostgresOptions;

const DOING: &str = "set up TLS to the database";

/// Returns what encrypts the connections of these options. Certificates are read only if there is something to encrypt.
pub(super) fn connector(options: &PostgresOptions) -> Result<MakeRustlsConnect> {
    let roots = if options.uses_tls() { roots(options.authorities.as_deref())? } else { RootCertStore::empty() };
    let config = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| PortError::new(ErrorKind::Unavailable, DOING).because(error))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(MakeRustlsConnect::new(config))
}

fn roots(authorities: Option<&[u8]>) -> Result<RootCertStore> {
    let mut roots = RootCertStore::empty();
    let Some(pem) = authorities else {
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        if roots.is_empty() {
            let error = PortError::new(ErrorKind::Unavailable, DOING);
            return Err(error.because("this machine trusts no certificates, and none were given"));
        }
        return Ok(roots);
    };
    let invalid = |reason: String| PortError::new(ErrorKind::Invalid, "read the trusted certificates").because(reason);
    for certificate in CertificateDer::pem_slice_iter(pem) {
        let certificate = certificate.map_err(|error| invalid(error.to_string()))?;
        roots.add(certificate).map_err(|error| invalid(error.to_string()))?;
    }
    if roots.is_empty() { Err(invalid("there are none".into())) } else { Ok(roots) }
}
