//! Mirrors generated manifests; keeps errors with their sources and a captured backtrace, and ends in a nested panic.
use std::backtrace::Backtrace;
use std::cell::RefCell;
use std::error::Error;
use std::fmt;

#[derive(Debug)]
struct Context { what: String, source: Option<Box<dyn Error>>, trace: Option<Backtrace> }
impl fmt::Display for Context { fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result { f.write_str(&self.what) } }
impl Error for Context { fn source(&self) -> Option<&(dyn Error + 'static)> { self.source.as_deref() } }

fn wrap(what: String, source: Box<dyn Error>) -> Box<dyn Error> { Box::new(Context { what, source: Some(source), trace: None }) }

#[inline(never)]
fn parse_size(text: &str) -> Result<u64, Box<dyn Error>> {
    text.parse::<u64>().map_err(|e| Box::new(Context { what: format!("bad size field {text:?}"), source: Some(Box::new(e)), trace: Some(Backtrace::force_capture()) }) as Box<dyn Error>)
}

#[inline(never)]
fn parse_line(n: usize, line: &str) -> Result<u64, Box<dyn Error>> {
    let mut parts = line.split(' ');
    let name = parts.next().unwrap_or("");
    let size = parts.next().ok_or_else(|| format!("line {n} of {name} has no size"))?;
    parse_size(size).map_err(|e| wrap(format!("line {n} ({name})"), e))
}

#[inline(never)]
fn read_manifest(m: usize) -> Result<u64, Box<dyn Error>> {
    let mut total = 0;
    for n in 0..20 {
        let mut line = format!("object-{m:03}-{n:02} {}", (m * 31 + n * 17) % 900);
        if m % 13 == 12 && n == 11 { line = line.replace(' ', " 0x"); }
        if m % 29 == 28 && n == 4 { line = line.split(' ').next().unwrap().to_string(); }
        if m == 77 && n == 0 { line.push_str("99999999999999999999999"); }
        total += parse_line(n, &line)?;
    }
    Ok(total)
}

fn report(m: usize, err: &(dyn Error + 'static)) {
    println!("[mirror] manifest {m}: {err}");
    let mut cause = err.source();
    let mut level = 0;
    let mut trace = err.downcast_ref::<Context>().and_then(|c| c.trace.as_ref());
    while let Some(inner) = cause {
        println!("    caused by ({level}): {inner}");
        if let Some(c) = inner.downcast_ref::<Context>() { if c.trace.is_some() { trace = c.trace.as_ref(); } }
        cause = inner.source();
        level += 1;
    }
    if let Some(t) = trace { println!("    backtrace:\n{t}"); }
}

struct Guard<'a>(&'a RefCell<Vec<usize>>);
impl Drop for Guard<'_> { fn drop(&mut self) { println!("[mirror] releasing {} locks", self.0.borrow_mut().len()); } }

fn main() {
    let mut failed = Vec::new();
    for m in 0..120 {
        match read_manifest(m) {
            Ok(total) => println!("[mirror] manifest {m}: 20 objects, {total} bytes"),
            Err(err) => { report(m, err.as_ref()); failed.push(m); }
        }
    }
    println!("[mirror] {} manifests failed: {:?}", failed.len(), failed);
    let held = RefCell::new(failed);
    let _guard = Guard(&held);
    let _borrow = held.borrow_mut();
    held.borrow_mut().clear();
}
