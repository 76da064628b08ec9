//! Removes Weir from the settings of every client: those of the user, and those of every project that setup wrote to.

use std::path::{Path, PathBuf};

use weir_clients::RECIPES;
use weir_clients::setup::SetupScope;
use weir_context::Context;
use weir_host::error::CommandError;

use super::ledger::Ledger;
use super::places::Places;
use super::plan::{self, SetupPlan};
use super::step::Step;

/// What is planned, for the user and for each project: each plan has at most one change.
pub struct Removal {
    plans: Vec<(Places, SetupPlan)>,
    /// Why files stay as they are.
    pub problems: Vec<CommandError>,
}

impl Removal {
    /// Plans the removal. Nothing is written.
    pub fn plan(context: &Context) -> Result<Self, CommandError> {
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
        let problems = plans.iter_mut().flat_map(|(_, plan)| std::mem::take(&mut plan.problems)).collect();
        let apart = |(places, plan): (Places, SetupPlan)| plan.apart().map(move |plan| (places.clone(), plan));
        Ok(Self { plans: plans.into_iter().flat_map(apart).collect(), problems })
    }

    /// Describes each change in one line, before it is made.
    pub fn planned(&self) -> Vec<String> {
        self.steps().map(Step::planned).collect()
    }

    /// Makes every change that can be made, and describes each in one line. What cannot be made is added to the
    /// problems.
    pub fn carry_out(&mut self) -> Vec<String> {
        let mut done = Vec::new();
        for (places, plan) in &self.plans {
            match plan.carry_out(places) {
                Ok(()) => done.extend(plan.steps.iter().map(Step::done)),
                Err(problem) => self.problems.push(problem),
            }
        }
        done
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
