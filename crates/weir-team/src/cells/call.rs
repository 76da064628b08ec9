//! Whether a cell answers. Invariants: a bounded number of calls waits for a cell; of one that did not answer, one call at
//! a time finds out whether it does again, and the others are refused at once.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use weir_records::{ErrorKind, PortError, Result};

/// How many calls a cell may have at work: half of the threads of a server.
const MAX_CALLS: usize = 48;
/// How long after a failure a cell is asked again.
const PAUSE: Duration = Duration::from_secs(1);

/// How a cell has answered.
#[derive(Default)]
pub(super) struct Health(Mutex<State>);

#[derive(Default)]
struct State {
    calls: usize,
    /// When it may be asked again, if it did not answer.
    down_until: Option<Instant>,
    is_asked: bool,
}

impl Health {
    /// Makes a call, if the cell can be expected to answer.
    pub(super) fn watch<T>(&self, doing: &str, call: impl FnOnce() -> Result<T>) -> Result<T> {
        let mut visit = self.enter(doing)?;
        let answer = call();
        visit.is_down = answer.as_ref().is_err_and(|error| error.kind == ErrorKind::Unavailable);
        answer
    }

    fn enter(&self, doing: &str) -> Result<Visit<'_>> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(until) = state.down_until {
            if state.is_asked || Instant::now() < until {
                let reason = "the cell of the tenant did not answer a moment ago";
                return Err(PortError::new(ErrorKind::Unavailable, doing).because(reason));
            }
            state.is_asked = true;
            state.calls += 1;
            return Ok(Visit { health: self, asks: true, is_down: true });
        }
        if state.calls >= MAX_CALLS {
            let reason = "too many calls wait for the cell of the tenant";
            return Err(PortError::new(ErrorKind::Busy, doing).because(reason));
        }
        state.calls += 1;
        Ok(Visit { health: self, asks: false, is_down: true })
    }
}

/// A call that is at work.
struct Visit<'a> {
    health: &'a Health,
    /// Whether this call finds out if the cell answers again.
    asks: bool,
    /// Whether the cell has not answered.
    is_down: bool,
}

impl Drop for Visit<'_> {
    fn drop(&mut self) {
        let mut state = self.health.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.calls -= 1;
        state.is_asked &= !self.asks;
        state.down_until = self.is_down.then(|| Instant::now() + PAUSE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn down() -> Result<()> {
        Err(PortError::new(ErrorKind::Unavailable, "call"))
    }

    #[test]
    fn a_cell_that_did_not_answer_is_asked_by_one_call_at_a_time() {
        let health = Health::default();
        health.watch("call", || Ok(())).unwrap();
        assert_eq!(health.watch("call", down).unwrap_err().kind, ErrorKind::Unavailable);
        let refused = health.watch("call", || -> Result<()> { panic!("it is not asked") }).unwrap_err();
        assert!(refused.to_string().contains("did not answer a moment ago"), "{refused}");
        health.0.lock().unwrap().down_until = Some(Instant::now());
        let inner = health.watch("call", || health.watch("another", || -> Result<()> { panic!("one is asking") }));
        assert_eq!(inner.unwrap_err().kind, ErrorKind::Unavailable);
        health.0.lock().unwrap().down_until = Some(Instant::now());
        health.watch("call", || Ok(())).unwrap();
        health.watch("call", || Ok(())).unwrap();
    }

    #[test]
    fn a_call_from_before_the_failure_does_not_let_a_second_one_ask() {
        let health = Health::default();
        let early = health.enter("call").unwrap();
        health.watch("call", down).unwrap_err();
        health.0.lock().unwrap().down_until = Some(Instant::now());
        let asking = health.enter("call").unwrap();
        drop(early);
        health.0.lock().unwrap().down_until = Some(Instant::now());
        assert!(health.enter("call").is_err(), "one is asking");
        drop(asking);
    }

    #[test]
    fn a_bounded_number_of_calls_waits_for_a_cell() {
        let health = Health::default();
        let mut visits: Vec<_> = (0..MAX_CALLS).map(|_| health.enter("call").unwrap()).collect();
        assert_eq!(health.watch("call", || Ok(())).unwrap_err().kind, ErrorKind::Busy);
        visits.iter_mut().for_each(|visit| visit.is_down = false);
        drop(visits);
        health.watch("call", || Ok(())).unwrap();
    }
}
