//! Reports how much output was held back here, and why the rest was left alone.

use weir_context::LockedStores;
use weir_core::wording::counted;
use weir_session::outputs::SeenOutputs;
use weir_session::replay::report::table::number;

use super::Check;
use crate::stats::account::Account;

/// Returns what the meter and the hooks say of outputs, if there were any.
pub(super) fn check(open: &mut LockedStores<'_>) -> Option<Check> {
    let store = open.project().ok()?;
    let (rows, seen) = (store.metered(None).ok()?, store.outcomes(None).ok()?);
    let account = Account::of(&rows);
    let held_back = (account.held > 0).then(|| {
        let outputs = counted(account.held as usize, "output", "outputs");
        let [output, shown] = [account.output, account.shown].map(|tokens| number(tokens.cast_signed()));
        format!("{outputs} held back: {output} tokens of output → {shown}")
    });
    let parts: Vec<String> = held_back.into_iter().chain(SeenOutputs::of(&seen).map(|seen| seen.sentence())).collect();
    (!parts.is_empty()).then(|| Check::good("outputs", parts.join(". ")))
}
