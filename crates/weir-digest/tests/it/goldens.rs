//! The digest of every output of the development half, verbatim. `UPDATE_EXPECT=1 cargo test -p weir-digest` rewrites
//! them; review what changed.

use expect_test::expect_file;

use crate::outputs::{digest, half};

#[test]
fn digests_are_as_they_were() {
    let outputs = half("development");
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/golden");
    for output in &outputs {
        expect_file![format!("{folder}/{}.txt", output.name)].assert_eq(&format!("{}\n", digest(&output.raw)));
    }
    for file in std::fs::read_dir(folder).unwrap() {
        let name = file.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned();
        assert!(outputs.iter().any(|output| output.name == name), "golden/{name}.txt has no output");
    }
}
