//! Several databases behind one address: `weir-server cells` and `weir-server move`, and where they are.
//!
//! Invariant: an address in the directory is read on the machine that uses it, so that `@FILE` keeps passwords out of the
//! directory.

use std::path::PathBuf;
use std::sync::Arc;

use clap::ArgMatches;
use serde_json::{Value, json};
use weir_core::TenantId;
use weir_host::answer::{Answer, counted, one_line};
use weir_host::env::Env;
use weir_host::error::CommandError;
use weir_host::paint;
use weir_records::{ErrorKind, PortError};
use weir_team::{
    AddedCell, Bridge, Cell, CellMovePhase, CellOwner, Cells, Home, HomeState, MovedTenant, PostgresOptions,
    ReadAddress, prepare_directory,
};

use crate::database::{self, ROLE, owner_of};
use crate::failure::failed;

/// A directory, and how the addresses in it are read.
pub(super) struct DirectoryPlace {
    options: PostgresOptions,
    folder: PathBuf,
    /// How many connections each cell may have.
    connections: Option<usize>,
}

impl DirectoryPlace {
    /// Reads `--directory`, if it was given.
    pub(super) fn of(
        env: &Env,
        arguments: &ArgMatches,
        connections: Option<usize>,
    ) -> Result<Option<Self>, CommandError> {
        let Ok(Some(address)) = arguments.try_get_one::<String>("directory") else { return Ok(None) };
        let (options, folder) = (database::options(&env.folder, address)?, env.folder.clone());
        Ok(Some(Self { options, folder, connections }))
    }

    /// Creates what is missing in the database of the directory.
    pub(super) fn prepare(&self) -> Result<Vec<&'static str>, CommandError> {
        let bridge = Bridge::start().map_err(failed)?;
        prepare_directory(&owner_of(&self.options), ROLE, &bridge).map_err(database::refused)
    }

    /// Returns how many connections a cell may have.
    pub(super) fn connections(&self) -> usize {
        self.connections.unwrap_or(self.options.connections)
    }

    pub(super) fn open(&self, bridge: &Bridge) -> Result<Arc<Cells>, CommandError> {
        let cells = Cells::open(&self.options, bridge, self.reader(|options| options)).map_err(database::unprepared)?;
        Ok(Arc::new(cells))
    }

    /// Returns what reads the address of a cell.
    fn reader(&self, change: fn(PostgresOptions) -> PostgresOptions) -> ReadAddress {
        let (folder, connections) = (self.folder.clone(), self.connections);
        Arc::new(move |address: &str| {
            let mut options = database::options(&folder, address).map_err(|error| {
                PortError::new(ErrorKind::Unavailable, "read the address of a cell").because(error.to_string())
            })?;
            options.connections = connections.unwrap_or(options.connections);
            Ok(change(options))
        })
    }

    fn owner<'a>(&self, bridge: &'a Bridge) -> CellOwner<'a> {
        CellOwner {
            directory: owner_of(&self.options),
            bridge,
            program: self.reader(|options| options),
            owner: self.reader(|options| owner_of(&options)),
        }
    }
}

/// Adds a cell, or lists the cells and the tenants in them.
pub(super) fn list(directory: &DirectoryPlace, arguments: &ArgMatches) -> Result<Answer, CommandError> {
    let (bridge, text) = (Bridge::start().map_err(failed)?, |name: &str| arguments.get_one::<String>(name));
    if let (Some(name), Some(address)) = (text("add"), text("database")) {
        return add(directory, &bridge, name, address);
    }
    let cells = directory.open(&bridge)?;
    let (all, homes) = (cells.cells().map_err(failed)?, cells.homes().map_err(failed)?);
    if all.is_empty() {
        let hint = "the directory has no cells; `weir-server cells --add NAME --database URL` adds one";
        return Ok(Answer::nothing(hint.to_owned(), json!({ "cells": [] })));
    }
    let (mut lines, mut data) = (Vec::new(), Vec::new());
    for Cell { name, address, .. } in &all {
        let tenants: Vec<&(TenantId, Home)> = homes.iter().filter(|(_, home)| home.cell == *name).collect();
        // An address that is not that of a file may have a password.
        let shown = if address.starts_with('@') { address.clone() } else { place_of(directory, address) };
        lines.push(format!("{}: {}, {shown}", one_line(name, 80), many(tenants.len() as u64, "tenant", "tenants")));
        lines.extend(tenants.iter().map(|(tenant, home)| {
            format!("  {} generation {}, {}", one_line(&tenant.0, 80), home.generation, state_of(&home.state))
        }));
        let tenants: Vec<Value> = tenants.iter().map(|(tenant, home)| describe(tenant, home)).collect();
        data.push(json!({ "cell": name, "tenants": tenants }));
    }
    Ok(Answer::new(lines.join("\n"), json!({ "cells": data })))
}

fn add(directory: &DirectoryPlace, bridge: &Bridge, name: &str, address: &str) -> Result<Answer, CommandError> {
    let ran = directory.prepare()?;
    if !ran.is_empty() {
        paint::warn(&format!("weir: prepared the directory: {}", ran.join(", ")));
    }
    let AddedCell { ran, tenants, arriving } = directory.owner(bridge).add_cell(name, address, ROLE).map_err(failed)?;
    if !ran.is_empty() {
        paint::warn(&format!("weir: prepared the database: {}", ran.join(", ")));
    }
    let shown = one_line(name, 80);
    let mut lines = vec![format!("added the cell `{shown}` with {}", many(tenants as u64, "tenant", "tenants"))];
    if !arriving.is_empty() {
        let names: Vec<String> = arriving.iter().map(|tenant| one_line(&tenant.0, 80)).collect();
        lines.push(format!(
            "it also has a copy of {}, whose move did not end; only a directory that knows the move can finish it",
            names.join(", ")
        ));
    }
    Ok(Answer::new(lines.join("\n"), json!({ "cell": name, "tenants": tenants })))
}

/// Moves a tenant to another cell, or takes an interrupted move back.
pub(super) fn move_tenant(directory: &DirectoryPlace, arguments: &ArgMatches) -> Result<Answer, CommandError> {
    let (bridge, text) = (Bridge::start().map_err(failed)?, |name: &str| arguments.get_one::<String>(name));
    let tenant = TenantId(text("name").cloned().unwrap_or_default());
    let (owner, shown) = (directory.owner(&bridge), one_line(&tenant.0, 80));
    let Some(to) = text("to") else {
        owner.undo_move(&tenant).map_err(failed)?;
        let text = format!("took the move of `{shown}` back; it is where it was");
        return Ok(Answer::new(text, json!({ "tenant": tenant.0, "moved": false })));
    };
    let tell = |phase: CellMovePhase| match phase {
        CellMovePhase::Copying(records) => paint::show_progress(&format!("copying: record {records}")),
        CellMovePhase::Paused => paint::show_progress("copying the rest, and those who write wait"),
        CellMovePhase::Settled => paint::show_progress("erasing the old copy"),
        _ => {}
    };
    let moved = owner.move_tenant(&tenant, to, &tell);
    paint::show_progress("");
    let MovedTenant { records, passes, pause } = moved.map_err(|error| {
        failed(error)
            .hint("run the command again to finish the move, or with --undo to take it back; see docs/operations.md")
    })?;
    let (to, pause) = (one_line(to, 80), pause.as_millis());
    let text = match passes {
        0 => format!("finished the move of `{shown}` to `{to}`"),
        _ => {
            format!("moved `{shown}` to `{to}`: {}; writing paused for {pause} ms", many(records, "record", "records"))
        }
    };
    Ok(Answer::new(text, json!({ "tenant": tenant.0, "moved": true, "records": records, "pause_ms": pause })))
}

fn place_of(directory: &DirectoryPlace, address: &str) -> String {
    database::options(&directory.folder, address)
        .map_or_else(|_| "an address that cannot be read".to_owned(), |options| options.place())
}

fn state_of(state: &HomeState) -> String {
    match state {
        HomeState::Settled => "settled".to_owned(),
        HomeState::Moving { to } => format!("moving to {}", one_line(to, 80)),
        HomeState::Leaving { from } => format!("settled; its copy in {} is to be erased", one_line(from, 80)),
    }
}

fn describe(tenant: &TenantId, home: &Home) -> Value {
    let (state, other) = match &home.state {
        HomeState::Settled => ("settled", None),
        HomeState::Moving { to } => ("moving", Some(to)),
        HomeState::Leaving { from } => ("leaving", Some(from)),
    };
    json!({ "tenant": tenant.0, "generation": home.generation, "state": state, "other": other })
}

fn many(count: u64, one: &str, more: &str) -> String {
    counted(usize::try_from(count).unwrap_or(usize::MAX), one, more)
}
