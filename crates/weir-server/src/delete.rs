//! `weir-server delete`: removes a tenant for good. Invariant: a call that was interrupted can be repeated.

use clap::ArgMatches;
use serde_json::json;
use weir_core::TenantId;
use weir_host::answer::{Answer, counted, one_line};
use weir_host::error::{CommandError, ErrorKind};

use crate::storage::Place;

/// Removes a tenant: tokens first, then texts, index and records. Rows of the audit stay.
pub(super) fn run(place: &Place, arguments: &ArgMatches) -> Result<Answer, CommandError> {
    let name = arguments.get_one::<String>("name").map(String::as_str).unwrap_or_default();
    let confirmed = arguments.get_one::<String>("confirm").map(String::as_str).unwrap_or_default();
    let shown = one_line(name, 80);
    if name != confirmed {
        let message = format!("deleting the tenant `{shown}` removes all of its records, texts and tokens for good");
        return Err(CommandError::new(ErrorKind::Usage, message).hint("repeat the name with --confirm NAME"));
    }
    let tenant = TenantId(name.to_owned());
    let deleted = place.delete_tenant(&tenant)?;
    if !deleted.existed {
        return Err(CommandError::new(ErrorKind::NotFound, format!("there is no tenant `{shown}`")));
    }
    let records = counted(usize::try_from(deleted.records).unwrap_or(usize::MAX), "record", "records");
    let tokens = counted(usize::try_from(deleted.tokens).unwrap_or(usize::MAX), "token", "tokens");
    let mut text = format!("deleted the tenant `{shown}`: {records} and {tokens}, with all texts; the audit stays");
    if !deleted.from_index {
        text.push_str(
            "\nindexes still have its words: stop each server and repeat this with its --data, or delete `index`",
        );
    }
    Ok(Answer::new(text, json!({ "tenant": name, "records": deleted.records, "tokens": deleted.tokens })))
}
