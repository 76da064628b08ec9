//! The configuration file: parsed once, into values that cannot be wrong.

use std::path::Path;

use serde::Deserialize;
use weir_core::Limits;

use crate::error::{CommandError, ErrorKind};

/// The file as written.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct RawConfig {
    retention: RawRetention,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct RawRetention {
    run_days: Option<u32>,
    page_days: Option<u32>,
    quota_mb: Option<u64>,
}

/// Reads the limits from the configuration file; a missing file means the defaults.
pub(crate) fn read_limits(path: &Path) -> Result<Limits, CommandError> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Limits::default()),
        Err(error) => return Err(unusable(path, &error.to_string())),
    };
    let raw: RawConfig = toml::from_str(&text).map_err(|error| unusable(path, error.to_string().trim_end()))?;
    let default = Limits::default();
    Ok(Limits {
        run_days: raw.retention.run_days.unwrap_or(default.run_days),
        page_days: raw.retention.page_days.unwrap_or(default.page_days),
        quota_bytes: raw.retention.quota_mb.map_or(default.quota_bytes, |mb| mb.saturating_mul(1 << 20)),
    })
}

fn unusable(path: &Path, detail: &str) -> CommandError {
    CommandError::new(ErrorKind::Config, format!("cannot use {}: {detail}", path.display()))
        .hint("it may hold [retention] with run_days, page_days and quota_mb; remove it for the defaults")
}
