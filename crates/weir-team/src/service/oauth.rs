//! The server as an OAuth 2.1 resource server: its metadata (RFC 9728), and access tokens that an issuer has signed.
//!
//! Invariants: keys come from a file and never from the network or from a token; a token is good only for this issuer,
//! this resource and an algorithm with a public key; the tenant must exist already, so no claim can create one.

use jsonwebtoken::crypto::{CryptoProvider, JwtSigner, JwtVerifier, KeyUtils};
use jsonwebtoken::errors::{ErrorKind as JwtErrorKind, Result as JwtResult};
use jsonwebtoken::jwk::{AlgorithmParameters, EllipticCurve, Jwk, JwkSet, KeyAlgorithm, PublicKeyUse};
use jsonwebtoken::signature::{Error as SignatureError, Verifier};
use jsonwebtoken::{Algorithm, DecodingKey, DecodingKeyKind, EncodingKey, Validation, decode, decode_header};
use ring::signature as crypto;
use serde::Deserialize;
use serde_json::{Value, json};
use weir_core::{ProjectKey, TenantId, Timestamp, UserId};
use weir_records::{ApiToken, ErrorKind, PortError, Result, TokenId, TokenScope, is_name};

/// Where the metadata of a resource without a path is.
const METADATA_PATH: &str = "/.well-known/oauth-protected-resource";
/// How far the clock of the issuer may be from that of the server, in milliseconds.
const MAX_SKEW_MILLIS: i64 = 60_000;
/// The longest access token, in bytes.
const MAX_TOKEN_BYTES: usize = 16 << 10;

/// The checks of signatures, with the cryptography that TLS uses here as well.
static PROVIDER: CryptoProvider =
    CryptoProvider { signer_factory: no_signer, verifier_factory: verifier, key_utils: KeyUtils::new_unimplemented() };

/// What the server knows of the issuer of access tokens.
pub struct ResourceServer {
    issuer: String,
    resource: String,
    metadata_url: String,
    metadata_path: String,
    keys: Vec<VerifyingKey>,
}

/// A key of the issuer, and the one algorithm that it is used with.
struct VerifyingKey {
    id: Option<String>,
    algorithm: Algorithm,
    key: DecodingKey,
}

/// The claims that matter here.
#[derive(Deserialize)]
struct Claims {
    iss: String,
    sub: String,
    exp: i64,
    nbf: Option<i64>,
    jti: Option<String>,
    #[serde(default)]
    scope: String,
    weir_tenant: String,
    #[serde(default, deserialize_with = "listed")]
    weir_projects: Option<Vec<String>>,
}

impl ResourceServer {
    /// Creates what checks the tokens of an issuer for a resource, with the keys of a JSON Web Key Set.
    pub fn new(issuer: &str, resource: &str, keys: &str) -> Result<Self> {
        let refused = |reason: String| PortError::new(ErrorKind::Invalid, "use OAuth").because(reason);
        let (origin, path) = parts(resource).ok_or_else(|| {
            refused(format!("`{resource}` is not the address of a resource, such as https://weir.example.com/mcp"))
        })?;
        let set: JwkSet =
            serde_json::from_str(keys).map_err(|error| refused(format!("cannot read the set of keys: {error}")))?;
        let keys: Vec<VerifyingKey> = set.keys.iter().filter_map(VerifyingKey::of).collect();
        if keys.is_empty() {
            return Err(refused("the set has no key for RS256, PS256, ES256, ES384 or EdDSA".to_owned()));
        }
        // Only the first call of a process installs it, and it is always the same.
        let _ = PROVIDER.install_default();
        let metadata_path = format!("{METADATA_PATH}{path}");
        Ok(Self {
            issuer: issuer.to_owned(),
            resource: resource.to_owned(),
            metadata_url: format!("{origin}{metadata_path}"),
            metadata_path,
            keys,
        })
    }

    /// Returns the paths of the metadata.
    pub(super) fn paths(&self) -> Vec<&str> {
        let mut paths = vec![METADATA_PATH, self.metadata_path.as_str()];
        paths.dedup();
        paths
    }

    /// Returns where the metadata is, for a client that was refused.
    pub(super) fn metadata_url(&self) -> &str {
        &self.metadata_url
    }

    /// Returns the metadata.
    pub(super) fn metadata(&self) -> Value {
        json!({
            "resource": self.resource,
            "authorization_servers": [self.issuer],
            "scopes_supported": ["weir:read", "weir:write", "weir:admin"],
            "bearer_methods_supported": ["header"],
            "resource_name": "Weir team server",
        })
    }

    /// Returns what an access token is good for, or why it is not. A token without a scope of Weir has none.
    pub(super) fn verify(&self, token: &str, now: Timestamp) -> Result<ApiToken, &'static str> {
        const UNKNOWN: &str = "the token is not known";
        if token.len() > MAX_TOKEN_BYTES {
            return Err(UNKNOWN);
        }
        let header = decode_header(token).map_err(|_| UNKNOWN)?;
        // Nothing is known here that a token could declare to be critical (RFC 7515, 4.1.11).
        if header.crit.is_some() {
            return Err(UNKNOWN);
        }
        // Keys for several algorithms may share an id.
        let mut keys = self.keys.iter().filter(|key| key.algorithm == header.alg);
        let named = keys.find(|key| header.kid.is_some() && key.id == header.kid);
        let only = self.keys.first().filter(|_| header.kid.is_none() && self.keys.len() == 1);
        let key = named.or(only).filter(|key| key.algorithm == header.alg).ok_or(UNKNOWN)?;
        let mut validation = Validation::new(key.algorithm);
        validation.set_issuer(&[&self.issuer]);
        validation.set_audience(&[&self.resource]);
        validation.set_required_spec_claims(&["exp", "iss", "aud", "sub"]);
        // The clock is that of the service, below.
        validation.validate_exp = false;
        let claims = decode::<Claims>(token, &key.key, &validation).map_err(|_| UNKNOWN)?.claims;
        let ends = claims.exp.saturating_mul(1_000);
        let begins = claims.nbf.unwrap_or(i64::MIN).saturating_mul(1_000);
        if ends <= now.0.saturating_sub(MAX_SKEW_MILLIS) {
            return Err("the token has expired");
        }
        if begins > now.0.saturating_add(MAX_SKEW_MILLIS) || claims.iss != self.issuer {
            return Err(UNKNOWN);
        }
        account(claims, ends).ok_or("the token names no tenant, no user or no scope that can be used")
    }
}

impl VerifyingKey {
    /// Returns a key for signatures with an algorithm that is allowed.
    fn of(jwk: &Jwk) -> Option<Self> {
        if matches!(jwk.common.public_key_use, Some(PublicKeyUse::Encryption)) {
            return None;
        }
        let algorithm = match (&jwk.algorithm, jwk.common.key_algorithm) {
            (AlgorithmParameters::RSA(_), Some(KeyAlgorithm::RS256) | None) => Algorithm::RS256,
            (AlgorithmParameters::RSA(_), Some(KeyAlgorithm::PS256)) => Algorithm::PS256,
            (AlgorithmParameters::EllipticCurve(key), Some(KeyAlgorithm::ES256) | None)
                if key.curve == EllipticCurve::P256 =>
            {
                Algorithm::ES256
            }
            (AlgorithmParameters::EllipticCurve(key), Some(KeyAlgorithm::ES384) | None)
                if key.curve == EllipticCurve::P384 =>
            {
                Algorithm::ES384
            }
            (AlgorithmParameters::OctetKeyPair(key), Some(KeyAlgorithm::EdDSA) | None)
                if key.curve == EllipticCurve::Ed25519 =>
            {
                Algorithm::EdDSA
            }
            _ => return None,
        };
        Some(Self { id: jwk.common.key_id.clone(), algorithm, key: DecodingKey::from_jwk(jwk).ok()? })
    }
}

/// Reads a list that is there. Without the claim a token is good for all projects, so null must not be the same.
fn listed<'de, D: serde::Deserializer<'de>>(from: D) -> std::result::Result<Option<Vec<String>>, D::Error> {
    Vec::deserialize(from).map(Some)
}

/// Returns the claims in the form of a stored token. Its id, for limits and the audit, stands for issuer, user and
/// token.
fn account(claims: Claims, ends: i64) -> Option<ApiToken> {
    let scope = TokenScope::ALL.iter().copied().rev();
    let mut granted = scope.filter(|scope| claims.scope.split(' ').any(|word| word == format!("weir:{scope}")));
    let scope = granted.next()?;
    if !is_name(&claims.sub) || !is_name(&claims.weir_tenant) {
        return None;
    }
    let identity = [claims.iss.as_str(), claims.sub.as_str(), claims.jti.as_deref().unwrap_or_default()].join("\n");
    let hash = blake3::hash(identity.as_bytes());
    let id: String = hash.to_hex().chars().take(16).collect();
    Some(ApiToken {
        id: TokenId::parse(&id)?,
        hash,
        tenant: TenantId(claims.weir_tenant),
        user: UserId(claims.sub),
        scope,
        projects: claims.weir_projects.map(|keys| keys.into_iter().map(ProjectKey).collect()),
        created_at: Timestamp(0),
        expires_at: Some(Timestamp(ends)),
        revoked_at: None,
    })
}

/// Splits the address of a resource into its origin and its path. It has neither a query nor a fragment.
fn parts(resource: &str) -> Option<(&str, &str)> {
    let rest = resource.strip_prefix("https://").or_else(|| resource.strip_prefix("http://"))?;
    let start = resource.len() - rest.len();
    let end = rest.find('/').map_or(resource.len(), |at| start + at);
    let (origin, path) = (resource.get(..end)?, resource.get(end..)?);
    let plain = |c: char| c.is_ascii_alphanumeric() || "-._~/:[]".contains(c);
    let is_plain = end > start && resource.chars().all(plain);
    is_plain.then_some((origin, path.trim_end_matches('/')))
}

/// Checks signatures with ring.
struct RingVerifier {
    algorithm: Algorithm,
    key: DecodingKey,
}

impl Verifier<Vec<u8>> for RingVerifier {
    fn verify(&self, message: &[u8], signature: &Vec<u8>) -> std::result::Result<(), SignatureError> {
        let checked = match (self.algorithm, self.key.kind()) {
            (Algorithm::RS256, DecodingKeyKind::RsaModulusExponent { n, e }) => {
                let key = crypto::RsaPublicKeyComponents { n: n.as_slice(), e: e.as_slice() };
                key.verify(&crypto::RSA_PKCS1_2048_8192_SHA256, message, signature)
            }
            (Algorithm::PS256, DecodingKeyKind::RsaModulusExponent { n, e }) => {
                let key = crypto::RsaPublicKeyComponents { n: n.as_slice(), e: e.as_slice() };
                key.verify(&crypto::RSA_PSS_2048_8192_SHA256, message, signature)
            }
            (Algorithm::ES256, DecodingKeyKind::SecretOrDer(key)) => {
                crypto::UnparsedPublicKey::new(&crypto::ECDSA_P256_SHA256_FIXED, key).verify(message, signature)
            }
            (Algorithm::ES384, DecodingKeyKind::SecretOrDer(key)) => {
                crypto::UnparsedPublicKey::new(&crypto::ECDSA_P384_SHA384_FIXED, key).verify(message, signature)
            }
            (Algorithm::EdDSA, DecodingKeyKind::SecretOrDer(key)) => {
                crypto::UnparsedPublicKey::new(&crypto::ED25519, key).verify(message, signature)
            }
            _ => return Err(SignatureError::new()),
        };
        checked.map_err(|_| SignatureError::new())
    }
}

impl JwtVerifier for RingVerifier {
    fn algorithm(&self) -> Algorithm {
        self.algorithm
    }
}

fn verifier(algorithm: &Algorithm, key: &DecodingKey) -> JwtResult<Box<dyn JwtVerifier>> {
    if algorithm.family() != key.family() {
        return Err(JwtErrorKind::InvalidKeyFormat.into());
    }
    Ok(Box::new(RingVerifier { algorithm: *algorithm, key: key.clone() }))
}

/// A server signs nothing.
fn no_signer(_: &Algorithm, _: &EncodingKey) -> JwtResult<Box<dyn JwtSigner>> {
    Err(JwtErrorKind::UnsupportedAlgorithm.into())
}
