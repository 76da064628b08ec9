//! Removes Weir from the settings of every client: those of the user, and those of every project that setup wrote to.

use std::path::{Path, PathBuf};

use weir_clients::setup::{RECIPES, SetupScope};

use super::ledger::Ledger;
use super::places::Places;
use super::plan::{self, SetupPlan, Step};
use crate::context::Context;
use crate::error::CommandError;

/// What is planned, for the user and for each project.
pub(crate) struct Removal {
    plans: Vec<(Places, SetupPlan)>,
}

impl Removal {
    /// Plans the removal. Nothing is written.
    pub(crate) fn plan(context: &Context) -> Result<Self, CommandError> {
        let places = Places::new(context)?;
        let ledger = Ledger::read(&places.ledger)?;
        let user = plan::teardown(&places, RECIPES, SetupScope::User)?;
        let is_of_user = |path: &Path| user.steps.iter().any(|step| step.path == path);
        let mut roots: Vec<PathBuf> = Vec::new();
        for root in ledger.paths().filter(|path| !is_of_user(path)).filter_map(root_of) {
            if !places.is_home(root) && !roots.iter().any(|known| known == root) {
                roots.push(root.to_owned());
            }
        }
        let outside_projects = ledger.records().filter(|record| root_of(&record.path).is_none());
        let elsewhere = plan::teardown_elsewhere(&places, outside_projects)?;
        let mut plans = vec![(places.clone(), user), (places.clone(), elsewhere)];
        for root in roots {
            let there = places.in_project(root);
            let plan = plan::teardown(&there, RECIPES, SetupScope::Project)?;
            plans.push((there, plan));
        }
        Ok(Self { plans })
    }

    /// Describes each change in one line, before it is made.
    pub(crate) fn planned(&self) -> Vec<String> {
        self.steps().map(Step::planned).collect()
    }

    /// Describes each change in one line, after it was made.
    pub(crate) fn done(&self) -> Vec<String> {
        self.steps().map(Step::done).collect()
    }

    /// Carries out the plan.
    pub(crate) fn carry_out(&self) -> Result<(), CommandError> {
        self.plans.iter().try_for_each(|(places, plan)| plan.carry_out(places))
    }

    fn steps(&self) -> impl Iterator<Item = &Step> {
        self.plans.iter().flat_map(|(_, plan)| &plan.steps)
    }
}

/// Returns the project that a file belongs to, if it is where clients keep the settings of a project.
fn root_of(path: &Path) -> Option<&Path> {
    let parts = RECIPES.iter().flat_map(|recipe| recipe.parts_for(SetupScope::Project));
    let inside = parts.map(|part| Path::new(part.place.path)).find(|inside| path.ends_with(inside))?;
    path.ancestors().nth(inside.components().count())
}
