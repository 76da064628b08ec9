//! Records written as one field to a line: `psql -x`, `sqlite3 -line`.

use super::converted::{self, Convert, put_text, put_value};
use crate::kinds::{How, Kind};
use crate::sample::Sample;

pub(crate) const KIND: Kind = Kind {
    name: "records",
    how: How::Whole {
        is: |sample| is_expanded(sample) || is_listed(sample),
        read: |source, sample| converted::read(source, sample, "records", || Box::new(Records::default())),
    },
};

/// What begins a record of `psql -x`.
const RECORD: &str = "-[ RECORD ";

fn is_expanded(sample: &Sample<'_>) -> bool {
    sample.full_lines().next().is_some_and(|line| line.starts_with(RECORD))
}

/// Whether the output is blocks of `name = value`, each with the same first name.
fn is_listed(sample: &Sample<'_>) -> bool {
    let Some((name, _)) = sample.full_lines().next().and_then(field) else { return false };
    let again = sample.full_lines().filter_map(field).filter(|(other, _)| *other == name).count();
    again >= 3 && sample.mostly(95, |line| line.contains(" = ") && field(line).is_some())
}

/// `name | value` or `name = value`.
fn field(line: &str) -> Option<(&str, &str)> {
    let at = line.find(" | ").or_else(|| line.find(" = ")).or_else(|| line.strip_suffix(" |").map(str::len))?;
    let (name, value) = (line[..at].trim(), line.get(at + 3..).unwrap_or_default().trim());
    let is_name =
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_. ?:()*-".contains(&byte));
    is_name.then_some((name, value))
}

/// Where between records and fields the output is.
#[derive(Default)]
struct Records {
    begun: bool,
    in_record: bool,
    fields: usize,
}

impl Convert for Records {
    fn line(&mut self, text: &str, json: &mut String) {
        if text.starts_with(RECORD) || text.trim().is_empty() {
            if self.in_record && self.fields > 0 {
                json.push('}');
                self.in_record = false;
            }
            return;
        }
        let Some((name, value)) = field(text) else { return };
        if self.in_record {
            json.push(',');
        } else {
            json.push_str(if self.begun { ",{" } else { "[{" });
            (self.begun, self.in_record, self.fields) = (true, true, 0);
        }
        self.fields += 1;
        put_text(name, json);
        json.push(':');
        if value.is_empty() { json.push_str("\"\"") } else { put_value(value, json) }
    }

    fn end(&mut self, json: &mut String) {
        json.push_str(match (self.begun, self.in_record) {
            (true, true) => "}]",
            (true, false) => "]",
            _ => "",
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::check::digest;

    #[test]
    fn fields_of_one_record_stay_together() {
        let mut raw = String::new();
        for number in 1..=150 {
            let setting = if number == 77 { "1073741823" } else { "off" };
            raw.push_str(&format!(
                "-[ RECORD {number} ]---+-----\nname       | setting_{number}\nsetting    | {setting}\n"
            ));
            raw.push_str("category   | Error Handling\nshort_desc | Whether to go on after a failure.\n");
        }
        let digest = digest(&raw, 800);
        assert!(digest.contains("records: 150 records") && !digest.contains("error line"), "{digest}");
        assert!(digest.contains("setting_77") && !digest.contains("== time"), "{digest}");
    }
}
