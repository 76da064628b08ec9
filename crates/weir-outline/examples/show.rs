//! Shows the outline of files, for inspection while developing a language.
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "an example for people")]

fn main() {
    for path in std::env::args().skip(1) {
        let text = std::fs::read_to_string(&path).unwrap();
        let Some(language) = weir_outline::language_of(path.as_ref(), &text) else { continue };
        let outline = weir_outline::outline(language, &text).unwrap();
        for level in [weir_outline::Level::Minimal, weir_outline::Level::Standard, weir_outline::Level::Verbose] {
            println!("== {level:?}\n{}", outline.render(level));
        }
    }
}
