//! Reports how much output was held back here, and why the rest was left alone.

use weir_core::wording::counted;
use weir_store::MeterAction;

use super::Check;
use crate::context::LockedStores;
use crate::outputs::SeenOutputs;

/// Returns what the meter and the hooks say of outputs, if there were any.
pub(super) fn check(open: &mut LockedStores<'_>) -> Option<Check> {
    let store = open.project().ok()?;
    let (rows, seen) = (store.metered(None).ok()?, store.outcomes(None).ok()?);
    let held = rows.iter().map(|row| &row.reading).filter(|reading| reading.what == MeterAction::Held);
    let sums = held.fold((0, 0, 0), |(times, given, shown), reading| {
        (times + reading.times, given + reading.given, shown + reading.shown)
    });
    let (times, given, shown) = sums;
    let held_back = (times > 0).then(|| {
        let outputs = counted(usize::try_from(times).unwrap_or(usize::MAX), "output", "outputs");
        format!("{outputs} held back: {given} tokens became {shown}")
    });
    let parts: Vec<String> = held_back.into_iter().chain(SeenOutputs::of(&seen).map(|seen| seen.sentence())).collect();
    (!parts.is_empty()).then(|| Check::good("outputs", parts.join(". ")))
}
