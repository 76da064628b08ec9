//! Databases as the command line names them, and why they cannot be used.

use std::path::Path;

use weir_host::error::{CommandError, ErrorKind};
use weir_records::{ErrorKind as PortKind, PortError};
use weir_team::PostgresOptions;

use crate::failure::failed;

/// The role that the server uses in its database, whatever role logs in.
pub(super) const ROLE: &str = "weir_app";

/// Reads the address of a database, or the file that has it.
pub(super) fn options(folder: &Path, address: &str) -> Result<PostgresOptions, CommandError> {
    let address = match address.strip_prefix('@') {
        Some(file) => {
            let path = folder.join(file);
            std::fs::read_to_string(&path).map_err(|error| {
                CommandError::new(ErrorKind::Failed, format!("cannot read {}: {error}", path.display()))
            })?
        }
        None => address.to_owned(),
    };
    let mut options = PostgresOptions::parse(address.trim()).map_err(failed)?;
    options.role = Some(ROLE.to_owned());
    Ok(options)
}

/// Returns the options of the role that logs in, which owns the database.
pub(super) fn owner_of(options: &PostgresOptions) -> PostgresOptions {
    let mut owner = options.clone();
    owner.role = None;
    owner
}

/// What to do about a database that this program is too old for.
const TOO_OLD: &str =
    "nothing was changed; update this program to the version that prepared the database, or a newer one";

/// Returns why a database cannot be prepared.
pub(super) fn refused(error: PortError) -> CommandError {
    let is_newer = error.kind == PortKind::Newer;
    let error = failed(error);
    if is_newer { error.hint(TOO_OLD) } else { error }
}

/// Returns why a database cannot be opened. The owner of one that is not prepared, or is older, can prepare it.
pub(super) fn unprepared(error: PortError) -> CommandError {
    let hint = match error.kind {
        PortKind::Newer => TOO_OLD,
        _ => "`weir-server init USER --database URL` prepares a database, as its owner; also after an update",
    };
    failed(error).hint(hint)
}
