//! A small disk that is filled and emptied: a tmpfs, if one can be mounted.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::text::RandomNumbers;

const SIZE: &str = "1g";
/// The number of seconds at the beginning, and between two fillings, in which the disk has room.
const EMPTY_SECONDS: u64 = 45;
const FULL_SECONDS: u64 = 12;

pub(super) struct Disk {
    folder: PathBuf,
    mounted: bool,
    /// When it was full: from the first byte of the filling until its removal.
    full: Mutex<Vec<(Instant, Option<Instant>)>>,
}

impl Disk {
    pub(super) fn mount(folder: &Path) -> Self {
        std::fs::create_dir_all(folder).unwrap();
        let options = format!("size={SIZE},mode=0700");
        let status = Command::new("mount").args(["-t", "tmpfs", "-o", &options, "weir-load"]).arg(folder).status();
        let mounted = status.is_ok_and(|status| status.success());
        Self { folder: folder.to_owned(), mounted, full: Mutex::default() }
    }

    pub(super) fn describe(&self) -> String {
        match self.mounted {
            true => format!("the data folder is a tmpfs of {SIZE}, full for {FULL_SECONDS} s now and then"),
            false => "the disk is never full: a tmpfs cannot be mounted here".to_owned(),
        }
    }

    /// Repeatedly fills the disk and empties it, until the benchmark is over.
    pub(super) fn fill_now_and_then(&self, over: impl Fn() -> bool) {
        let mut numbers = RandomNumbers::new(7);
        while self.mounted && !over() {
            wait(Duration::from_secs(EMPTY_SECONDS + numbers.next() % 30), &over);
            if over() {
                return;
            }
            self.full.lock().unwrap().push((Instant::now(), None));
            let path = self.folder.join("filling");
            let mut file = std::fs::File::create(&path).unwrap();
            let since = Instant::now();
            // Space that others release meanwhile is filled too.
            while since.elapsed() < Duration::from_secs(FULL_SECONDS) && !over() {
                let block = if file.write_all(&[1; 1 << 20]).is_ok() { continue } else { [1; 4096] };
                while file.write_all(&block).is_ok() {}
                std::thread::sleep(Duration::from_millis(100));
            }
            drop(file);
            std::fs::remove_file(path).unwrap();
            // The kernel releases the space some time later.
            let removed = Instant::now();
            while self.free() < 64 << 20 && removed.elapsed() < Duration::from_secs(5) {
                std::thread::sleep(Duration::from_millis(5));
            }
            self.full.lock().unwrap().last_mut().unwrap().1 = Some(Instant::now());
        }
    }

    pub(super) fn is_full(&self) -> bool {
        self.full.lock().unwrap().last().is_some_and(|(_, end)| end.is_none())
    }

    pub(super) fn was_full_since(&self, since: Instant) -> bool {
        self.full.lock().unwrap().last().is_some_and(|(_, end)| end.is_none_or(|end| end >= since))
    }

    pub(super) fn free(&self) -> u64 {
        let about = rustix::fs::statvfs(&self.folder).unwrap();
        about.f_bavail * about.f_frsize
    }

    pub(super) fn report(&self) -> String {
        let full = self.full.lock().unwrap();
        let seconds: u64 = full.iter().filter_map(|(begin, end)| Some((*end)?.duration_since(*begin).as_secs())).sum();
        format!("{} times, {seconds} s in all; {} MB free in the end", full.len(), self.free() >> 20)
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        if self.mounted {
            let _ = Command::new("umount").arg("-l").arg(&self.folder).status();
        }
    }
}

fn wait(duration: Duration, over: impl Fn() -> bool) {
    let since = Instant::now();
    while since.elapsed() < duration && !over() {
        std::thread::sleep(Duration::from_millis(100));
    }
}
