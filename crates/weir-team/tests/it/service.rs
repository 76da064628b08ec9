//! Tests the service over real sockets, on SQLite and on PostgreSQL. The modules named `postgres` need a server:
//! `.ci/postgres run -- COMMAND…` starts one and tells the command where it is.

/// Runs functions that take a `&World` as tests, on each backend.
macro_rules! on_each_backend {
    ($($name:ident),+ $(,)?) => {
        mod sqlite {
            use crate::service::support::World;
            $(
                #[test]
                fn $name() {
                    super::$name(&World::on_sqlite());
                }
            )+
        }

        mod postgres {
            use crate::service::support::World;
            $(
                #[test]
                fn $name() {
                    super::$name(&World::on_postgres());
                }
            )+
        }
    };
}

mod access;
mod background;
mod fairness;
mod hostile;
mod indexing;
mod invitations;
mod isolation;
mod limits;
mod moving;
mod news;
mod notes;
mod oauth;
mod openapi;
mod sealed;
mod servers;
mod support;
mod syncing;
mod tools;
