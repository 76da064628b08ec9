//! Whether the index has caught up since the start. Invariant: once it has, it stays so; what is written later is indexed
//! within moments, and `weir_index_lag_records` counts it.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// How many records an index may be behind the log when its server is ready. A search in one project indexes twice as
/// many before it answers.
const MAX_MISSING: u64 = 1_000;

/// Whether the index has caught up with the log since the start.
#[derive(Default)]
pub(in crate::service) struct CatchUp {
    is_done: AtomicBool,
    /// How many records are missing, of the projects that were looked at.
    missing: AtomicU64,
}

impl CatchUp {
    /// Notes how many records are missing, and whether all projects were looked at.
    pub(super) fn note(&self, missing: u64, has_walked: bool) {
        self.missing.store(missing, Ordering::Relaxed);
        if has_walked && missing <= MAX_MISSING {
            self.is_done.store(true, Ordering::Relaxed);
        }
    }

    /// Returns why the index has not caught up, if it has not.
    pub(in crate::service) fn reason(&self) -> Option<String> {
        if self.is_done.load(Ordering::Relaxed) {
            return None;
        }
        Some(match self.missing.load(Ordering::Relaxed) {
            0 => "the index of this server is not compared with the log yet".to_owned(),
            1 => "the index of this server follows the log, and lacks at least 1 record".to_owned(),
            missing => format!("the index of this server follows the log, and lacks at least {missing} records"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_has_caught_up_once_all_projects_were_looked_at_and_little_is_missing() {
        let catch_up = CatchUp::default();
        assert_eq!(catch_up.reason().unwrap(), "the index of this server is not compared with the log yet");
        for (missing, has_walked) in [(0, false), (MAX_MISSING + 1, false), (MAX_MISSING, false), (u64::MAX, true)] {
            catch_up.note(missing, has_walked);
            assert!(catch_up.reason().is_some(), "{missing}");
        }
        catch_up.note(MAX_MISSING + 1, true);
        let reason = "the index of this server follows the log, and lacks at least 1001 records";
        assert_eq!(catch_up.reason().unwrap(), reason);
        catch_up.note(MAX_MISSING, true);
        catch_up.note(u64::MAX, true);
        assert_eq!(catch_up.reason(), None);
    }
}
