//! The numbers of projects and their tenants, remembered by a server. Invariant: a number is a guess until a statement
//! has found the name beside it, in the transaction that uses it. A tenant that was deleted and created again has
//! another number, and a database that was put back may have given it to somebody else.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

use tokio_postgres::Row;
use weir_core::{ProjectKey, Scope, TenantId};

use super::fault::Fault;

/// How many projects are remembered. Then all of them are forgotten: looking up one again takes a transaction.
const MAX_PLACES: usize = 100_000;

/// A project of a tenant by its numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) tenant: i64,
    /// 0 if the tenant has no such project.
    pub(super) project: i64,
}

impl Place {
    /// Reads what the statement `PLACE` has found: `None` if there is no such tenant.
    pub(super) fn of(rows: &[Row]) -> Result<Option<Self>, Fault> {
        let Some(row) = rows.first() else { return Ok(None) };
        let project: Option<i64> = row.try_get(1)?;
        Ok(Some(Self { tenant: row.try_get(0)?, project: project.unwrap_or_default() }))
    }
}

/// The places that are remembered.
#[derive(Debug, Default)]
pub(super) struct Places {
    known: RwLock<HashMap<(TenantId, ProjectKey), Place>>,
}

impl Places {
    pub(super) fn get(&self, scope: &Scope) -> Option<Place> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.get(&(scope.tenant.clone(), scope.project.clone())).copied()
    }

    /// Remembers the place of a scope, if it has a project, and forgets what was remembered otherwise.
    pub(super) fn set(&self, scope: &Scope, place: Option<Place>) {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        let key = (scope.tenant.clone(), scope.project.clone());
        match place.filter(|place| place.project > 0) {
            Some(place) => {
                if known.len() >= MAX_PLACES {
                    known.clear();
                }
                known.insert(key, place);
            }
            None => drop(known.remove(&key)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scope(project: &str) -> Scope {
        Scope { tenant: TenantId("acme".into()), ..Scope::project(ProjectKey(project.into())) }
    }

    #[test]
    fn a_project_is_remembered_until_it_is_said_to_be_elsewhere_or_nowhere() {
        let places = Places::default();
        let (api, elsewhere) = (Place { tenant: 1, project: 2 }, Place { tenant: 3, project: 4 });
        assert_eq!(places.get(&scope("api")), None);
        for place in [api, elsewhere] {
            places.set(&scope("api"), Some(place));
            assert_eq!((places.get(&scope("api")), places.get(&scope("web"))), (Some(place), None));
        }
        places.set(&scope("api"), Some(Place { tenant: 3, project: 0 }));
        assert_eq!(places.get(&scope("api")), None);
    }

    #[test]
    fn the_projects_that_are_remembered_are_bounded() {
        let places = Places::default();
        for number in 0..=MAX_PLACES as i64 {
            places.set(&scope(&number.to_string()), Some(Place { tenant: 1, project: number + 1 }));
        }
        assert_eq!(places.known.read().unwrap().len(), 1);
    }
}
