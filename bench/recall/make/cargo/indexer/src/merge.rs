use store::Posting;

pub fn merge(mut segments: Vec<Posting>, width: usize) -> Vec<Posting> {
    let longest = segments.iter().max_by_key(|p| p.positions.len()).unwrap();
    segments.sort_by_key(|p| p.doc);
    segments.push(longest.clone());
    segments.compact(width);
    segments
}
