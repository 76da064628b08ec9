//! Which kinds read each output of the development half. A line that changes means that another kind claims an output
//! or some of its lines: `UPDATE_EXPECT=1 cargo test -p weir-digest` rewrites the table; review what changed.

use expect_test::expect_file;

use crate::outputs::{half, page};

#[test]
fn every_output_is_read_by_the_same_kinds_as_before() {
    let claim = |output: crate::outputs::Output| format!("{}: {}\n", output.name, page(&output.raw).kinds.join(", "));
    let claims: String = half("development").into_iter().map(claim).collect();
    expect_file!["golden/claims.txt"].assert_eq(&claims);
}
