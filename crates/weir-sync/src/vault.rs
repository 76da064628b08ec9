//! The keys of a sealed project on this machine, and who its members are. Invariants: the file is its owner's alone,
//! lies beside `team.db`, and is in no backup and no upload; once this machine knows that the project is sealed, it
//! never takes it for open again; what it knows of members comes from the log alone, only grows, and is not forgotten
//! because a server has lost it.

mod wishes;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use weir_core::{ProjectKey, TenantId};
use weir_host::error::{CommandError, ErrorKind};
use weir_host::foreign;
use weir_host::os;
use weir_records::Record;
use weir_records::sealed::{
    ChangeId, Identity, KeyGrants, KeyId, Keyring, Learned, Member, MemberKey, OpenedEntry, Roster, SealedPlace,
};
use weir_store::{TeamConnection, private};

pub use self::wishes::KeyWish;
use self::wishes::not_a_member;
use super::outbox::broken;

/// The file with the keys, and the one that takes its place once it is complete.
const KEY_FILE: &str = "team.key";
const NEW_KEY_FILE: &str = "team.key.new";
/// The largest such file, in bytes.
const MAX_KEY_FILE_BYTES: u64 = 64 << 20;

/// What this machine knows of the keys of a project.
#[derive(Default)]
pub struct Vault {
    /// Where it is written. What has no place stays in memory.
    folder: Option<PathBuf>,
    /// The user of this machine on the server.
    user: String,
    identity: Option<Identity>,
    ring: Keyring,
    roster: Roster,
    known: Known,
    /// Where the record is from which this machine has just learned of the seal.
    learned_at: Option<u64>,
    /// The changes that were read from the server since this was created, or since its log was put back.
    seen: BTreeSet<ChangeId>,
    has_changed: bool,
}

/// What is known besides keys and members.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct Known {
    /// The project that the keys belong to: its server, tenant and name.
    place: Option<[String; 3]>,
    /// Whether the log says that the project is sealed.
    is_sealed: bool,
    /// Whether the user has said that the project is or will be sealed.
    is_expected: bool,
    /// Whether the log has to be read from its beginning, because there are keys for what could not be read.
    must_read_again: bool,
    /// Whether the server's log was put back, and may lack changes that this machine has seen.
    must_compare: bool,
}

#[derive(Serialize, Deserialize)]
struct KeyFile {
    identity: Option<String>,
    keys: Vec<String>,
    changes: Vec<KeyGrants>,
    #[serde(flatten)]
    known: Known,
}

/// What a plan of what to send depends on. If it changes, there is something else to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SealState {
    is_restricted: bool,
    newest: Option<KeyId>,
    can_seal: bool,
    changes: usize,
}

/// A machine that became a member, or is none any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemberNews {
    pub member: Member,
    pub is_member: bool,
    /// The user of the machine that made the change.
    pub by: String,
}

/// What following a record with keys came to.
#[derive(Default)]
pub(super) struct Followed {
    /// Whether a member wrote it, as far as this machine can tell.
    pub(super) is_proven: bool,
    /// Whether this machine may be able to read more than before.
    pub(super) opens_more: bool,
    pub(super) news: Vec<MemberNews>,
}

impl Vault {
    /// Reads the keys beside the log of the store in `folder`. There are none without a file.
    pub fn read(folder: &Path) -> Result<Self, CommandError> {
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
        let mut vault = Self { identity, ring, known: file.known, ..empty };
        if let Some((tenant, project)) = vault.place() {
            let place = SealedPlace { tenant: &tenant, project: &project };
            for change in &file.changes {
                let learned = vault.roster.learn(place, change).map_err(|error| failed(error.to_string()))?;
                if learned == Learned::Unproven {
                    return Err(failed("a change of members in it is by nobody who was one".to_owned()));
                }
            }
        }
        Ok(vault)
    }

    /// Uses the keys for the project of a connection. Keys of another project are dropped, and the identity stays.
    pub fn at(mut self, connection: &TeamConnection) -> Self {
        self.user.clone_from(&connection.user);
        let place = [&connection.server, &connection.tenant, &connection.project].map(String::clone);
        if self.known.place.as_ref() == Some(&place) {
            return self;
        }
        let is_expected = self.known.is_expected && self.known.place.is_none();
        (self.ring, self.roster) = (Keyring::default(), Roster::default());
        self.known = Known { place: Some(place), is_expected, ..Known::default() };
        self.has_changed = true;
        self
    }

    /// Writes nothing from now on.
    pub fn in_memory(self) -> Self {
        Self { folder: None, ..self }
    }

    /// Returns the key of this machine, which is made if there is none, or if the one that it had was removed. The
    /// project counts as sealed from now on: who asks for the key wants nothing to leave in clear.
    pub fn expect_sealed(&mut self) -> Result<MemberKey, CommandError> {
        self.known.is_expected = true;
        self.has_changed = true;
        if self.own_key().is_some_and(|key| self.roster.has_removed(key)) {
            self.identity = None;
        }
        let key = self.identity()?.public();
        self.save()?;
        Ok(key)
    }

    /// Takes back that a project is expected to be sealed. One that is sealed stays so.
    pub fn expect_nothing(&mut self) -> Result<(), CommandError> {
        if self.known.is_expected {
            self.known.is_expected = false;
            self.has_changed = true;
        }
        self.save()
    }

    /// Whether no entry may leave in clear.
    pub fn is_restricted(&self) -> bool {
        self.is_sealed() || self.known.is_expected
    }

    /// Whether the log says that the project is sealed.
    pub fn is_sealed(&self) -> bool {
        self.known.is_sealed
    }

    /// Whether this machine is a member and has the data key that all members have.
    pub fn can_seal(&self) -> bool {
        self.is_member() && self.roster.current_key().is_some_and(|key| self.ring.has(key))
    }

    /// Whether this machine was a member and is none any more.
    pub fn is_left_out(&self) -> bool {
        !self.ring.is_empty() && !self.is_member()
    }

    /// Whether the key of this machine was removed, so that it needs another one.
    pub fn is_removed(&self) -> bool {
        self.own_key().is_some_and(|key| self.roster.has_removed(key))
    }

    /// Returns what all members compare.
    pub fn fingerprint(&self) -> Option<String> {
        self.roster.first().map(|first| first.fingerprint())
    }

    pub fn members(&self) -> Vec<Member> {
        self.roster.members().collect()
    }

    pub fn own_key(&self) -> Option<MemberKey> {
        self.identity.as_ref().map(Identity::public)
    }

    pub(super) fn state(&self) -> SealState {
        SealState {
            is_restricted: self.is_restricted(),
            newest: self.roster.current_key(),
            can_seal: self.can_seal(),
            changes: self.roster.changes().len(),
        }
    }

    pub(super) fn seal(&self, record: &Record, text: &str) -> Result<Record, CommandError> {
        let (Some(key), Some(identity)) = (self.roster.current_key(), &self.identity) else {
            return Err(not_a_member());
        };
        self.ring.seal(key, identity, record, text).map_err(broken)
    }

    /// Opens a record, if this machine can, and a machine of its author has signed it.
    pub(super) fn open(&self, record: &Record) -> Option<OpenedEntry> {
        let (opened, by) = self.ring.open(record).ok()?;
        (self.roster.user_of(by) == Some(&record.author.user.0)).then_some(opened)
    }

    /// Whether a key or a change that is still to come may open a sealed record.
    pub(super) fn is_locked(&self, record: &Record, key: KeyId) -> bool {
        let is_unknown = |by| self.roster.user_of(by).is_none();
        !self.ring.has(key) || self.ring.open(record).is_ok_and(|(_, by)| is_unknown(by))
    }

    /// Whether an entry in clear is taken that is not here yet: not once this machine knows of the seal. When it
    /// learns of that, it has the word of the server for what came before.
    pub(super) fn takes_in_clear(&self, position: u64) -> bool {
        !self.known.is_sealed || self.learned_at.is_some_and(|sealed_at| position < sealed_at)
    }

    pub(super) fn follow(&mut self, record: &Record, grants: &KeyGrants, at: u64) -> Result<Followed, CommandError> {
        if !self.known.is_sealed {
            (self.known.is_sealed, self.learned_at, self.has_changed) = (true, Some(at), true);
        }
        self.identity()?;
        let place = SealedPlace { tenant: &record.tenant, project: &record.project };
        self.seen.insert(grants.id(place).map_err(broken)?);
        let before: BTreeMap<MemberKey, Member> = self.members_by_key();
        let new = match self.roster.learn(place, grants).map_err(broken)? {
            Learned::Known => return Ok(Followed { is_proven: true, ..Followed::default() }),
            Learned::Unproven => return Ok(Followed::default()),
            Learned::Waiting => Vec::new(),
            Learned::New(new) => new,
        };
        self.has_changed = true;
        for change in new.iter().filter_map(|id| self.roster.get(*id)) {
            if let Some(identity) = &self.identity
                && let Some(ring) = self.ring.extended_by(identity, place, change).map_err(broken)?
            {
                self.ring = ring;
            }
        }
        let news = self.news_since(&before, &new);
        Ok(Followed { is_proven: true, opens_more: !new.is_empty(), news })
    }

    fn news_since(&self, before: &BTreeMap<MemberKey, Member>, new: &[ChangeId]) -> Vec<MemberNews> {
        let after = self.members_by_key();
        let by = new.iter().filter_map(|id| self.roster.get(*id)).map(|change| change.by).next_back();
        let Some(by) = by.filter(|by| self.own_key() != Some(*by)) else { return Vec::new() };
        let by = self.roster.user_of(by).unwrap_or_default();
        let news = |member: &Member, is_member| MemberNews { member: member.clone(), is_member, by: by.to_owned() };
        let joined = after.iter().filter(|(key, _)| !before.contains_key(key)).map(|(_, one)| news(one, true));
        let left = before.iter().filter(|(key, _)| !after.contains_key(key)).map(|(_, one)| news(one, false));
        joined.chain(left).collect()
    }

    fn members_by_key(&self) -> BTreeMap<MemberKey, Member> {
        self.roster.members().map(|member| (member.key, member)).collect()
    }

    /// Has the log read from its beginning.
    pub(super) fn read_again(&mut self) {
        (self.known.must_read_again, self.has_changed) = (true, true);
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

    /// Notes that the log was put back to an older state, where other records are at the same positions. What this
    /// machine knows of the seal and of the members stays.
    pub(super) fn has_been_put_back(&mut self) {
        self.learned_at = None;
        self.seen.clear();
        (self.known.must_compare, self.has_changed) = (true, true);
    }

    /// Returns the changes that a server has lost, once its log was put back and was read to its end.
    pub(super) fn lost(&mut self) -> Vec<KeyGrants> {
        if !std::mem::take(&mut self.known.must_compare) {
            return Vec::new();
        }
        self.has_changed = true;
        let changes = self.roster.changes().into_iter();
        changes.filter(|(id, _)| !self.seen.contains(id)).map(|(_, change)| change.clone()).collect()
    }

    fn place(&self) -> Option<(TenantId, ProjectKey)> {
        let [_, tenant, project] = self.known.place.clone()?;
        Some((TenantId(tenant), ProjectKey(project)))
    }

    fn is_member(&self) -> bool {
        self.own_key().is_some_and(|key| self.roster.has(key))
    }

    pub(super) fn save(&mut self) -> Result<(), CommandError> {
        if !std::mem::take(&mut self.has_changed) {
            return Ok(());
        }
        // Without an identity there is nothing to keep.
        let (Some(folder), Some(_)) = (&self.folder, &self.identity) else { return Ok(()) };
        let file = KeyFile {
            identity: self.identity.as_ref().map(|identity| identity.to_text().as_str().to_owned()),
            keys: self.ring.to_texts().iter().map(|text| text.as_str().to_owned()).collect(),
            changes: self.roster.changes().into_iter().map(|(_, change)| change.clone()).collect(),
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
