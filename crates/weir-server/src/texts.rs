//! Where a team's texts are: a folder, or a bucket of a store that speaks S3. Invariant: the secret comes from the
//! environment or from a file, never from an argument, and no message repeats it.

use std::path::{Path, PathBuf};

use weir_host::env::Env;
use weir_host::error::{CommandError, ErrorKind};
use weir_team::{ObjectBlobs, S3Place};

use crate::failure::failed;

/// The region that stores other than AWS are told.
const DEFAULT_REGION: &str = "us-east-1";

pub(super) enum TextsPlace {
    Folder(PathBuf),
    S3(Box<S3Place>),
}

impl TextsPlace {
    /// Reads the value of `--texts`.
    pub(super) fn parse(env: &Env, value: &str) -> Result<Self, CommandError> {
        let Some(rest) = value.strip_prefix("s3://") else { return Ok(Self::Folder(env.folder.join(value))) };
        let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
        if bucket.is_empty() {
            return Err(CommandError::usage("--texts names no bucket").hint("use s3://BUCKET or s3://BUCKET/PREFIX"));
        }
        let settings = Settings::of(env)?;
        let [access_key, secret_key] = settings.key()?;
        Ok(Self::S3(Box::new(S3Place {
            endpoint: settings.get("AWS_ENDPOINT_URL_S3").or_else(|| settings.get("AWS_ENDPOINT_URL")),
            region: (settings.get("AWS_REGION").or_else(|| settings.get("AWS_DEFAULT_REGION")))
                .unwrap_or_else(|| DEFAULT_REGION.to_owned()),
            bucket: bucket.to_owned(),
            prefix: prefix.trim_end_matches('/').to_owned(),
            access_key,
            secret_key,
            session_token: settings.get("AWS_SESSION_TOKEN"),
        })))
    }

    /// Whether a server on another machine finds what is there, such as a copy of the index.
    pub(super) fn is_shared(&self) -> bool {
        matches!(self, Self::S3(_))
    }

    /// Opens the texts.
    pub(super) fn open(&self) -> Result<ObjectBlobs, CommandError> {
        match self {
            Self::Folder(folder) => ObjectBlobs::in_folder(folder).map_err(failed),
            Self::S3(place) => ObjectBlobs::in_s3(place).map_err(failed),
        }
    }
}

/// The variables of AWS's own tools, and what their credentials file adds.
struct Settings(Vec<(String, String)>);

impl Settings {
    fn of(env: &Env) -> Result<Self, CommandError> {
        let variables = env.beginning_with(&["AWS_"]).into_iter();
        let readable =
            variables.filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
        let mut settings = Self(readable.filter(|(_, value)| !value.is_empty()).collect());
        if let Some(file) = settings.get("AWS_SHARED_CREDENTIALS_FILE") {
            let path = env.folder.join(file);
            let text = std::fs::read_to_string(&path).map_err(|error| cannot_read(&path, &error))?;
            let profile = settings.get("AWS_PROFILE").unwrap_or_else(|| "default".to_owned());
            // Variables come first, as with AWS's own tools.
            settings.0.extend(profile_of(&text, &profile));
        }
        Ok(settings)
    }

    fn get(&self, name: &str) -> Option<String> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
    }

    fn key(&self) -> Result<[String; 2], CommandError> {
        let found = self.get("AWS_ACCESS_KEY_ID").zip(self.get("AWS_SECRET_ACCESS_KEY"));
        found.map(|(access, secret)| [access, secret]).ok_or_else(|| {
            CommandError::usage("there are no credentials for --texts s3://…").hint(
                "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_SHARED_CREDENTIALS_FILE to a file with them",
            )
        })
    }
}

/// Returns what a section of a credentials file sets, by the names of the variables.
fn profile_of(text: &str, profile: &str) -> Vec<(String, String)> {
    let mut is_wanted = false;
    let mut found = Vec::new();
    for line in text.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            is_wanted = name.trim() == profile;
        } else if let (true, Some((name, value))) = (is_wanted, line.split_once('=')) {
            found.push((name.trim().to_ascii_uppercase(), value.trim().to_owned()));
        }
    }
    found
}

fn cannot_read(path: &Path, error: &std::io::Error) -> CommandError {
    CommandError::new(ErrorKind::Failed, format!("cannot read {}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_credentials_file_gives_the_key_of_one_profile() {
        let text = "[default]\naws_access_key_id = one\naws_secret_access_key=two\n\n[other]\naws_access_key_id = x\n";
        let expected = [("AWS_ACCESS_KEY_ID", "one"), ("AWS_SECRET_ACCESS_KEY", "two")];
        assert_eq!(profile_of(text, "default"), expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
        assert_eq!(profile_of(text, "none"), []);
    }
}
