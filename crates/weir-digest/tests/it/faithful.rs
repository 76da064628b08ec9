//! No digest states what its output contradicts.

use crate::hostile::HOSTILE;
use crate::oracle::examine;
use crate::outputs::{flood, half, page};

const HOSTILE_BYTES: usize = 40_000;

fn none_is_wrong(outputs: impl Iterator<Item = (String, Vec<u8>)>) {
    let (mut right, mut unchecked, mut wrong) = (0, 0, Vec::new());
    for (name, raw) in outputs {
        let verdict = examine(&raw, &page(&raw));
        right += verdict.right;
        unchecked += verdict.unchecked;
        wrong.extend(verdict.wrong.into_iter().map(|why| format!("{name}: {why}")));
    }
    let count = wrong.len();
    assert!(wrong.is_empty(), "{right} right, {unchecked} unchecked, {count} wrong:\n{}", wrong.join("\n"));
}

#[test]
fn of_real_outputs() {
    let halves = ["development", "held_out"].into_iter().flat_map(half);
    none_is_wrong(halves.map(|output| (output.name, output.raw)));
}

#[test]
fn of_what_servers_give() {
    none_is_wrong(flood().into_iter().map(|output| (output.name, output.raw)));
}

#[test]
fn of_outputs_made_to_confuse() {
    none_is_wrong(HOSTILE.iter().map(|hostile| (hostile.name.to_owned(), hostile.first(HOSTILE_BYTES))));
}
