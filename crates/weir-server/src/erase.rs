//! `weir-server erase`: removes a user of a tenant for good. Invariant: a call that was interrupted can be repeated.

use clap::ArgMatches;
use serde_json::json;
use weir_core::{TenantId, UserId};
use weir_host::answer::{Answer, counted, one_line};
use weir_host::error::{CommandError, ErrorKind};

use crate::storage::{Erased, Place};

/// Revokes the tokens of a user, removes their entries with the texts, and replaces their name in the audit.
pub(super) fn run(place: &Place, arguments: &ArgMatches) -> Result<Answer, CommandError> {
    let text = |name: &str| arguments.get_one::<String>(name).cloned().unwrap_or_default();
    let (user, tenant, confirmed) = (text("user"), text("tenant"), text("confirm"));
    let shown = one_line(&user, 80);
    if user != confirmed {
        let message = format!("erasing `{shown}` removes all of their notes from the tenant for good");
        return Err(CommandError::new(ErrorKind::Usage, message).hint("repeat the name with --confirm NAME"));
    }
    let erased = place.erase_user(&TenantId(tenant.clone()), &UserId(user.clone()))?;
    let Erased { tokens, entries, left, renamed, name } = erased;
    if tokens + entries + left + renamed == 0 {
        return Err(CommandError::new(ErrorKind::NotFound, format!("the tenant has nothing of `{shown}`"))
            .hint("--tenant names another tenant"));
    }
    let many = |count: u64, one: &str, more: &str| counted(usize::try_from(count).unwrap_or(usize::MAX), one, more);
    let mut lines = vec![format!(
        "erased `{shown}`: removed {} and {}; the audit calls them {name}",
        many(entries, "entry", "entries"),
        many(tokens, "token", "tokens"),
    )];
    if left > 0 {
        let records = many(left, "record", "records");
        lines.push(format!("{records} of what they superseded, confirmed, removed or granted still have the name"));
    }
    let data = json!({
        "user": user, "tenant": tenant, "entries": entries, "tokens": tokens, "left": left, "rows": renamed,
        "name": name,
    });
    Ok(Answer::new(lines.join("\n"), data))
}
