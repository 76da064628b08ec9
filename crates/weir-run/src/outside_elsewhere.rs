//! What a run may reach outside, on systems other than Linux: nothing, or the whole network if the user says so.
//! Invariant: allowed hosts and brokered programs are passed on as such, so that the runner refuses the run.

use std::any::Any;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use weir_context::Context;
use weir_host::config;
use weir_host::error::CommandError;
use weir_runner::{Listener, Network};

use super::RunRequest;
pub(super) use weir_host::env::WEIR_BROKER_TOKEN as TOKEN;

/// The first argument that starts this program as a stand-in for a brokered one.
pub const STAND_IN: &str = "broker-call";

pub(super) struct OutsideAccess {
    network: Network,
}

impl OutsideAccess {
    /// Decides it by the configuration.
    pub(super) fn of(context: &Context, _: &RunRequest) -> Result<Self, CommandError> {
        let config = context.config();
        let network = match config.network {
            config::Network::On => Network::Host,
            config::Network::Off if config.run.brokered.is_empty() => Network::Off,
            _ => Network::Listeners,
        };
        Ok(Self { network })
    }

    pub(super) fn network(&self) -> Network {
        self.network
    }

    /// Whether no host can be reached.
    pub(super) fn is_offline(&self) -> bool {
        self.network == Network::Off
    }

    /// Returns false: there is no proxy.
    pub(super) fn has_proxy(&self) -> bool {
        false
    }

    /// Returns false: no program stands for another.
    pub(super) fn has_stand_ins(&self) -> bool {
        false
    }

    /// Returns false: code cannot call tools.
    pub(super) fn has_tools(&self) -> bool {
        false
    }

    /// Returns nothing: no program is brokered.
    pub(super) fn stand_ins(&self, _: &Path) -> Vec<(PathBuf, Vec<u8>)> {
        Vec::new()
    }

    /// Returns `None`: no run has a grant.
    pub(super) fn token(&self) -> Option<String> {
        None
    }

    pub(super) fn serve(&self, _: Vec<Listener>) -> Box<dyn Any> {
        Box::new(())
    }
}

/// Refuses: no program is brokered.
pub fn stand_in(_: &[OsString]) -> ExitCode {
    ExitCode::from(126)
}
