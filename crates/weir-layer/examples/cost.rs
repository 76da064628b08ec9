//! Measures layers without a sandbox: `cargo run --release -p weir-layer --example cost -- FOLDER`. What a run would
//! write is put where its overlay would put it.

use std::error::Error;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use weir_layer::{Layer, Verdict};

/// How often a run that writes nothing is measured.
const ROUNDS: usize = 300;
/// The pause between two such runs, in which the folders of the first are removed.
const PAUSE: Duration = Duration::from_millis(15);
/// The numbers of files that a run changes.
const CHANGED: [usize; 2] = [1_000, 20_000];

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args_os().nth(1).map_or_else(|| PathBuf::from("/var/tmp"), PathBuf::from);
    let folder = tempfile::tempdir_in(folder)?;
    nothing(&folder.path().join("nothing"))?;
    CHANGED.iter().try_for_each(|count| files(&folder.path().join(count.to_string()), *count))
}

/// Prints what a layer costs a run that writes nothing.
fn nothing(folder: &Path) -> Result<(), Box<dyn Error>> {
    let (place, project) = (folder.join("layers"), folder.join("project"));
    write(&project, 10, "old")?;
    let mut times: [Vec<Duration>; 3] = Default::default();
    // Nothing is sent: the channel is a clock.
    let (_sender, clock) = channel::<()>();
    for _ in 0..ROUNDS {
        let begin = Instant::now();
        weir_layer::check(&place, &project)?;
        let checked = Instant::now();
        let layer = Layer::create(&place, &project)?;
        let created = Instant::now();
        // What the kernel leaves there.
        std::fs::create_dir_all(layer.work().join("work/incompat/volatile"))?;
        let ended = Instant::now();
        layer.apply(&folder.join("held"), u64::MAX, &mut |_| Verdict::Apply)?;
        for (times, time) in times.iter_mut().zip([checked - begin, created - checked, ended.elapsed()]) {
            times.push(time);
        }
        let _ = clock.recv_timeout(PAUSE);
    }
    for (what, times) in ["check", "create", "end"].iter().zip(&mut times) {
        times.sort_unstable();
        let [median, slow] = [ROUNDS / 2, ROUNDS * 19 / 20].map(|at| times[at].as_secs_f64() * 1e3);
        writeln!(io::stdout(), "{what:<8} p50 {median:.2} ms, p95 {slow:.2} ms")?;
    }
    Ok(())
}

/// Prints how long it takes to apply and to undo changes.
fn files(folder: &Path, count: usize) -> Result<(), Box<dyn Error>> {
    let (place, project) = (folder.join("layers"), folder.join("project"));
    write(&project, count, "old")?;
    for _ in 0..3 {
        let layer = Layer::create(&place, &project)?;
        write(layer.upper(), count, "new")?;
        let begin = Instant::now();
        layer.apply(&folder.join("held"), u64::MAX, &mut |_| Verdict::Apply)?;
        let applied = begin.elapsed();
        let begin = Instant::now();
        let undone = weir_layer::undo(&place, &project)?;
        let (took, done) = (begin.elapsed(), undone.done.len());
        writeln!(io::stdout(), "{count} files: applied in {applied:.2?}, {done} undone in {took:.2?}")?;
    }
    Ok(())
}

fn write(folder: &Path, files: usize, text: &str) -> io::Result<()> {
    for number in 0..files {
        let folder = folder.join((number / 100).to_string());
        std::fs::create_dir_all(&folder)?;
        std::fs::write(folder.join((number % 100).to_string()), text)?;
    }
    Ok(())
}
