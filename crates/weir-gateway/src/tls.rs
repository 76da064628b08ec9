//! How connections to servers at addresses are encrypted.

/// Makes rustls use ring. Another part of this program may have done so before.
pub(crate) fn use_tls() {
    let _ = rustls::crypto::ring::default_provider().install_default();
}
