//! Writes every page with made-up content to a folder, to be looked at:
//! `cargo run -p weir-pages --example write -- FOLDER`.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "an example for people")]

#[path = "../tests/it/samples/mod.rs"]
mod samples;

use std::path::PathBuf;

use weir_pages::Text;

fn main() {
    let folder = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| "pages".to_owned()));
    std::fs::create_dir_all(folder.join("assets")).unwrap();
    for asset in weir_pages::ASSETS {
        std::fs::write(folder.join("assets").join(asset.name()), asset.body).unwrap();
    }
    // Names that cannot be broken, to see what they do to a phone.
    let long = |text: &str| Text::from(format!("{text}{}", "_with_a_name_that_never_ends".repeat(6)));
    for (name, html) in samples::full(&long) {
        std::fs::write(folder.join(format!("long-{name}.html")), html).unwrap();
    }
    for (name, html) in samples::full(&samples::plainly)
        .into_iter()
        .chain(samples::bare(&samples::plainly))
        .chain([samples::alone(&samples::plainly)])
    {
        println!("{name}: {} bytes", html.len());
        std::fs::write(folder.join(format!("{name}.html")), html).unwrap();
    }
}
