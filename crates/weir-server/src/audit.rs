//! `weir-server audit`: deletes old rows of the audit. Invariant: a call that was interrupted can be repeated.

use clap::ArgMatches;
use serde_json::json;
use weir_core::Timestamp;
use weir_host::answer::{Answer, counted};
use weir_host::error::CommandError;
use weir_host::when;
use weir_http::options::parse_life;

use crate::storage::Place;

/// Deletes the rows that are older than what is to be kept.
pub(super) fn run(place: &Place, arguments: &ArgMatches) -> Result<Answer, CommandError> {
    let keep = arguments.get_one::<String>("keep").map(String::as_str).unwrap_or_default();
    let millis = i64::try_from(parse_life(keep)?.as_millis()).unwrap_or(i64::MAX);
    let before = Timestamp(when::now().0.saturating_sub(millis));
    let deleted = place.expire_audit(before)?;
    let rows = counted(usize::try_from(deleted).unwrap_or(usize::MAX), "row", "rows");
    let text = format!("deleted {rows} of the audit from before {}", when::show(before));
    Ok(Answer::new(text, json!({ "deleted": deleted, "before": when::show(before) })))
}
