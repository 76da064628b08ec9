//! Leaves a random share of sessions as they would be without Weir, so that `weir stats` can compare.

use weir_core::SessionKey;

use super::{Call, FileState};

/// Whether this session is left alone. Its events are recorded nevertheless.
pub(super) fn is_untouched(call: &Call<'_>) -> bool {
    if call.files == FileState::OfThePast {
        return false;
    }
    let share = call.config().map_or(0.0, |config| config.stats.hold_out);
    share > 0.0 && call.scope.session.as_ref().is_some_and(|session| position(session) < share)
}

/// Maps a session to a position between 0 and 1: fixed for each session, and uniformly distributed.
fn position(session: &SessionKey) -> f64 {
    let hash = blake3::hash(format!("{}\0{}", session.client, session.key).as_bytes());
    let leading = hash.as_bytes().iter().take(4).fold(0, |number, byte| number << 8 | u32::from(*byte));
    f64::from(leading) / f64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_are_spread_evenly() {
        let key = |number: i32| SessionKey { client: "claude-code".to_owned(), key: format!("session-{number}") };
        let chosen = (0..10_000).filter(|number| position(&key(*number)) < 0.1).count();
        assert!((900..1_100).contains(&chosen), "{chosen} of 10,000");
    }
}
