//! Tables with aligned columns under a header: `ps`, `df`, `ss`, `lsof`, `dpkg -l`, `pip list`, `kubectl get`, `psql`.

use std::io;

use super::cells::Cells;
use super::layout;
use crate::kinds::fold::Fold;
use crate::kinds::{Kind, Stretch};
use crate::sample::Sample;
use crate::text::{clip, count};
use crate::{Item, Lines, Page, Part, Source, Weight, trouble};

pub(crate) const KIND: Kind = Kind::data("table", is, read);

fn is(sample: &Sample<'_>) -> bool {
    // Lines that state levels are a log, whatever table they begin with.
    !sample.mostly(50, |line| trouble::level(line).is_some()) && layout::find(sample.full_lines()).is_some()
}

fn read(source: &dyn Source, sample: &Sample<'_>) -> io::Result<Option<Page>> {
    let Some(layout) = layout::find(sample.full_lines()) else { return Ok(None) };
    let mut cells = Cells::of(layout.names.iter().map(String::as_str));
    let mut fold = Fold::default();
    let mut lines = Lines::of(source)?;
    let (mut begun, mut ended) = (false, false);
    let (mut after_blank, mut after_end) = (false, false);
    while let Some(line) = lines.read()? {
        let text = line.text;
        if !begun {
            begun = text == layout.header;
            if !begun && !text.trim().is_empty() && !layout::is_rule(text) && !is_legend(text) {
                fold.take(&line);
            }
        } else if text == layout.header {
            (ended, after_end) = (false, false);
        } else if text.trim().is_empty() || layout::is_rule(text) || layout::is_end(text) {
            after_blank |= text.trim().is_empty();
            after_end |= layout::is_end(text);
        } else {
            // Rows of another table are not rows of this one.
            ended |= after_end || after_blank && layout::is_header(text);
            (after_blank, after_end) = (false, false);
            if let Some(row) = layout.cells(text).filter(|_| !ended) {
                cells.add(row.into_iter(), line.number, text);
            } else {
                fold.take(&line);
            }
        }
    }
    let rows = cells.rows();
    if rows < 3 || fold.lines * 5 > rows {
        return Ok(None);
    }
    let mut page = Page::new(format!(
        "table: {}, {}",
        count(rows, "row", "rows"),
        count(layout.names.len() as u64, "column", "columns")
    ));
    page.push(Part::uncounted("header", Weight::Fact, vec![Item::plain(clip(&layout.header, 300))]));
    cells.parts(&mut page);
    fold.put(&mut page);
    Ok(Some(page))
}

/// Recognises the lines in which `dpkg` explains its letters.
fn is_legend(line: &str) -> bool {
    ["Desired=", "| Status=", "|/ Err?="].iter().any(|beginning| line.starts_with(beginning))
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::check::{check, digest};

    #[test]
    fn another_table_is_not_part_of_the_first() {
        let pods: String = (0..100).map(|n| format!("pod/web-{n:03}  1/1     Running   0          5d\n")).collect();
        let raw = format!(
            "NAME         READY   STATUS    RESTARTS   AGE\n{pods}\n\
             NAME          TYPE        CLUSTER-IP   EXTERNAL-IP   PORT(S)   AGE\n\
             service/web   ClusterIP   10.0.0.1     <none>        80/TCP    5d\n\
             service/api   ClusterIP   10.0.0.2     <none>        80/TCP    5d\n"
        );
        let told = digest(&raw, 600);
        assert!(told.contains("table: 100 rows, 5 columns; "), "{told}");
        assert!(told.contains("103: NAME          TYPE "), "{told}");
        let rows: String = (0..20).map(|n| format!(" {n:2} | open\n")).collect();
        let raw =
            format!(" id | state \n----+-------\n{rows}(20 rows)\n\n of | count \n----+-------\n  1 | 7\n(1 row)\n");
        assert!(digest(&raw, 600).contains("table: 20 rows, 2 columns; "), "{}", digest(&raw, 600));
    }

    #[test]
    fn pods_that_are_not_ready_come_first() {
        let pods = "NAME        READY   STATUS             RESTARTS   AGE
web-1       1/1     Running            0          5d
web-22      0/1     CrashLoopBackOff   31         5d
web-3       1/1     Running            0          5d
db-0        1/1     Running            1          9d
";
        check(pods, 500).shows(&expect![[r#"
            table: 4 rows, 5 columns
            == header
            NAME        READY   STATUS             RESTARTS   AGE
            == errors, grouped by message: 1
            3: web-22      0/1     CrashLoopBackOff   31         5d
            == fields of 4 records: 5
            NAME: all different, such as web-1, web-22
            READY: 1/1 ×3, 0/1 ×1
            STATUS: Running ×3, CrashLoopBackOff ×1
            RESTARTS: 0 ×2, 31 ×1, 1 ×1, sum 32
            AGE: 5d ×3, 9d ×1
            == records: 4, 3 shown
            2: web-1       1/1     Running            0          5d
            4: web-3       1/1     Running            0          5d
            5: db-0        1/1     Running            1          9d"#]]);
    }

    #[test]
    fn tables_of_a_database() {
        let rows = " id |  name  | total \n----+--------+-------\n  1 | anna   | 10.50\n  2 | bert   |  0.00\n  3 | carl   | -3.00\n  4 | dora   | 99.00\n(4 rows)\n\n";
        check(rows, 500).shows(&expect![[r#"
            table: 4 rows, 3 columns
            == header
             id |  name  | total 
            == fields of 4 records: 3
            id: 1 to 4, all different
            name: all different, such as anna, bert
            total: -3.00 (3 carl) to 99.00 (4 dora), mean 26.625, sum 106.50
            == records: 4
            3:   1 | anna   | 10.50
            4:   2 | bert   |  0.00
            5:   3 | carl   | -3.00
            6:   4 | dora   | 99.00"#]]);
    }

    #[test]
    fn other_texts_are_not_tables() {
        for text in [
            "/src/a.js\n  12:5  error  Unexpected var  no-var\n  13:5  error  Unexpected var  no-var\n  14:5  error  x  no-var\n",
            "The quick brown fox\njumps over the lazy dog\nand runs into the wood\nto sleep\n",
            "Reading package lists...\nBuilding dependency tree...\nReading state information...\nThe following packages\n",
            "GET /a 200\nGET /b 200\nPOST /c 500\nGET /d 200\n",
            "Title\n=====\n\nSome words here.\nMore words there.\nAnd more.\nAnd more.\n",
        ] {
            assert!(!digest(text, 400).contains("table: "), "{text}");
        }
    }
}
