//! Decides whether Weir's own configuration and data are the user's. Invariant: Weir obeys no file that a repository, a
//! run or another user may write.

use std::fs::Metadata;
use std::io;
use std::path::Path;

use weir_policy::user_paths::{Untrusted, UserPaths, is_foreign};

use crate::env::{self, Env, Paths};
use crate::error::{CommandError, ErrorKind};
use crate::foreign;
use crate::os;

/// Reads one of Weir's own files, which nobody but the user may change.
pub fn read_own_file(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let file = foreign::open_user_file(path)?;
    let above = path.parent().map_or_else(|| file.metadata(), Path::metadata)?;
    if is_of_others(&file.metadata()?) || is_of_others(&above) {
        return Err(io::Error::other("another user can change it, so it is not obeyed"));
    }
    foreign::whole(file, most)
}

fn is_of_others(about: &Metadata) -> bool {
    is_foreign(about, &trusted_owners())
}

fn trusted_owners() -> Vec<u32> {
    os::trusted_owners(env::home().as_deref())
}

/// Returns an error if Weir's data belongs to another user. A missing folder belongs to nobody.
pub fn check_data(paths: &Paths) -> Result<(), CommandError> {
    let owner = paths.data.metadata().ok().and_then(|about| os::owner(&about));
    if owner.is_none_or(|owner| trusted_owners().contains(&owner)) {
        return Ok(());
    }
    let message = format!("cannot use {}: it belongs to another user", paths.data.display());
    Err(CommandError::new(ErrorKind::Config, message).hint("set WEIR_DATA to a folder that you own"))
}

/// Returns an error if the configuration or the data is in the project, where a variable put it: clients take variables
/// from files of a repository. The usual places below the home folder are the user's even if they are in a project, as
/// with dotfiles.
pub fn check_places(env: &Env, paths: &Paths, project: &Path) -> Result<(), CommandError> {
    check_data(paths)?;
    let home = env.home.as_deref();
    // A project around the home folder is not a project, unless the home folder was put into it.
    let holds_home = home.is_some_and(|home| home.starts_with(project));
    let is_moved = || home.is_some_and(|home| home != project && project.join(".git").exists() && !os::is_home(home));
    if holds_home && !is_moved() {
        return Ok(());
    }
    let mut of_user = UserPaths::new(vec![project.to_owned()], trusted_owners());
    let usual = |part: &str| home.filter(|_| !holds_home).map(|home| home.join(part));
    let config = (&paths.config, usual(".config/weir/config.toml"), paths.config.parent().is_some_and(Path::exists));
    let data = (&paths.data, usual(".local/share/weir"), true);
    for (path, usual, is_obeyed) in [config, data] {
        if is_obeyed && usual.as_ref() != Some(path) && matches!(of_user.find(path), Err(Untrusted::Writable(_))) {
            let why = "it is in the project, and a repository has no say in how Weir works";
            let message = format!("cannot use {}: {why}", path.display());
            let hint =
                "unset HOME, XDG_CONFIG_HOME, XDG_DATA_HOME or WEIR_DATA if you did not set it, or move the folder";
            return Err(CommandError::new(ErrorKind::Config, message).hint(hint));
        }
    }
    Ok(())
}
