//! The keys of a sealed project on this machine. Invariants: the file is its owner's alone, lies beside `team.db`, and
//! is in no backup and no upload; once this machine knows that the project is sealed, it never takes it for open again;
//! which keys and members there are is decided by the log, never by this machine's own wishes.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use weir_core::{ProjectKey, TenantId};
use weir_records::Record;
use weir_records::sealed::{
    Followed, Identity, KeyGrants, KeyId, Keyring, MAX_GRANTS, MemberKey, OpenedEntry, SealedPlace,
};
use weir_store::{TeamConnection, private};

use super::outbox::broken;
use crate::error::{CommandError, ErrorKind};
use crate::{foreign, os};

/// The file with the keys, and the one that takes its place once it is complete.
const KEY_FILE: &str = "team.key";
const NEW_KEY_FILE: &str = "team.key.new";
/// The largest such file, in bytes.
const MAX_KEY_FILE_BYTES: u64 = 1 << 20;

/// A change of who can read a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum KeyWish {
    /// Seal it, for this machine alone at first.
    Seal,
    /// Give its keys to these machines.
    Admit(Vec<MemberKey>),
    /// Use a new key from now on, which these machines do not get.
    Revoke(Vec<MemberKey>),
}

/// What this machine knows of the keys of a project.
#[derive(Default)]
pub(crate) struct Vault {
    /// Where it is written. What has no place stays in memory.
    folder: Option<PathBuf>,
    identity: Option<Identity>,
    ring: Keyring,
    known: Known,
    has_changed: bool,
}

/// What is known besides secrets.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct Known {
    /// The project that the keys belong to: its server, tenant and name.
    place: Option<[String; 3]>,
    /// The first key that sealed the project, and the position of the record that says so.
    first: Option<KeyId>,
    sealed_at: Option<u64>,
    /// The machines that have the newest key.
    members: BTreeSet<MemberKey>,
    /// Whether the user has said that the project is or will be sealed.
    is_expected: bool,
    /// Whether others have a newer key, which this machine was not given.
    is_left_out: bool,
    /// Whether the log has to be read from its beginning, because there are keys for what could not be read.
    must_read_again: bool,
}

/// The file.
#[derive(Serialize, Deserialize)]
struct KeyFile {
    identity: Option<String>,
    keys: Vec<String>,
    #[serde(flatten)]
    known: Known,
}

/// What a plan of what to send depends on. If it changes, there is something else to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SealState {
    is_restricted: bool,
    newest: Option<KeyId>,
    can_seal: bool,
}

impl Vault {
    /// Reads the keys beside the log of the store in `folder`. There are none without a file.
    pub(crate) fn read(folder: &Path) -> Result<Self, CommandError> {
        let path = folder.join(KEY_FILE);
        let empty = Self { folder: Some(folder.to_owned()), ..Self::default() };
        let failed = |why: String| {
            CommandError::new(ErrorKind::Config, format!("cannot read the keys in {}: {why}", path.display())).hint(
                "put the file back, or remove it and have a member admit this machine again: weir sync --key shows how",
            )
        };
        let bytes = match foreign::read_user_file(&path, MAX_KEY_FILE_BYTES) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(empty),
            Err(error) => return Err(failed(error.to_string())),
        };
        if is_open_to_others(&path) {
            return Err(
                failed("other users can read the file".to_owned()).hint(format!("chmod 600 '{}'", path.display()))
            );
        }
        let file: KeyFile = serde_json::from_slice(&bytes).map_err(|error| failed(error.to_string()))?;
        let ring =
            Keyring::from_texts(file.keys.iter().map(String::as_str)).map_err(|error| failed(error.to_string()))?;
        let identity = file.identity.as_deref().map(Identity::from_text).transpose();
        let identity = identity.map_err(|error| failed(error.to_string()))?;
        Ok(Self { identity, ring, known: file.known, ..empty })
    }

    /// Uses the keys for the project of a connection. Keys of another project are dropped, and the identity stays.
    pub(crate) fn at(mut self, connection: &TeamConnection) -> Self {
        let place = [&connection.server, &connection.tenant, &connection.project].map(String::clone);
        if self.known.place.as_ref() == Some(&place) {
            return self;
        }
        let is_expected = self.known.is_expected && self.known.place.is_none();
        self.ring = Keyring::default();
        self.known = Known { place: Some(place), is_expected, ..Known::default() };
        self.has_changed = true;
        self
    }

    /// Writes nothing from now on.
    pub(crate) fn in_memory(self) -> Self {
        Self { folder: None, ..self }
    }

    /// Returns the key of this machine, which is made if there is none. The project counts as sealed from now on: who
    /// asks for the key wants nothing to leave in clear.
    pub(crate) fn expect_sealed(&mut self) -> Result<MemberKey, CommandError> {
        self.known.is_expected = true;
        self.has_changed = true;
        let key = self.identity()?.public();
        self.save()?;
        Ok(key)
    }

    /// Takes back that a project is expected to be sealed. One that is sealed stays so.
    pub(crate) fn expect_nothing(&mut self) -> Result<(), CommandError> {
        if self.known.is_expected {
            self.known.is_expected = false;
            self.has_changed = true;
        }
        self.save()
    }

    /// Whether no entry may leave in clear.
    pub(crate) fn is_restricted(&self) -> bool {
        self.is_sealed() || self.known.is_expected
    }

    /// Whether the log says that the project is sealed.
    pub(crate) fn is_sealed(&self) -> bool {
        self.known.first.is_some()
    }

    /// Whether this machine has the newest key, as far as it knows.
    pub(crate) fn can_seal(&self) -> bool {
        !self.ring.is_empty() && !self.known.is_left_out
    }

    /// Whether others have a newer key, which this machine was not given.
    pub(crate) fn is_left_out(&self) -> bool {
        self.known.is_left_out
    }

    /// Returns what all members compare.
    pub(crate) fn fingerprint(&self) -> Option<KeyId> {
        self.ring.fingerprint()
    }

    /// Returns the machines that have the newest key.
    pub(crate) fn members(&self) -> &BTreeSet<MemberKey> {
        &self.known.members
    }

    /// Returns the key of this machine, if it has one.
    pub(crate) fn own_key(&self) -> Option<MemberKey> {
        self.identity.as_ref().map(Identity::public)
    }

    pub(super) fn state(&self) -> SealState {
        SealState { is_restricted: self.is_restricted(), newest: self.ring.newest(), can_seal: self.can_seal() }
    }

    /// Seals a record that keeps an entry.
    pub(super) fn seal(&self, record: &Record, text: &str) -> Result<Record, CommandError> {
        self.ring.seal(record, text).map_err(broken)
    }

    /// Opens a record, if this machine can.
    pub(super) fn open(&self, record: &Record) -> Option<OpenedEntry> {
        self.ring.open(record).ok()
    }

    /// Whether this machine has a key.
    pub(super) fn has(&self, key: KeyId) -> bool {
        self.ring.has(key)
    }

    /// Whether a record at a position came after the project was sealed.
    pub(super) fn is_after_seal(&self, position: u64) -> bool {
        self.known.sealed_at.is_some_and(|sealed_at| position > sealed_at)
    }

    /// Follows a record with grants at a position. Returns whether a member wrote it, as far as this machine can tell.
    pub(super) fn follow(&mut self, record: &Record, grants: &KeyGrants, at: u64) -> Result<bool, CommandError> {
        let first = *self.known.first.get_or_insert(grants.key);
        self.known.sealed_at.get_or_insert(at);
        self.has_changed = true;
        let place = SealedPlace { tenant: &record.tenant, project: &record.project };
        self.identity()?;
        let Some(identity) = &self.identity else { return Ok(false) };
        match self.ring.follow(identity, place, grants).map_err(broken)? {
            Followed::Known => {}
            Followed::Extended(ring) if ring.fingerprint() == Some(first) => {
                self.ring = ring;
                self.known.members.clear();
                (self.known.is_left_out, self.known.must_read_again) = (false, true);
            }
            Followed::LeftOut => {
                self.known.is_left_out = true;
                return Ok(true);
            }
            Followed::NotForUs => return Ok(true),
            // Who is left out cannot tell who is a member.
            Followed::Extended(_) | Followed::Unproven => return Ok(self.known.is_left_out),
        }
        if self.ring.newest() == Some(grants.key) {
            self.known.members.extend(grants.grants.iter().map(|grant| grant.member));
        }
        Ok(true)
    }

    /// Whether the log has to be read from its beginning.
    pub(super) fn must_read_again(&self) -> bool {
        self.known.must_read_again
    }

    /// Notes that the log was read to its end.
    pub(super) fn has_read_all(&mut self) -> Result<(), CommandError> {
        if self.known.must_read_again {
            self.known.must_read_again = false;
            self.has_changed = true;
        }
        self.save()
    }

    /// Notes that the log was put back to an older state, where other records are at the same positions.
    pub(super) fn has_been_put_back(&mut self) {
        self.known.sealed_at = None;
        self.has_changed = true;
    }

    /// Returns the grants that a wish asks for.
    pub(super) fn grants_for(&mut self, wish: &KeyWish) -> Result<KeyGrants, CommandError> {
        let Some([_, tenant, project]) = self.known.place.clone() else { return Err(not_a_member()) };
        let (tenant, project) = (TenantId(tenant), ProjectKey(project));
        let place = SealedPlace { tenant: &tenant, project: &project };
        if let KeyWish::Seal = wish {
            if self.is_sealed() {
                let error = CommandError::new(ErrorKind::Failed, "this project is sealed already");
                return Err(error.hint("weir sync says whether this machine is a member, and how to become one"));
            }
            let own = self.expect_sealed()?;
            return Keyring::random().and_then(|ring| ring.grant(place, &[own])).map_err(broken);
        }
        if !self.can_seal() {
            return Err(not_a_member());
        }
        let (members, own) = (&self.known.members, self.own_key());
        match wish {
            KeyWish::Revoke(keys) => {
                if let Some(stranger) = keys.iter().find(|key| !members.contains(key)) {
                    return Err(CommandError::usage(format!("{stranger} is not the key of a member"))
                        .hint("weir sync --json lists the keys of the members"));
                }
                if keys.iter().any(|key| own == Some(*key)) {
                    return Err(CommandError::usage("a machine cannot remove itself from a sealed project")
                        .hint("another member can; weir sync --stop ends the connection of this one"));
                }
                let staying: Vec<MemberKey> = members.iter().filter(|key| !keys.contains(key)).copied().collect();
                self.ring.replace_key(place, &staying).map_err(broken)
            }
            KeyWish::Admit(keys) if members.len() + keys.len() <= MAX_GRANTS => {
                self.ring.grant(place, keys).map_err(broken)
            }
            _ => Err(CommandError::usage(format!("a sealed project has at most {MAX_GRANTS} machines as members"))),
        }
    }

    /// Writes what has changed.
    pub(super) fn save(&mut self) -> Result<(), CommandError> {
        if !std::mem::take(&mut self.has_changed) {
            return Ok(());
        }
        // Without an identity there is nothing to keep.
        let (Some(folder), Some(_)) = (&self.folder, &self.identity) else { return Ok(()) };
        let file = KeyFile {
            identity: self.identity.as_ref().map(|identity| identity.to_text().as_str().to_owned()),
            keys: self.ring.to_texts().iter().map(|text| text.as_str().to_owned()).collect(),
            known: self.known.clone(),
        };
        let failed = |error: std::io::Error| {
            CommandError::new(ErrorKind::Failed, format!("cannot store the keys in {}: {error}", folder.display()))
        };
        let written = serde_json::to_vec(&file).map_err(|error| failed(error.into()))?;
        private::folder(folder).map_err(failed)?;
        let new = folder.join(NEW_KEY_FILE);
        let mut into = private::open(&new, private::options().truncate(true)).map_err(failed)?;
        into.write_all(&written).and_then(|()| into.sync_all()).map_err(failed)?;
        std::fs::rename(&new, folder.join(KEY_FILE)).map_err(failed)
    }

    /// Returns the identity of this machine, which is drawn and stored on first need.
    fn identity(&mut self) -> Result<&Identity, CommandError> {
        if self.identity.is_none() {
            self.identity = Some(Identity::random().map_err(broken)?);
            self.has_changed = true;
            self.save()?;
        }
        self.identity.as_ref().ok_or_else(not_a_member)
    }
}

/// Whether other users of this machine can read a file.
fn is_open_to_others(path: &Path) -> bool {
    path.metadata().is_ok_and(|about| os::is_open_to_others(&about))
}

fn not_a_member() -> CommandError {
    CommandError::new(
        ErrorKind::Denied,
        "this machine does not have the newest key of the project, so it cannot change who has it",
    )
    .hint("a member can: weir sync --admit KEY, with the key that weir sync --key prints here")
}
