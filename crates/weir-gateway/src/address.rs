//! A server at an address, over Streamable HTTP.

use std::collections::{BTreeMap, HashMap};

use reqwest::header::{HeaderName, HeaderValue};
use rmcp::service::RoleClient;
use rmcp::transport::Transport;
use rmcp::transport::streamable_http_client::{StreamableHttpClientTransport, StreamableHttpClientTransportConfig};

use crate::failure::ServerFailure;
use crate::transport::MAX_MESSAGE_BYTES;

/// Returns the way to a server at an address. Nothing is sent yet.
pub(crate) fn transport(
    url: &str,
    headers: &BTreeMap<String, String>,
) -> Result<impl Transport<RoleClient, Error: Sync> + 'static, ServerFailure> {
    let cannot = |why: &str| ServerFailure::not_started(why, "");
    // Another part of this program may have installed it before.
    let _ = rustls::crypto::ring::default_provider().install_default();
    // A server decides where it is; a redirect could carry the headers elsewhere.
    let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build();
    let client = client.map_err(|error| cannot(&error.to_string()))?;
    let mut config = StreamableHttpClientTransportConfig::with_uri(url);
    config.max_sse_event_size = MAX_MESSAGE_BYTES;
    config.custom_headers = named(headers).ok_or_else(|| cannot("a header of its entry is not one"))?;
    Ok(StreamableHttpClientTransport::with_client(client, config))
}

fn named(headers: &BTreeMap<String, String>) -> Option<HashMap<HeaderName, HeaderValue>> {
    let header = |(name, value): (&String, &String)| {
        let mut value = HeaderValue::from_str(value).ok()?;
        value.set_sensitive(true);
        Some((HeaderName::from_bytes(name.as_bytes()).ok()?, value))
    };
    headers.iter().map(header).collect()
}
