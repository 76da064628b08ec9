//! A server at an address, over Streamable HTTP. Invariant: nothing follows a redirect, which could carry headers
//! elsewhere.

use std::collections::{BTreeMap, HashMap};

use reqwest::header::{HeaderName, HeaderValue};
use rmcp::transport::auth::{AuthClient, AuthError, AuthorizationManager};
use rmcp::transport::streamable_http_client::{StreamableHttpClientTransport, StreamableHttpClientTransportConfig};

use crate::failure::ServerFailure;
use crate::sign_in::StoredSignIn;
use crate::tls::use_tls;
use crate::transport::MAX_MESSAGE_BYTES;

/// The way to a server at an address.
pub(crate) enum AddressTransport {
    Plain(StreamableHttpClientTransport<reqwest::Client>),
    /// With what the user's sign-in gave.
    SignedIn(StreamableHttpClientTransport<AuthClient<reqwest::Client>>),
}

impl AddressTransport {
    /// Prepares the way to a server. Nothing is sent yet, unless the user has signed in there: then the provider is
    /// asked where tokens are renewed.
    pub(crate) async fn new(
        url: &str,
        headers: &BTreeMap<String, String>,
        signed_in: Option<StoredSignIn>,
    ) -> Result<Self, ServerFailure> {
        let cannot = |why: &str| ServerFailure::not_started(why, "");
        use_tls();
        let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build();
        let client = client.map_err(|error| cannot(&error.to_string()))?;
        let mut config = StreamableHttpClientTransportConfig::with_uri(url);
        config.max_sse_event_size = MAX_MESSAGE_BYTES;
        config.custom_headers = named(headers).ok_or_else(|| cannot("a header of its entry is not one"))?;
        let manager = match signed_in {
            Some(stored) => manager(url, stored).await.map_err(|error| cannot(&error.to_string()))?,
            None => None,
        };
        Ok(match manager {
            Some(manager) => {
                Self::SignedIn(StreamableHttpClientTransport::with_client(AuthClient::new(client, manager), config))
            }
            None => Self::Plain(StreamableHttpClientTransport::with_client(client, config)),
        })
    }
}

/// Returns what renews the tokens of a sign-in, if that still counts.
async fn manager(url: &str, stored: StoredSignIn) -> Result<Option<AuthorizationManager>, AuthError> {
    let mut manager = AuthorizationManager::new(url).await?;
    manager.set_credential_store(stored);
    let is_ready = manager.initialize_from_store().await?;
    Ok(is_ready.then_some(manager))
}

fn named(headers: &BTreeMap<String, String>) -> Option<HashMap<HeaderName, HeaderValue>> {
    let header = |(name, value): (&String, &String)| {
        let mut value = HeaderValue::from_str(value).ok()?;
        value.set_sensitive(true);
        Some((HeaderName::from_bytes(name.as_bytes()).ok()?, value))
    };
    headers.iter().map(header).collect()
}
