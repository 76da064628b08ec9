//! Selects values from JSON or from separated values.

use weir_context::text::StoredTextSource;
use weir_digest::select::{NotSelected, Wanted, select};
use weir_host::error::CommandError;
use weir_host::face::Face;
use weir_store::BlobReader;

use super::lines::{DEFAULT_CONTEXT_LINES, LineQuery, LineRange, MAX_BYTES_PER_TOKEN, SelectedText};

/// Returns the values at a path, or the rows with these columns: those in the range that match.
pub(super) fn read(
    text: &BlobReader,
    path: &str,
    asked: LineQuery<'_>,
    tokens: usize,
    face: Face,
) -> Result<SelectedText, CommandError> {
    let (first, last) = match asked.lines {
        LineRange::Between(first, last) => (first, last),
        LineRange::Around(line) => {
            (line.saturating_sub(DEFAULT_CONTEXT_LINES).max(1), line.saturating_add(DEFAULT_CONTEXT_LINES))
        }
        LineRange::Last(_) | LineRange::Bytes(..) => {
            let (select, lines) = (face.option("select"), face.option("lines"));
            return Err(CommandError::usage(format!("with {select}, {lines} must count values from the start"))
                .hint("write lines such as 1-50 or 51-"));
        }
    };
    let wanted = Wanted { first, last, room: tokens * MAX_BYTES_PER_TOKEN };
    let keep = |line: &str| asked.pattern.is_none_or(|pattern| pattern.is_match(line));
    let found = select(&StoredTextSource::whole(text), path, wanted, &keep).map_err(|error| explain(error, face))?;
    let unmatched = asked.pattern.filter(|_| found.lines.is_empty());
    let unmatched = unmatched.map(|pattern| format!("none of the {} matches `{}`", found.unit, pattern.as_str()));
    let mut selected = SelectedText::of_values(found, first, last);
    selected.unmatched = unmatched;
    Ok(selected)
}

fn explain(error: NotSelected, face: Face) -> CommandError {
    let hint = match &error {
        NotSelected::NoStructure => {
            face.word("use --lines, --pattern or --intent instead", "use `lines`, `pattern` or `intent` instead")
        }
        NotSelected::Damaged(_) => face.word(
            "it may be truncated or mixed with other text: use --lines or --pattern",
            "it may be truncated or mixed with other text: use `lines` or `pattern`",
        ),
        NotSelected::NoPath(_) => "write items[3].name, items[].{id,name}, /items/3/name or columns such as id,total",
        NotSelected::NotThere { .. } => "use one of these",
        NotSelected::Unreadable(_) => "run `weir doctor`",
    };
    CommandError::usage(error.to_string()).hint(hint)
}
