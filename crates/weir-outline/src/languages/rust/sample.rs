//! Parses frobs. They come from everywhere.

use std::fmt;
pub use crate::inner::{Deep, Other as Another};

/// A frob, e.g. a small one. More of it.
#[derive(Debug, Clone)]
pub struct Frob<T: Clone = u8>
where
    T: Send,
{
    /// Its size.
    pub size: usize,
    inner: Vec<T>, // not for others
}

pub struct Pair(pub u32, u8);

pub(crate) enum Shape {
    Dot,
    Line { from: Pair, to: Pair },
    Circle(u32) = 3,
}

impl<T: Clone> Frob<T> {
    /// Makes one.
    pub fn new(
        size: usize, // how large
        inner: Vec<T>,
    ) -> Self {
        fn helper() {}
        Self { size, inner }
    }

    fn hidden(&self) {}
}

impl fmt::Display for Pair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Ok(())
    }
}
impl Default for Pair {
    fn default() -> Self {
        Self(0, 0)
    }
}

pub trait Walks: Sized {
    type Step;
    const PACE: u32 = 4;
    fn walk(&mut self, by: Self::Step) -> bool;
    fn rest(&self) {}
}

pub const LIMIT: usize = 10;
pub static TABLE: &[&str] = &["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven"];

#[macro_export]
macro_rules! frob {
    () => {};
}

cfg_if::cfg_if! {
    if #[cfg(unix)] {
        pub fn on_unix() -> bool { true }
    } else {
        pub fn elsewhere() -> bool { false }
    }
}

wrapped! {
    /// Sees through.
    pub async fn waits<F>(f: F) where F: Future<Output = ()> {}
}

extern "C" {
    pub fn from_c(x: i32) -> i32;
}

#[cfg(test)]
mod tests {
    #[test]
    fn works() {}
}
