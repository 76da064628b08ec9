//! Records: what may leave a machine.
//!
//! Invariants: a record never changes. What is superseded, confirmed or removed is so because a later record says it.
//! Equal records have equal JSON, byte for byte. A record of a newer format, or with a field that this version does not
//! know, is refused as a whole: dropping the field would lose it silently, and the sender still has the record.

use serde::{Deserialize, Serialize};
use weir_core::note::BoundFile;
use weir_core::{EntryKind, Level, NoteKind, Origin, ProjectKey, Reference, Scope, TenantId, UserId, WhyGone};

use crate::clock::LogicalTime;
use crate::error::{ErrorKind, PortError, Result};
use crate::id::{RecordId, TextKey};
use crate::sealed::{GRANTS, KeyGrants, MAX_GRANTS, SealedEntry};
use crate::written;

/// The newest format of JSON that this version writes and reads. A record is written in the oldest format that has its
/// body, so that older versions read what they know.
pub const FORMAT: u64 = 3;
/// The format that has sealed bodies, and removals by authors only.
const SEALED_FORMAT: u64 = 2;
/// The format that has no sealed bodies.
const CLEAR_FORMAT: u64 = 1;
/// Maximum size of the JSON of a record. What is longer belongs in its text.
const MAX_JSON_BYTES: usize = 256 << 10;
/// Maximum size of the JSON of a sealed record, which has the text in it.
const MAX_SEALED_JSON_BYTES: usize = 2 << 20;

weir_core::written_enum! {
    /// Who sees a record besides its author.
    pub enum Audience {
        /// Nobody: the author alone, on all of their machines.
        Author = "author",
        /// Every user of the tenant who has the project.
        Team = "team",
    }
}

/// Who wrote a record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Author {
    pub user: UserId,
    /// The client that they used, such as `claude-code`; empty if there was none.
    pub client: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// Its identity on every machine.
    pub id: RecordId,
    /// Its place in the order that people are shown.
    pub time: LogicalTime,
    pub tenant: TenantId,
    pub project: ProjectKey,
    /// Who wrote it.
    pub author: Author,
    /// Who sees it.
    #[serde(with = "written::word")]
    pub audience: Audience,
    pub body: Body,
}

/// What a record says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Body {
    Kept(Box<Kept>),
    /// A newer record took the place of an older one.
    Superseded {
        /// The older record.
        old: RecordId,
        /// The newer record.
        by: RecordId,
    },
    Confirmed {
        record: RecordId,
        /// The user, who is the author of this record.
        by: UserId,
    },
    /// A record was removed. Its content is erased from every port.
    Removed {
        record: RecordId,
        #[serde(with = "written::word")]
        why: WhyGone,
        /// Whether an admin of the tenant removed it, who need not be its author. Only a server writes this.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        as_admin: bool,
    },
    /// An entry was kept that only the members of the project can read.
    Sealed(Box<SealedEntry>),
    /// Members were given the keys of the project, which is sealed from here on.
    Granted(Box<KeyGrants>),
}

/// An entry, without its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kept {
    /// The handle of the entry. Drawn by each machine on its own, so that two records may share one.
    #[serde(with = "written::reference")]
    pub reference: Reference,
    #[serde(with = "written::word")]
    pub kind: EntryKind,
    /// Who wrote the text.
    #[serde(with = "written::word")]
    pub origin: Origin,
    pub title: String,
    /// Where the text came from: a path, a URL, a command.
    pub source: Option<String>,
    pub note: Option<NoteFields>,
    pub text: TextKey,
    pub bytes: u64,
}

/// The fields of a note that are the same on every machine. What it supersedes and who confirmed it are records.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoteFields {
    #[serde(with = "written::word")]
    pub kind: NoteKind,
    pub topic: Option<String>,
    pub files: Vec<NoteFile>,
    pub commit: Option<String>,
    pub branch: Option<String>,
}

/// A file with the content it had when a note was made about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoteFile {
    /// The path, relative to the project.
    pub path: String,
    /// The BLAKE3 hash of its content, in hexadecimal.
    pub hash: String,
}

impl From<BoundFile> for NoteFile {
    fn from(file: BoundFile) -> Self {
        Self { path: file.path, hash: file.hash }
    }
}

/// By whose right a record is removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remover<'a> {
    /// A user, who may remove what they wrote.
    Author(&'a UserId),
    /// An admin of the tenant, or the operator of its server.
    Admin,
}

impl Body {
    /// Creates the removal of a record by its author, who asked for it.
    pub fn forgets(record: RecordId) -> Self {
        Self::Removed { record, why: WhyGone::Forgotten, as_admin: false }
    }

    pub fn about(&self) -> Option<RecordId> {
        match self {
            Self::Kept(_) | Self::Sealed(_) => None,
            Self::Granted(_) => Some(GRANTS),
            Self::Superseded { old, .. } => Some(*old),
            Self::Confirmed { record, .. } | Self::Removed { record, .. } => Some(*record),
        }
    }

    /// Returns what it removes, if it is a removal, and how the audit calls that.
    pub fn removal(&self) -> Option<(&'static str, RecordId)> {
        match self {
            Self::Removed { record, as_admin: true, .. } => Some(("remove as admin", *record)),
            Self::Removed { record, .. } => Some(("remove", *record)),
            _ => None,
        }
    }

    /// Returns the format of its JSON, and how large that may be, in bytes.
    fn written_form(&self) -> (u64, usize) {
        match self {
            Self::Sealed(_) | Self::Granted(_) => (SEALED_FORMAT, MAX_SEALED_JSON_BYTES),
            Self::Removed { as_admin: true, .. } => (FORMAT, MAX_JSON_BYTES),
            _ => (CLEAR_FORMAT, MAX_JSON_BYTES),
        }
    }

    /// Returns the entry, if the record keeps one in clear.
    pub fn kept(&self) -> Option<&Kept> {
        match self {
            Self::Kept(kept) => Some(kept),
            _ => None,
        }
    }
}

impl Record {
    pub fn topic(&self) -> Option<&str> {
        self.body.kept()?.note.as_ref()?.topic.as_deref()
    }

    /// Returns how many bytes the record counts for, if this is its JSON: those of the JSON and of its text.
    pub fn stored_bytes(&self, json: &str) -> u64 {
        (json.len() as u64).saturating_add(self.body.kept().map_or(0, |kept| kept.bytes))
    }

    /// Returns whether the record is visible in a scope. Every backend's filter is tested against this rule.
    pub fn is_visible(&self, scope: &Scope) -> bool {
        match self.audience {
            Audience::Author => scope.sees(Level::Project, &self.origin()),
            Audience::Team => scope.tenant == self.tenant && scope.project == self.project,
        }
    }

    /// Checks that the record may be appended in a scope: that it belongs there, and that it makes sense.
    pub fn check(&self, scope: &Scope) -> Result<()> {
        let refused = |kind| PortError::new(kind, format!("append record {}", self.id));
        if !self.is_visible(scope) {
            return Err(refused(ErrorKind::OutOfScope));
        }
        let wrong = match &self.body {
            _ if self.id.index > RecordId::MAX_INDEX => "its index is too large",
            body if body.about() == Some(self.id) => "it is about itself",
            // Any number of others about the keys of a project would hide those that grant them.
            body if body.about() == Some(GRANTS) && !matches!(body, Body::Granted(_)) => {
                "it is about the keys of the project and grants none"
            }
            Body::Superseded { old, by } if old == by => "a record cannot supersede itself",
            Body::Superseded { by, .. } if *by == self.id => "it names itself as the newer record",
            Body::Confirmed { by, .. } if *by != self.author.user => "it confirms in the name of another user",
            Body::Granted(_) if self.audience != Audience::Team => "it grants keys that the team does not see",
            Body::Granted(granted) if !(1..=MAX_GRANTS).contains(&granted.grants.len()) => {
                "it grants keys to nobody, or to too many"
            }
            _ => return Ok(()),
        };
        Err(refused(ErrorKind::Invalid).because(wrong))
    }

    /// Checks that this record may be removed: by its author, or by an admin. A removal is not removed, or machines that
    /// have not seen it yet would never learn of it.
    pub fn check_removable(&self, by: Remover<'_>) -> Result<()> {
        let refused = |kind| PortError::new(kind, format!("remove record {}", self.id));
        if matches!(by, Remover::Author(user) if self.author.user != *user) {
            return Err(refused(ErrorKind::NotAuthor));
        }
        if matches!(self.body, Body::Removed { .. }) {
            return Err(refused(ErrorKind::Invalid).because("it is a removal itself"));
        }
        if matches!(self.body, Body::Granted(_)) {
            return Err(refused(ErrorKind::Invalid).because("a project that is sealed stays sealed"));
        }
        Ok(())
    }

    /// Checks that the record may follow these records of its project, which are about [`GRANTS`]. A sealed project
    /// takes no entry in clear. Every backend asks this in the transaction that appends.
    pub fn check_sealed<'a>(&self, about_grants: impl IntoIterator<Item = &'a Record>) -> Result<()> {
        let is_sealed = || about_grants.into_iter().any(|earlier| matches!(earlier.body, Body::Granted(_)));
        if self.body.kept().is_some() && is_sealed() {
            let error = PortError::new(ErrorKind::Sealed, format!("append record {}", self.id));
            return Err(error.because("run `weir sync` of a version that can seal it"));
        }
        Ok(())
    }

    pub(crate) fn check_size(&self) -> Result<()> {
        let (_, most) = self.body.written_form();
        if self.to_json()?.len() <= most {
            return Ok(());
        }
        Err(PortError::new(ErrorKind::Invalid, format!("take in record {}", self.id)).because("it is too long"))
    }

    /// Returns by whose right this record, a removal, removes another.
    pub fn remover(&self) -> Remover<'_> {
        match self.body {
            Body::Removed { as_admin: true, .. } => Remover::Admin,
            _ => Remover::Author(&self.author.user),
        }
    }

    /// Checks that this record, a removal, may erase `target`. Those who saw the target must hear of it.
    pub fn check_removal_of(&self, target: &Record) -> Result<()> {
        target.check_removable(self.remover())?;
        if target.audience != self.audience {
            let error = PortError::new(ErrorKind::Invalid, format!("remove record {}", target.id));
            return Err(error.because("the removal has another audience than the record"));
        }
        Ok(())
    }

    /// Returns whether this record, a removal that came first, erases `target` when that arrives. Only an author's can
    /// come first: an admin removes what they see.
    pub fn erases_on_arrival(&self, target: &Record) -> bool {
        let is_removal = matches!(&self.body, Body::Removed { record, .. } if *record == target.id);
        let can_go = !matches!(target.body, Body::Removed { .. } | Body::Granted(_));
        is_removal && self.author.user == target.author.user && can_go
    }

    /// Returns the record as JSON, of the oldest format that has its body.
    pub fn to_json(&self) -> Result<String> {
        #[derive(Serialize)]
        struct WithFormat<'a> {
            format: u64,
            #[serde(flatten)]
            record: &'a Record,
        }
        let (format, _) = self.body.written_form();
        serde_json::to_string(&WithFormat { format, record: self })
            .map_err(|error| PortError::new(ErrorKind::Invalid, format!("write record {}", self.id)).because(error))
    }

    pub fn from_json(json: &str) -> Result<Self> {
        let invalid = |error| PortError::new(ErrorKind::Invalid, READ).because(error);
        Self::from_value(serde_json::from_str(json).map_err(invalid)?)
    }

    /// Reads a record from parsed JSON, such as one of a list.
    pub fn from_value(mut value: serde_json::Value) -> Result<Self> {
        let format = value.as_object_mut().and_then(|fields| fields.shift_remove("format"));
        match format.as_ref().and_then(serde_json::Value::as_u64) {
            Some(CLEAR_FORMAT..=FORMAT) => {}
            Some(newer) if newer > FORMAT => {
                let reason = format!("it has format {newer}, and this version reads up to {FORMAT}; update Weir");
                return Err(PortError::new(ErrorKind::Newer, READ).because(reason));
            }
            _ => return Err(PortError::new(ErrorKind::Invalid, READ).because("it does not say its format")),
        }
        let record: Self =
            serde_json::from_value(value).map_err(|error| PortError::new(ErrorKind::Invalid, READ).because(error))?;
        let (written, _) = record.body.written_form();
        // A record has one written form.
        if format.and_then(|format| format.as_u64()) == Some(written) {
            return Ok(record);
        }
        Err(PortError::new(ErrorKind::Invalid, READ).because("it has another format than its body"))
    }

    /// Returns the scope in which the record was made, without work and session.
    fn origin(&self) -> Scope {
        let (tenant, user) = (self.tenant.clone(), self.author.user.clone());
        Scope { tenant, user, ..Scope::project(self.project.clone()) }
    }
}

const READ: &str = "read a record";

#[cfg(test)]
mod tests;
