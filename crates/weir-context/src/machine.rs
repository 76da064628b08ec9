//! Where a call acts: the environment, the folders, the project and its configuration, and the runs in progress.

use std::path::PathBuf;

use weir_host::config::{self, Config};
use weir_host::env::{Env, Paths};
use weir_host::error::{CommandError, ErrorKind};
use weir_host::project::Project;
use weir_host::trust;

use crate::active_runs::ActiveRuns;

/// The machine that a call acts on, seen from the folder of the call.
pub struct Machine {
    pub env: Env,
    /// The paths of Weir's data, configuration and cache.
    pub paths: Paths,
    pub project: Project,
    pub config: Config,
    /// Why the configuration cannot be used, if the call goes on with the defaults nevertheless.
    pub config_problem: Option<CommandError>,
    pub running: ActiveRuns,
}

impl Machine {
    pub(super) fn new(env: &Env) -> Result<Self, CommandError> {
        let machine = Self::despite_config(env)?;
        machine.config_problem.clone().map_or(Ok(machine), Err)
    }

    /// Finds the project and reads the configuration. If that cannot be used, the defaults take its place.
    pub(super) fn despite_config(env: &Env) -> Result<Self, CommandError> {
        let paths = env.paths().ok_or_else(|| {
            CommandError::new(ErrorKind::Config, "cannot find the home folder")
                .hint("set HOME, or set WEIR_DATA to a folder that you own")
        })?;
        let project = Project::locate(&env.folder, &paths.data).map_err(|error| {
            CommandError::new(ErrorKind::Failed, format!("cannot use {}: {error}", env.folder.display()))
                .hint("until this can be read, it is not known which store the folder uses; nothing was changed")
        })?;
        let read = trust::check_places(env, &paths, &project.root).and_then(|()| config::read(&paths.config));
        let (config, config_problem) = match read {
            Ok(config) => (config, None),
            Err(problem) => (config::parse("", &paths.config)?, Some(problem)),
        };
        Ok(Self { env: env.clone(), paths, project, config, config_problem, running: ActiveRuns::default() })
    }

    pub(super) fn seen_from(&self, project: Project) -> Self {
        let mut env = self.env.clone();
        env.folder.clone_from(&project.root);
        let (paths, config, running) = (self.paths.clone(), self.config.clone(), ActiveRuns::default());
        Self { env, paths, project, config, config_problem: None, running }
    }

    /// Returns the unit of work: the one that the environment names, or the branch that is checked out now.
    pub(super) fn work(&self) -> Option<String> {
        self.env.work.clone().or_else(|| self.project.branch())
    }

    pub(super) fn project_stores(&self) -> PathBuf {
        self.paths.data.join("projects")
    }

    pub(super) fn project_folder(&self) -> PathBuf {
        self.project_stores().join(self.project.folder_name())
    }

    pub(super) fn user_folder(&self) -> PathBuf {
        self.paths.data.join("user")
    }
}
