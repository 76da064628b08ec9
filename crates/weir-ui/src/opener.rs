//! Opens the link in the user's browser, if that is asked for.
//!
//! Invariant: the link is in no argument of a process, since every user of the machine can read those. The browser gets
//! a private file that leads to it.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use weir_host::error::{CommandError, ErrorKind};
use weir_host::os::OPENER;
use weir_host::random;
use weir_store::private;

/// The file that leads to the link. It is removed on drop.
pub(super) struct Opened(PathBuf);

impl Drop for Opened {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[expect(clippy::disallowed_methods, reason = "the user asks for their own browser, which must outlive this program")]
pub(super) fn open(data: &Path, link: &str) -> Result<Opened, CommandError> {
    let cannot = |why: String| {
        CommandError::new(ErrorKind::Failed, format!("cannot open a browser: {why}"))
            .hint("leave out --open, and open the link that is printed")
    };
    let folder = data.join("ui");
    let path = folder.join(format!("open-{}.html", random::name()?));
    let write = || -> std::io::Result<Opened> {
        private::folder(&folder)?;
        let mut file = private::open(&path, private::options().create_new(true))?;
        let opened = Opened(path.clone());
        let page = format!(
            "<!doctype html><meta charset=\"utf-8\"><title>Weir</title>\
             <meta http-equiv=\"refresh\" content=\"0; url={link}\"><p><a href=\"{link}\">Open the pages</a></p>\n"
        );
        file.write_all(page.as_bytes())?;
        Ok(opened)
    };
    let opened = write().map_err(|error| cannot(error.to_string()))?;
    let mut command = Command::new(OPENER);
    // Windows takes a path with other separators for none.
    let named: PathBuf = path.components().collect();
    command.arg(named).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|error| cannot(format!("{OPENER}: {error}")))?;
    // Some desktops keep the program until the browser ends.
    std::thread::spawn(move || child.wait());
    Ok(opened)
}
