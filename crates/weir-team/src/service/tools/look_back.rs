//! Looks back from the newest record of a project. Invariant: few records are in memory at once, since a record may
//! have 256 KiB; what was not looked at is named by its position.

use std::ops::ControlFlow;

use weir_core::Scope;
use weir_http::problem::Problem;
use weir_records::{PortError, Position, StoredRecord};

use crate::service::Service;

/// How many positions of the log one call looks back.
const MAX_LOOKED_BACK: u64 = 1_000;
/// How many positions are read at once, unless their records are too large for that.
const MAX_STEP: u64 = 200;

/// Hands the records before a position, or all records, to `take`: the newest of each part first, until it breaks at a
/// position or the call has looked back far enough. Returns the position up to which nothing was taken, which is the one
/// where `take` breaks.
pub(super) fn look_back(
    service: &Service,
    scope: &Scope,
    before: Option<u64>,
    mut take: impl FnMut(Vec<StoredRecord>) -> Result<ControlFlow<Position>, Problem>,
) -> Result<Position, Problem> {
    let failed = |error: PortError| service.failure(&error);
    let head = service.shelf.ports().log.head(scope).map_err(failed)?.0;
    let mut end = before.map_or(head, |before| before.saturating_sub(1).min(head));
    let (last, mut step) = (end.saturating_sub(MAX_LOOKED_BACK), MAX_STEP);
    while end > last {
        let from = end.saturating_sub(step).max(last);
        let limit = usize::try_from(end - from).unwrap_or(usize::MAX);
        let mut batch = service.shelf.read_since(scope, Position(from), limit).map_err(failed)?;
        // Fewer are read if they are large.
        if batch.next < Position(end) && step > 1 {
            step = (step / 4).max(1);
            continue;
        }
        batch.records.retain(|stored| stored.position <= Position(end));
        batch.records.reverse();
        if let ControlFlow::Break(position) = take(batch.records)? {
            return Ok(position);
        }
        end = from;
    }
    Ok(Position(last))
}
