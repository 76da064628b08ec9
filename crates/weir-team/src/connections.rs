//! How the connections to a database are used, for the page of the operator.

use std::sync::Arc;

/// The connections to a database.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ConnectionFigures {
    /// How many may be open.
    pub most: usize,
    pub open: usize,
    /// How many calls have one.
    pub in_use: usize,
    /// How many calls wait for one.
    pub waiting: usize,
}

impl ConnectionFigures {
    /// Returns the figures of two databases together.
    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            most: self.most + other.most,
            open: self.open + other.open,
            in_use: self.in_use + other.in_use,
            waiting: self.waiting + other.waiting,
        }
    }
}

/// Says how the connections to a database are used now.
pub type ConnectionWatch = Arc<dyn Fn() -> ConnectionFigures + Send + Sync>;
