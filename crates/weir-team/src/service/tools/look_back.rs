//! Looks back from the newest record of a project. Invariant: few records are in memory at once, since a record may
//! have 256 KiB; what was not looked at is named by its position.

use std::ops::ControlFlow;

use weir_core::Scope;
use weir_http::problem::Problem;
use weir_records::{PortError, Position, StoredRecord};

use crate::service::Service;

/// How many positions of the log one call looks back.
const MAX_LOOKED_BACK: u64 = 1_000;
/// How many positions are read at once. A sealed record may have 2 MiB.
const MAX_STEP: u64 = 20;

/// Hands the records before a position, or all records, to `take`: newest first, until it breaks or the call has looked
/// back far enough. Returns the position up to which nothing was taken. A record at which `take` breaks was not taken.
pub(super) fn look_back(
    service: &Service,
    scope: &Scope,
    before: Option<u64>,
    mut take: impl FnMut(StoredRecord) -> Result<ControlFlow<()>, Problem>,
) -> Result<Position, Problem> {
    let failed = |error: PortError| service.failure(&error);
    let head = service.shelf.ports().log.head(scope).map_err(failed)?.0;
    let mut end = before.map_or(head, |before| before.saturating_sub(1).min(head));
    let last = end.saturating_sub(MAX_LOOKED_BACK);
    while end > last {
        let from = end.saturating_sub(MAX_STEP).max(last);
        let limit = usize::try_from(end - from).unwrap_or(usize::MAX);
        let batch = service.shelf.read_since(scope, Position(from), limit).map_err(failed)?;
        for stored in batch.records.into_iter().rev() {
            let position = stored.position;
            if position.0 <= end && take(stored)?.is_break() {
                return Ok(position);
            }
        }
        end = from;
    }
    Ok(Position(last))
}
