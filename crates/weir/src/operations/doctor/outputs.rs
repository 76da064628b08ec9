//! Reports how much output was held back here. The meter has no reading of outputs that were left alone, so how many
//! passed and why (asked for, small, excluded) is not known, and the report says so.

use weir_core::wording::counted;
use weir_store::MeterAction;

use super::Check;
use crate::context::LockedStores;

/// Returns what the meter says of outputs, if it has a reading.
pub(super) fn check(open: &mut LockedStores<'_>) -> Option<Check> {
    let rows = open.project().ok()?.metered(None).ok()?;
    let held = rows.iter().map(|row| &row.reading).filter(|reading| reading.what == MeterAction::Held);
    let sums = held.fold((0, 0, 0), |(times, given, shown), reading| {
        (times + reading.times, given + reading.given, shown + reading.shown)
    });
    let (times, given, shown) = sums;
    (times > 0).then(|| {
        let outputs = counted(usize::try_from(times).unwrap_or(usize::MAX), "output", "outputs");
        let text = format!(
            "{outputs} held back: {given} tokens became {shown}; outputs left alone are not recorded, so their number \
             and the reasons are unknown"
        );
        Check::good("outputs", text)
    })
}
