//! The overlay of a run: a folder that the run sees and changes as its own, while every change goes to a folder above
//! it and nothing below is touched.

use std::io;
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};
use std::path::Path;

use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsconfig_set_flag, fsconfig_set_string, fsmount, fsopen,
};

use super::view::open_if_there;
use super::{Failure, FailureContext as _};
use crate::{OVERLAY_STEP, Overlay};

/// Mounts an overlay that can be attached anywhere.
pub(super) fn mount(overlay: &Overlay) -> Result<OwnedFd, Failure> {
    let open = |path: &Path| open_if_there(path)?.ok_or("a folder does not exist").doing(OVERLAY_STEP);
    let folders = [open(&overlay.lower)?, open(&overlay.upper)?, open(&overlay.work)?];
    mount_on(&folders).doing(OVERLAY_STEP)
}

fn mount_on([lower, upper, work]: &[OwnedFd; 3]) -> io::Result<OwnedFd> {
    let new = fsopen("overlay", FsOpenFlags::FSOPEN_CLOEXEC)?;
    // The kernel reads `:` and `\` in these paths as separators and escapes. Descriptors have neither, lead to what was
    // opened, and keep the paths out of the list of mounts, which the run can read.
    for (key, folder) in [("lowerdir", lower), ("upperdir", upper), ("workdir", work)] {
        fsconfig_set_string(new.as_fd(), key, format!("/proc/self/fd/{}", folder.as_raw_fd()))?;
    }
    // Without `userxattr`, a folder that is not empty could not be removed in a user namespace. `volatile` leaves out
    // the syncing of every copied file; what a run wrote counts only once it has been applied.
    fsconfig_set_flag(new.as_fd(), "userxattr")?;
    fsconfig_set_flag(new.as_fd(), "volatile")?;
    fsconfig_create(new.as_fd())?;
    let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
    Ok(fsmount(new.as_fd(), FsMountFlags::FSMOUNT_CLOEXEC, attributes)?)
}
