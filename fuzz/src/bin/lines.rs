//! Lines that the kinds take notice of: in any order, cut, repeated, numbered, and with other bytes among them.
#![no_main]

use weir_fuzz::opener;

/// Small, so that many are tried: what takes long in a big output shows in the tests of time.
const LONGEST: usize = 8_000;

libfuzzer_sys::fuzz_target!(|data: &[u8]| weir_fuzz::check(&lines(data)));

/// Reads the bytes as orders: what to write next.
fn lines(data: &[u8]) -> Vec<u8> {
    let mut orders = data.iter().copied();
    let mut text = Vec::new();
    let mut block = 0;
    while let Some(order) = orders.next() {
        let mut next = || usize::from(orders.next().unwrap_or_default());
        match order % 8 {
            0..=2 => text.extend_from_slice(opener(next()).as_bytes()),
            3 => {
                let whole = opener(next());
                text.extend_from_slice(&whole.as_bytes()[..next().min(whole.len())]);
            }
            4 => {
                let length = next();
                text.extend(orders.by_ref().take(length));
            }
            5 => {
                let (opener, number) = (opener(next()), next());
                text.extend_from_slice(format!("{}{opener}{number}", " ".repeat(number % 9)).as_bytes());
            }
            6 => {
                let end = text.len();
                for _ in 0..next() % 32 {
                    text.extend_from_within(block..end);
                    if text.len() > LONGEST {
                        return text;
                    }
                }
                block = text.len();
                continue;
            }
            // No line end, so that two lines become one.
            _ => continue,
        }
        if order < 240 {
            text.push(b'\n');
        }
        if text.len() > LONGEST {
            return text;
        }
    }
    text
}
