//! An embedding model behind an HTTP API like OpenAI's. The user configured its address, so the guard does not apply:
//! most of them run on this machine.
//!
//! Invariants: an answer that does not match the request is an error, never a vector of another text; no message has
//! the key, or credentials and a query of the address.

use std::io::Read;
use std::sync::OnceLock;
use std::time::Duration;

use serde::Deserialize;
use serde_json::json;
use ureq::Agent as Connections; // tidy: allow(agent)
use ureq::Proxy;
use ureq::http::Response;
use url::Url;
use weir_embed::{Embed, EmbedError};

use crate::transport::{RootCertificates, tls_of};
use crate::{Proxies, proxy, text};

/// The maximum length of an answer, in bytes: a thousand vectors of 4,096 numbers, written out.
const MAX_ANSWER_BYTES: u64 = 100 << 20;

/// The address of a model and how to use it.
#[derive(Clone, Default)]
pub struct Endpoint {
    /// The URL, such as `http://localhost:11434/v1`, with or without `/embeddings` at its end.
    pub url: String,
    pub model: String,
    /// The API key, if the server requires one.
    pub key: Option<String>,
    /// The number of dimensions of a vector. If missing, one request to the model finds it out.
    pub width: Option<usize>,
    pub batch: usize,
    pub timeout: Duration,
    pub proxies: Proxies,
    pub roots: RootCertificates,
}

impl std::fmt::Debug for Endpoint {
    /// Formats the endpoint without its key and its address, which may have one too.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Endpoint").field("model", &self.model).finish_non_exhaustive()
    }
}

/// Returns the address of a model as it may be shown: without credentials and without a query.
pub fn shown_address(address: &str) -> String {
    let url = Url::parse(address.trim());
    url.map_or_else(|_| "not a valid URL".to_owned(), |url| text::without_secrets(&url))
}

/// A model behind an endpoint.
pub struct Remote {
    endpoint: Endpoint,
    url: Url,
    /// The URL in messages.
    shown: String,
    name: String,
    connections: Connections,
    width: OnceLock<usize>,
}

#[derive(Deserialize)]
struct Answer {
    data: Vec<Vector>,
}

#[derive(Deserialize)]
struct Vector {
    index: Option<usize>,
    embedding: Vec<f32>,
}

#[derive(Deserialize)]
struct Refusal {
    error: serde_json::Value,
}

impl std::fmt::Debug for Remote {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Remote").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Remote {
    /// Creates the model. Requests one vector if the width is not given.
    pub fn connect(endpoint: Endpoint) -> Result<Self, EmbedError> {
        let unusable = |why: String| EmbedError::Unusable(why);
        // The text is not repeated, since it may have credentials.
        let mut url = Url::parse(endpoint.url.trim())
            .map_err(|error| unusable(format!("the endpoint is not a valid URL: {error}")))?;
        if !matches!(url.scheme(), "http" | "https") || url.host().is_none() {
            let shown = text::one_line(&text::without_secrets(&url), 200);
            return Err(unusable(format!("`{shown}` is not an http URL")));
        }
        if !url.path().trim_end_matches('/').ends_with("/embeddings") {
            let path = format!("{}/embeddings", url.path().trim_end_matches('/'));
            url.set_path(&path);
        }
        let proxy = match endpoint.proxies.of(&url) {
            None => None,
            Some(proxy) => Some(
                Proxy::new(&proxy::address(proxy)).map_err(|_| unusable("cannot parse the proxy's URL".to_owned()))?,
            ),
        };
        let config = Connections::config_builder()
            .tls_config(tls_of(&endpoint.roots))
            .proxy(proxy)
            .http_status_as_error(false)
            // The key is sent only to the configured server.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .timeout_global(Some(endpoint.timeout))
            .user_agent(concat!("weir/", env!("CARGO_PKG_VERSION"))) // tidy: allow(agent)
            .build();
        let name = format!("{}@{}", endpoint.model, url.host_str().unwrap_or_default());
        let (shown, connections) = (text::without_secrets(&url), Connections::new_with_config(config));
        let remote = Self { url, shown, name, connections, width: OnceLock::new(), endpoint };
        match remote.endpoint.width {
            Some(width) => drop(remote.width.set(width)),
            None => drop(remote.ask(&["width"])?),
        }
        Ok(remote)
    }

    /// Returns the vectors of a few texts, in the order of the texts.
    fn ask(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let unanswered = |why: String| EmbedError::Unanswered(format!("{}: {why}", self.shown));
        let body = json!({ "model": self.endpoint.model, "input": texts, "encoding_format": "float" }).to_string();
        let mut request = self.connections.post(self.url.as_str()).header("content-type", "application/json");
        if let Some(key) = &self.endpoint.key {
            request = request.header("authorization", format!("Bearer {key}"));
        }
        let response = request.send(body).map_err(|error| unanswered(error.to_string()))?;
        let status = response.status().as_u16();
        let answer = read(response).map_err(|error| unanswered(error.to_string()))?;
        if status != 200 {
            let why = format!("{} answered {status}: {}", self.shown, refusal(&answer));
            // An error in the request is permanent.
            let lasts = matches!(status, 300..=399 | 400 | 401 | 403 | 404 | 405 | 422);
            return Err(if lasts { EmbedError::Unusable(why) } else { EmbedError::Unanswered(why) });
        }
        let answer: Answer = serde_json::from_slice(&answer).map_err(|error| {
            EmbedError::Unusable(format!("{} did not answer in the OpenAI format: {error}", self.shown))
        })?;
        self.in_order(answer, texts.len())
    }

    fn in_order(&self, answer: Answer, asked: usize) -> Result<Vec<Vec<f32>>, EmbedError> {
        let wrong = |why: String| EmbedError::Unusable(format!("{}: {why}", self.shown));
        if answer.data.len() != asked {
            return Err(wrong(format!("{} vectors for {asked} texts", answer.data.len())));
        }
        let mut vectors = vec![Vec::new(); asked];
        for (place, vector) in answer.data.into_iter().enumerate() {
            let width = *self.width.get_or_init(|| vector.embedding.len());
            if vector.embedding.len() != width || width == 0 {
                return Err(wrong(format!("a vector of {} numbers, not {width}", vector.embedding.len())));
            }
            let slot = vectors.get_mut(vector.index.unwrap_or(place)).filter(|slot| slot.is_empty());
            *slot.ok_or_else(|| wrong("two vectors for one text".to_owned()))? = vector.embedding;
        }
        Ok(vectors)
    }
}

impl Embed for Remote {
    fn name(&self) -> &str {
        &self.name
    }

    fn width(&self) -> usize {
        self.width.get().copied().unwrap_or_default()
    }

    fn is_quick(&self) -> bool {
        false
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Option<Vec<f32>>>, EmbedError> {
        // Servers refuse a text without words, and it has no meaning to search for.
        let known: Vec<&str> = texts.iter().filter(|text| !text.trim().is_empty()).copied().collect();
        let mut vectors = Vec::with_capacity(known.len());
        for batch in known.chunks(self.endpoint.batch.max(1)) {
            vectors.extend(self.ask(batch)?);
        }
        let mut vectors = vectors.into_iter();
        Ok(texts.iter().map(|text| if text.trim().is_empty() { None } else { vectors.next().and_then(unit) }).collect())
    }
}

/// Scales a vector to length 1. Returns `None` if it has no direction.
fn unit(mut vector: Vec<f32>) -> Option<Vec<f32>> {
    let length = vector.iter().map(|number| f64::from(*number) * f64::from(*number)).sum::<f64>().sqrt();
    if !length.is_normal() {
        return None;
    }
    vector.iter_mut().for_each(|number| *number = (f64::from(*number) / length) as f32);
    Some(vector)
}

fn read(response: Response<ureq::Body>) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    response.into_body().into_reader().take(MAX_ANSWER_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Returns a server's error message: `{"error": {"message": …}}`, `{"error": …}`, or the text of the answer.
fn refusal(answer: &[u8]) -> String {
    let said = serde_json::from_slice::<Refusal>(answer).ok().and_then(|refusal| match refusal.error {
        serde_json::Value::String(text) => Some(text),
        other => other.get("message").and_then(|message| message.as_str()).map(ToOwned::to_owned),
    });
    text::one_line(&said.unwrap_or_else(|| String::from_utf8_lossy(answer).into_owned()), 200)
}
