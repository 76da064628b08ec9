//! Where texts can be: a folder, or a bucket of a store that speaks S3.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use object_store::ObjectStore;
use object_store::local::LocalFileSystem;
use weir_ledger::private;
use weir_records::Result;

use super::error::{from_store, from_system};

const OPEN: &str = "open the store of the texts";

/// A bucket of a store that speaks S3.
#[derive(Clone)]
pub struct S3Place {
    /// The address, such as `https://objects.example.com`; none for AWS itself. `http` is for loopback and private
    /// networks.
    pub endpoint: Option<String>,
    /// The region, such as `eu-central-1`. Other stores than AWS take any.
    pub region: String,
    /// The bucket, which must exist.
    pub bucket: String,
    /// What the keys of all texts begin with; may be empty.
    pub prefix: String,
    /// The name of the access key.
    pub access_key: String,
    /// Its secret.
    pub secret_key: String,
    /// The token that goes with a key for a limited time.
    pub session_token: Option<String>,
}

impl fmt::Debug for S3Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Without the key.
        let Self { endpoint, region, bucket, prefix, .. } = self;
        write!(f, "S3Place {{ {endpoint:?}, {region}, {bucket}, {prefix} }}")
    }
}

/// Opens a folder, which is created if it does not exist. What is written to it survives a power cut.
pub(super) fn open_folder(folder: &Path) -> Result<Arc<dyn ObjectStore>> {
    private::folder(folder).map_err(|error| from_system(&error, OPEN))?;
    let files = LocalFileSystem::new_with_prefix(folder).map_err(|error| from_store(&error, OPEN))?;
    Ok(Arc::new(files.with_fsync(true)))
}

/// Opens a bucket. Nothing is sent yet.
pub(super) fn open_s3(place: &S3Place) -> Result<Arc<dyn ObjectStore>> {
    use std::time::Duration;

    use object_store::RetryConfig;
    use object_store::aws::AmazonS3Builder;
    use object_store::prefix::PrefixStore;

    /// How long a call tries again if the store does not answer. Somebody waits for it.
    const PATIENCE: Duration = Duration::from_secs(20);

    // The HTTP client takes the provider of the process. If there is one already, it stays.
    drop(rustls::crypto::ring::default_provider().install_default());
    let retry = RetryConfig { retry_timeout: PATIENCE, ..RetryConfig::default() };
    let mut builder = AmazonS3Builder::new()
        .with_region(&place.region)
        .with_bucket_name(&place.bucket)
        .with_access_key_id(&place.access_key)
        .with_secret_access_key(&place.secret_key)
        .with_retry(retry);
    if let Some(token) = &place.session_token {
        builder = builder.with_token(token);
    }
    if let Some(endpoint) = &place.endpoint {
        builder = builder.with_endpoint(endpoint).with_allow_http(endpoint.starts_with("http://"));
    }
    let bucket = builder.build().map_err(|error| from_store(&error, OPEN))?;
    Ok(Arc::new(PrefixStore::new(bucket, place.prefix.as_str())))
}
