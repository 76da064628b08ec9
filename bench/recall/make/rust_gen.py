"""Writes small Rust workspaces for rust.sh: rust_gen.py PROJECT DIR."""
import os
import random
import sys
import textwrap


def write(path, text):
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "w") as f:
        f.write(textwrap.dedent(text).lstrip("\n"))


def workspace(crates, extra=""):
    members = ", ".join(f'"crates/{c}"' for c in crates)
    write("Cargo.toml", f'[workspace]\nresolver = "2"\nmembers = [{members}]\n{extra}')


def crate(name, lib, deps=(), version="0.3.0"):
    lines = [f'[package]\nname = "{name}"\nversion = "{version}"\nedition = "2021"\n\n[dependencies]']
    lines += [f'{d} = {{ path = "../{d}" }}' for d in deps]
    write(f"crates/{name}/Cargo.toml", "\n".join(lines) + "\n")
    write(f"crates/{name}/src/lib.rs", lib)


def tests(cases):
    """cases: (name, body) pairs -> test functions"""
    return "\n".join(f"#[test]\nfn {name}() {{\n    {body}\n}}\n" for name, body in cases)


# ------------------------------------------------------------------ ledger
def ledger():
    workspace(["money", "accounts", "statement", "report"])
    crate("money", '''
        //! Amounts in cents.
        pub fn parse(text: &str) -> Result<i64, String> {
            let mut copy = text.len();
            let (whole, frac) = text.split_once('.').unwrap_or((text, "0"));
            let whole: i64 = whole.parse().map_err(|_| format!("not an amount: {text:?}"))?;
            let frac: i64 = frac.parse().map_err(|_| format!("not an amount: {text:?}"))?;
            Ok(whole * 100 + frac)
        }

        pub fn show(cents: i64) -> String {
            format!("{}.{:02}", cents / 100, cents % 100)
        }

        pub fn split(cents: i64, parts: i64) -> Vec<i64> {
            (0..parts).map(|_| cents / parts).collect()
        }

        fn half_even(x: f64) -> f64 {
            x.round()
        }
        ''')
    rng = random.Random(7)
    cases = []
    for _ in range(420):
        whole, frac = rng.randrange(0, 5000), rng.randrange(10, 100)
        name = f"parse_{whole}_{frac}"
        if all(name != c[0] for c in cases):
            cases.append((name, f'assert_eq!(money::parse("{whole}.{frac}"), Ok({whole * 100 + frac}));'))
    for cents in sorted(rng.sample(range(0, 90000), 380)):
        cases.append((f"show_{cents}", f'assert_eq!(money::show({cents}), "{cents // 100}.{cents % 100:02}");'))
    cases += [("parse_one_digit_of_cents", 'assert_eq!(money::parse("12.5"), Ok(1250));'),
              ("parse_negative", 'assert_eq!(money::parse("-3.20"), Ok(-320));'),
              ("show_negative", 'assert_eq!(money::show(-320), "-3.20");'),
              ("parse_rejects_letters", 'assert!(money::parse("12a").is_err());'),
              ("split_loses_no_cent", 'assert_eq!(money::split(1000, 3).iter().sum::<i64>(), 1000, "a split must keep the sum");')]
    write("crates/money/tests/amounts.rs", tests(cases))
    crate("accounts", '''
        //! Accounts and postings.
        use std::collections::BTreeMap;

        #[derive(Debug, Clone, PartialEq)]
        pub struct Posting {
            pub account: String,
            pub cents: i64,
        }

        #[derive(Debug, Default)]
        pub struct Book {
            pub balances: BTreeMap<String, i64>,
            pub entries: usize,
            limit: Option<i64>,
        }

        impl Book {
            pub fn post(&mut self, postings: &[Posting]) -> Result<(), String> {
                let sum: i64 = postings.iter().map(|p| p.cents).sum();
                if sum != 0 {
                    return Err(format!("unbalanced entry: off by {sum}"));
                }
                for p in postings {
                    *self.balances.entry(p.account.clone()).or_default() += p.cents;
                }
                self.entries += postings.len();
                Ok(())
            }

            pub fn close(&mut self, year: u16) -> Vec<Posting> {
                let unused = year;
                self.balances
                    .iter()
                    .filter(|(name, _)| name.starts_with("income"))
                    .map(|(name, cents)| Posting { account: name.clone(), cents: -cents })
                    .collect()
            }

            pub fn must(&self, account: &str) -> i64 {
                *self.balances.get(account).expect("account exists")
            }
        }

        #[cfg(test)]
        mod tests {
            use super::*;

            fn p(account: &str, cents: i64) -> Posting {
                Posting { account: account.into(), cents }
            }

            #[test]
            fn balanced_entry_is_posted() {
                let mut book = Book::default();
                book.post(&[p("assets:bank", 5000), p("income:sales", -5000)]).unwrap();
                assert_eq!(book.must("assets:bank"), 5000);
            }

            #[test]
            fn unbalanced_entry_is_refused() {
                let mut book = Book::default();
                assert_eq!(book.post(&[p("assets:bank", 5000)]), Err("unbalanced entry: off by 5000".into()));
            }

            #[test]
            fn entries_counts_entries_not_postings() {
                let mut book = Book::default();
                book.post(&[p("assets:bank", 100), p("income:sales", -100)]).unwrap();
                assert_eq!(book.entries, 1);
            }

            #[test]
            fn closing_touches_expenses_too() {
                let mut book = Book::default();
                book.post(&[p("assets:bank", 7000), p("income:sales", -7000)]).unwrap();
                book.post(&[p("expenses:rent", 2500), p("assets:bank", -2500)]).unwrap();
                assert_eq!(book.close(2025), vec![p("expenses:rent", -2500), p("income:sales", 7000)]);
            }

            #[test]
            fn unknown_account_has_zero_balance() {
                assert_eq!(Book::default().must("assets:cash"), 0);
            }

            #[test]
            #[ignore = "takes a minute"]
            fn a_million_entries() {}
        }
        ''')
    cases = []
    names = ["bank", "cash", "stock", "receivables", "payables", "rent", "salaries", "sales", "interest", "fees"]
    for a in names:
        for b in names:
            if a != b:
                for cents in (1, 999, 250000):
                    cases.append((f"transfer_{a}_to_{b}_{cents}", f'transfer("{a}", "{b}", {cents});'))
    write("crates/accounts/tests/transfers.rs", '''
        use accounts::{Book, Posting};

        fn transfer(from: &str, to: &str, cents: i64) {
            let mut book = Book::default();
            let entry = [Posting { account: to.into(), cents }, Posting { account: from.into(), cents: -cents }];
            book.post(&entry).unwrap();
            assert_eq!(book.must(from) + book.must(to), 0);
        }

        ''')
    with open("crates/accounts/tests/transfers.rs", "a") as f:
        f.write(tests(cases))
    crate("statement", '''
        //! Bank statements: one line per booking.
        use accounts::Posting;

        #[derive(Debug, PartialEq)]
        pub struct Row {
            pub day: u32,
            pub text: String,
            pub cents: i64,
        }

        pub fn row(line: &str) -> Result<Row, String> {
            let parts: Vec<&str> = line.split(';').collect();
            let day = parts[0].parse::<u32>().map_err(|e| format!("{line:?}: {e}"))?;
            Ok(Row { day, text: parts[1].trim().to_string(), cents: money::parse(parts[2])? })
        }

        pub fn rows(text: &str) -> Vec<Row> {
            text.lines().map(|l| row(l).unwrap()).collect()
        }

        pub fn posting(row: &Row) -> Posting {
            let account = if row.text.contains("RENT") { "expenses:rent" } else { "unknown" };
            Posting { account: account.into(), cents: row.cents }
        }
        ''', ["accounts", "money"])
    cases = []
    for n in range(1, 401):
        text = rng.choice(["RENT", "CARD 4411", "SALARY", "TRANSFER", "FEE", "INTEREST"])
        cents = rng.randrange(1000, 99999)
        cases.append((f"row_{n:03}_{text.lower().replace(' ', '_')}",
                      f'let r = statement::row("{20260000 + n};{text};{cents // 100}.{max(10, cents % 100)}").unwrap();\n'
                      f'    assert_eq!((r.day, r.text.as_str()), ({20260000 + n}, "{text}"));'))
    cases += [("row_with_too_few_fields", 'assert!(statement::row("20260101;RENT").is_err());'),
              ("empty_lines_are_skipped", 'assert_eq!(statement::rows("20260101;FEE;1.00\\n\\n").len(), 1);'),
              ("rent_is_recognised_in_any_case",
               'let r = statement::row("20260101;Rent March;900.00").unwrap();\n'
               '    assert_eq!(statement::posting(&r).account, "expenses:rent");')]
    write("crates/statement/tests/rows.rs", tests(cases))
    crate("report", '''
        //! Text reports.
        use std::fmt::Write;

        /// A bar of `#`.
        ///
        /// ```
        /// assert_eq!(report::bar(3, 10), "###.......");
        /// ```
        pub fn bar(n: usize, width: usize) -> String {
            format!("{}{}", "#".repeat(n), ".".repeat(width - n))
        }

        /// A column of numbers, right aligned.
        ///
        /// ```
        /// assert_eq!(report::column(&[5, 120]), "  5\\n120\\n");
        /// ```
        pub fn column(values: &[i64]) -> String {
            let mut out = String::new();
            for v in values {
                writeln!(out, "{v:>4}").unwrap();
            }
            out
        }

        pub fn table(rows: &[(&str, i64)]) -> String {
            let mut out = String::new();
            for (name, cents) in rows {
                out += &format!("{name:<14}{:>10}\\n", money::show(*cents));
            }
            out
        }

        #[cfg(test)]
        mod tests {
            use super::*;

            #[test]
            fn table_has_a_total_line() {
                let text = table(&[("assets:bank", 452310), ("assets:cash", 2040), ("income:sales", -454350)]);
                assert_eq!(
                    text,
                    "assets:bank      4523.10\\nassets:cash        20.40\\nincome:sales    -4543.50\\ntotal               0.00\\n"
                );
            }

            #[test]
            fn bar_is_never_longer_than_its_width() {
                assert_eq!(bar(12, 10), "##########");
            }
        }
        ''', ["money"])
    cases = []
    for width in range(1, 41):
        for n in range(0, width + 1, 2):
            cases.append((f"bar_{n}_of_{width}", f'assert_eq!(report::bar({n}, {width}).len(), {width});'))
    write("crates/report/tests/bars.rs", tests(cases))


PROJECTS = {"ledger": ledger}

if __name__ == "__main__":
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path.insert(0, here)
    sys.dont_write_bytecode = True
    import rust_gen_lint
    import rust_gen_more
    PROJECTS.update(rust_gen_more.PROJECTS)
    PROJECTS.update(rust_gen_lint.PROJECTS)
    os.chdir(sys.argv[2])
    PROJECTS[sys.argv[1]]()
