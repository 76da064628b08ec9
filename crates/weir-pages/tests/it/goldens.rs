//! The golden of each page. `UPDATE_EXPECT=1 cargo test -p weir-pages goldens` writes them.

use expect_test::expect_file;

use crate::samples;

/// Puts each element on its own line, so that a change is one line of a diff.
fn lines(html: &str) -> String {
    html.replace("><", ">\n<") + "\n"
}

#[test]
fn every_page_is_as_its_golden() {
    let (full, bare) = (samples::full(&samples::plainly), samples::bare(&samples::plainly));
    let pages = full.into_iter().chain(bare).chain([samples::alone(&samples::plainly)]);
    for (name, html) in pages {
        let html = weir_pages::ASSETS.iter().fold(html, |html, asset| html.replace(&asset.path(), "/assets/FILE"));
        expect_file![format!("golden/{name}.html")].assert_eq(&lines(&html));
    }
}
