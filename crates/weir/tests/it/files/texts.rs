//! Source files for the tests, and the text of an answer.

pub(crate) fn fenced(answer: &str) -> &str {
    let (_, rest) = answer.split_once("\n<<<").unwrap_or_else(|| panic!("no text in {answer}"));
    let (mark, rest) = rest.split_once('\n').unwrap();
    rest.split_once(&format!("\n{mark}>>>")).unwrap_or_else(|| panic!("no end in {answer}")).0
}

pub(crate) fn source(functions: usize) -> String {
    let body =
        "    let total: u64 = (0..n).map(|i| i * i).sum();\n    println!(\"{total} of {n}\");\n    drop(total);\n"
            .repeat(3);
    let function =
        |number| format!("/// Adds up to {number}.\npub fn add_{number}(n: u64) -> u64 {{\n{body}    n\n}}\n\n");
    format!("//! Sums of squares.\n\n{}", (0..functions).map(function).collect::<String>())
}
