//! What a sign-in gave, in a file that only its owner can read. Invariants: it counts only at the address that the user
//! signed in at; programs that share it do not renew it at the same time, since a provider may take a renewal token
//! once.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::PathBuf;

use async_trait::async_trait;
use rmcp::transport::auth::{AuthError, CredentialRefreshGuard, CredentialStore, StoredCredentials};
use serde::{Deserialize, Serialize};
use weir_host::env::Paths;
use weir_host::{trust, user_files};

const MAX_BYTES: u64 = 1 << 20;

/// The place of what a sign-in at a server gave.
#[derive(Clone)]
pub(crate) struct StoredSignIn {
    path: PathBuf,
    /// The hash of the address, which may be secret.
    address: String,
}

#[derive(Serialize, Deserialize)]
struct Content {
    address: String,
    credentials: StoredCredentials,
}

impl StoredSignIn {
    pub(crate) fn of(paths: &Paths, server: &str, url: &str) -> Self {
        let path = paths.data.join("gateway").join("sign-ins").join(format!("{server}.json"));
        Self { path, address: blake3::hash(url.as_bytes()).to_hex().to_string() }
    }

    pub(crate) fn exists(&self) -> bool {
        self.read().is_some()
    }

    /// Removes it, wherever it was made. Returns whether there was one.
    pub(crate) fn remove(&self) -> io::Result<bool> {
        match std::fs::remove_file(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            removed => removed.map(|()| true),
        }
    }

    fn read(&self) -> Option<StoredCredentials> {
        let bytes = trust::read_own_file(&self.path, MAX_BYTES).ok()?;
        let content: Content = serde_json::from_slice(&bytes).ok()?;
        (content.address == self.address).then_some(content.credentials)
    }

    fn lock_path(&self) -> PathBuf {
        self.path.with_extension("lock")
    }

    /// Waits until no other program renews it.
    fn lock(&self) -> io::Result<File> {
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(self.lock_path())?;
        file.lock()?;
        Ok(file)
    }
}

#[async_trait]
impl CredentialStore for StoredSignIn {
    async fn load(&self) -> Result<Option<StoredCredentials>, AuthError> {
        Ok(self.read())
    }

    async fn save(&self, credentials: StoredCredentials) -> Result<(), AuthError> {
        let content = Content { address: self.address.clone(), credentials };
        let text = serde_json::to_string(&content).map_err(|error| broken(&error))?;
        user_files::write(&self.path, &text, true).map_err(|error| broken(&error))
    }

    async fn clear(&self) -> Result<(), AuthError> {
        self.remove().map(drop).map_err(|error| broken(&error))
    }

    async fn on_refresh_token_rejected(&self, _: &StoredCredentials) -> Result<(), AuthError> {
        self.clear().await
    }

    async fn acquire_refresh_guard(&self) -> Result<Option<CredentialRefreshGuard>, AuthError> {
        let stored = self.clone();
        let locked = tokio::task::spawn_blocking(move || stored.lock()).await.map_err(|error| broken(&error))?;
        Ok(Some(CredentialRefreshGuard::new(locked.map_err(|error| broken(&error))?)))
    }
}

fn broken(error: &dyn std::fmt::Display) -> AuthError {
    AuthError::CredentialStoreError(error.to_string())
}
