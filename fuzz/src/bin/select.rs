//! A path or columns in the first line, taken from what comes after it.
#![no_main]

use weir_digest::select::{Wanted, select};
use weir_fuzz::asked;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let (what, raw) = asked(data);
    let wanted = Wanted { first: 1, last: 20, room: 2_000 };
    let Ok(selected) = select(&raw, &what, wanted, &|line| line.len() % 7 != 0) else { return };
    assert!(selected.lines.len() as u64 <= selected.total.min(wanted.last));
    assert!(selected.lines.iter().map(|line| line.len() + 1).sum::<usize>() <= wanted.room);
    assert_eq!(select(&raw, &what, wanted, &|line| line.len() % 7 != 0).ok(), Some(selected));
});
