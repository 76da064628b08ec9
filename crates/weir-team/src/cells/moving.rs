//! Moves a tenant to another cell while its users go on, and adds cells: what the operator does.
//!
//! A move copies what is there while others write, until little is left. Then it pauses those who write, copies the rest,
//! compares both sides, and lets the tenant leave its cell, all in one transaction, which ends with its connection. Until
//! the directory has switched and the new cell answers, calls wait. In the end, what the tenant left behind is erased.
//!
//! Invariants: of two cells that have rows of a tenant, at most one lets it write; a move that was interrupted anywhere is
//! finished by the same call, or taken back until the directory has switched; a move that another one has overtaken changes
//! nothing, because each step names the move. Records keep their positions, so that the cursors of clients stay valid.

use std::thread::ScopedJoinHandle;
use std::time::{Duration, Instant};

use weir_core::TenantId;
use weir_records::moving::{CopiedTenant, Export as _, MoveTarget, TenantSource, copy_tenant};
use weir_records::{ErrorKind, PortError, Result};

use super::directory::operator::OwnedDirectory;
use super::directory::{Home, HomeState};
use super::{ReadAddress, open_cell, pause};
use crate::bridge::Bridge;
use crate::log::presence::{Beginning, MoveStep, OwnedCell, Part, Presence};
use crate::log::{PostgresLog, PostgresOptions, migrate};

/// A pass that copies so few records is the last one while others write.
const FEW_RECORDS: u64 = 200;
/// How many passes are made at most while others write.
const MAX_PASSES: usize = 10;
/// How often the beginning is compared before the rest.
const MAX_COMPARISONS: usize = 5;
/// How often those who write are paused, if a pause was too short or somebody did not let go in time.
const MAX_PAUSES: usize = 10;
/// How long a step waits before it is tried again.
const PAUSE: Duration = Duration::from_millis(200);
/// How long the directory may be away at the moment of the switch.
const MAX_SWITCH_WAIT: Duration = Duration::from_secs(10);

/// The directory and the cells, for their owner.
pub struct CellOwner<'a> {
    /// The directory.
    pub directory: PostgresOptions,
    pub bridge: &'a Bridge,
    /// Reads the address of a cell, for the role of the program.
    pub program: ReadAddress,
    /// Reads the address of a cell, for the role that owns its database.
    pub owner: ReadAddress,
}

/// What a move is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CellMovePhase {
    /// It copies while others write, and has so many records.
    Copying(u64),
    /// It has paused those who write.
    Paused,
    /// Both sides are the same.
    Compared,
    /// The old cell has let the tenant go, and the directory is to say so.
    Left,
    /// The directory says that the tenant is in the new cell.
    Switched,
    /// The new cell answers.
    Settled,
    /// The old cell has nothing of the tenant any more.
    Erased,
}

/// A tenant that was moved.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MovedTenant {
    /// Its records, erased ones too; 0 if an earlier call has copied them.
    pub records: u64,
    /// How often it was copied, the last time without others who write.
    pub passes: usize,
    /// How long those who write were paused; zero if the earlier call did.
    pub pause: Duration,
}

/// A cell that was added.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AddedCell {
    /// The names of the migrations that ran.
    pub ran: Vec<&'static str>,
    /// How many tenants were there already.
    pub tenants: usize,
    /// Tenants whose move to this database did not end. The directory does not know them from here.
    pub arriving: Vec<TenantId>,
}

impl CellOwner<'_> {
    /// Prepares a database and adds it to the directory, with the tenants that it has. A cell that is known gets the new
    /// address. A tenant that is in another cell already is refused.
    pub fn add_cell(&self, name: &str, address: &str, role: &str) -> Result<AddedCell> {
        let options = (self.owner)(address)?;
        let ran = migrate(&options, role, self.bridge)?;
        let cell = OwnedCell { options, bridge: self.bridge };
        cell.refuse_older_servers()?;
        let found = cell.inhabitants()?;
        self.owned_directory().add_cell(name, address, &found)?;
        Ok(AddedCell { ran, tenants: found.tenants.len(), arriving: found.arriving })
    }

    /// Moves a tenant to another cell, or goes on with a move to it that was interrupted.
    pub fn move_tenant(&self, tenant: &TenantId, to: &str, tell: &dyn Fn(CellMovePhase)) -> Result<MovedTenant> {
        let directory = self.owned_directory();
        let Home { cell, generation, state } = directory.begin_move(tenant, to)?;
        let (step, target) = (MoveStep { tenant, generation }, self.owned(to)?);
        let (from, brought) = match state {
            HomeState::Leaving { from } => (from, Brought::default()),
            HomeState::Moving { .. } | HomeState::Settled => {
                let brought = self.bring(&cell, to, step, tell)?;
                tell(CellMovePhase::Left);
                switch(&directory, step)?;
                tell(CellMovePhase::Switched);
                (cell, brought)
            }
        };
        target.settle(step, &format!("from {from} to {to}"))?;
        let pause = brought.paused_at.map(|at| at.elapsed()).unwrap_or_default();
        tell(CellMovePhase::Settled);
        self.owned(&from)?.erase_left(step)?;
        tell(CellMovePhase::Erased);
        directory.end(tenant, generation, "leaving")?;
        Ok(MovedTenant { records: brought.records, passes: brought.passes, pause })
    }

    /// Takes back a move that was interrupted before the directory had switched: the tenant stays where it was.
    pub fn undo_move(&self, tenant: &TenantId) -> Result<()> {
        let directory = self.owned_directory();
        let Home { cell, generation, state } = directory.begin_undo(tenant)?;
        let step = MoveStep { tenant, generation };
        self.owned(&cell)?.stay(step)?;
        if let HomeState::Moving { to } = state {
            self.owned(&to)?.erase_left(step)?;
        }
        directory.end(tenant, generation, "moving")
    }

    /// Copies a tenant to another cell, and lets it leave its own.
    fn bring(&self, from: &str, to: &str, step: MoveStep<'_>, tell: &dyn Fn(CellMovePhase)) -> Result<Brought> {
        let (source, target) = (self.owned(from)?, self.owned(to)?);
        if source.presence(step.tenant)? == Presence::Left {
            compare([&source, &target], step.tenant, Part::Rest, &Beginning::default())?;
            return Ok(Brought::default());
        }
        target.arrive(step)?;
        let here = open_cell(&(self.program)(&self.address(from)?)?, self.bridge)?;
        let mut arriving = (self.program)(&self.address(to)?)?;
        arriving.moving = Some(step.generation);
        let there = open_cell(&arriving, self.bridge)?;
        let copy = || copy(&here, &there, step.tenant, tell);
        let mut brought = Brought::default();
        brought.passes += copy_most(&copy)?;
        let beginning = compared_beginning([&source, &target], &there, step.tenant, &copy)?;
        brought.passes += copy_most(&copy)?;
        let mut attempts = 0;
        loop {
            attempts += 1;
            let paused_at = Instant::now();
            let left = source.pause(step).and_then(|paused| {
                tell(CellMovePhase::Paused);
                // Without a pause, an earlier call has let it go meanwhile.
                let there = paused.as_ref().map(|_| copy()).transpose()?.unwrap_or_default().there;
                compare([&source, &target], step.tenant, Part::Rest, &beginning)?;
                tell(CellMovePhase::Compared);
                paused.map_or(Ok(()), |paused| paused.leave(step)).map(|()| there)
            });
            match left {
                Ok(records) => {
                    let passes = brought.passes + 1;
                    return Ok(Brought { records, passes, paused_at: Some(paused_at) });
                }
                Err(error) if attempts < MAX_PAUSES && error.kind.may_pass() => {
                    pause(PAUSE);
                    copy()?;
                    brought.passes += 1;
                }
                Err(error) => return Err(error),
            }
        }
    }

    fn owned_directory(&self) -> OwnedDirectory<'_> {
        OwnedDirectory { options: &self.directory, bridge: self.bridge }
    }

    fn address(&self, cell: &str) -> Result<String> {
        self.owned_directory().address(cell)
    }

    fn owned(&self, cell: &str) -> Result<OwnedCell<'_>> {
        Ok(OwnedCell { options: (self.owner)(&self.address(cell)?)?, bridge: self.bridge })
    }
}

/// A tenant that has left its cell.
#[derive(Default)]
struct Brought {
    records: u64,
    passes: usize,
    paused_at: Option<Instant>,
}

/// Copies what the new cell does not have. The texts that are not in rows stay where they are, because all cells share their
/// place.
fn copy(
    here: &PostgresLog,
    there: &PostgresLog,
    tenant: &TenantId,
    tell: &dyn Fn(CellMovePhase),
) -> Result<CopiedTenant> {
    let (accounts, new_accounts) = (here.accounts(), there.accounts());
    let source = TenantSource { records: here, log: here, accounts: &accounts, blobs: None };
    let target = MoveTarget { records: there, log: there, accounts: &new_accounts, blobs: None, place: "the new cell" };
    copy_tenant(&source, &target, tenant, &|records| tell(CellMovePhase::Copying(records)))
}

/// Copies until little is left, and returns how often.
fn copy_most(copy: &dyn Fn() -> Result<CopiedTenant>) -> Result<usize> {
    for passes in 1..MAX_PASSES {
        if copy()?.copied <= FEW_RECORDS {
            return Ok(passes);
        }
    }
    Ok(MAX_PASSES)
}

/// Compares what was copied by now, so that little is left to compare while those who write are paused. A removal meanwhile
/// makes both sides differ for a moment. If it never stops, everything is compared in the pause.
fn compared_beginning(
    cells: [&OwnedCell<'_>; 2],
    there: &PostgresLog,
    tenant: &TenantId,
    copy: &dyn Fn() -> Result<CopiedTenant>,
) -> Result<Beginning> {
    for _ in 0..MAX_COMPARISONS {
        let beginning = Beginning { heads: there.heads_of(tenant)?, audit_rows: there.audit_count(tenant)? };
        match compare(cells, tenant, Part::Beginning, &beginning) {
            Err(error) if error.kind == ErrorKind::Damaged => drop(copy()?),
            other => return other.map(|()| beginning),
        }
    }
    Ok(Beginning::default())
}

/// Compares what the old and the new cell have of a tenant.
fn compare(cells: [&OwnedCell<'_>; 2], tenant: &TenantId, part: Part, beginning: &Beginning) -> Result<()> {
    let [here, there] = std::thread::scope(|threads| {
        let sides = cells.map(|cell| threads.spawn(move || cell.describe(tenant, part, beginning)));
        let join = |side: ScopedJoinHandle<'_, _>| side.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        sides.map(join)
    });
    let (here, there) = (here?, there?);
    let differs = here.iter().zip(&there).find(|(here, there)| here != there);
    let reason = match differs {
        None if here.len() == there.len() => return Ok(()),
        None => "the new cell has other projects".to_owned(),
        Some((here, there)) => format!("the old cell has {here}; the new one has {there}"),
    };
    Err(PortError::new(ErrorKind::Damaged, "compare both sides of the move").because(reason))
}

/// Says in the directory that a tenant is in its new cell. Nobody answers for it until then, so this is tried for a while.
fn switch(directory: &OwnedDirectory<'_>, step: MoveStep<'_>) -> Result<()> {
    let until = Instant::now() + MAX_SWITCH_WAIT;
    loop {
        match directory.switch(step.tenant, step.generation) {
            Err(error) if error.kind == ErrorKind::Unavailable && Instant::now() < until => pause(PAUSE),
            other => return other,
        }
    }
}
