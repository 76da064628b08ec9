mod merge;
mod scan;

fn main() -> anyhow::Result<()> {
    let files = scan::files("src", &["*.rs"])?;
    let segments: Vec<store::Posting> = scan::index(&files);
    let merged = merge::merge(segments, 16);
    println!("{} postings", merged);
    Ok(())
}
