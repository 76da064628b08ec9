//! Tests what the owner of the database does to the audit, and that the program may not.

use weir_core::Timestamp;
use weir_records::{Accounts as _, ErasedName, Log as _, Revoked};
use weir_team::{erase_name, expire_audit};

use super::support::{TestDatabase, bridge, ids, note, scope};
use crate::support::NOW;

#[test]
fn a_name_is_replaced_in_one_tenant_and_nowhere_else() {
    let database = TestDatabase::new();
    let (log, id) = (database.log(), ids());
    let (own, other) = (scope("acme", "ben", "api"), scope("umbrella", "ben", "api"));
    for (number, place) in (0..).zip([&own, &other]) {
        log.append(place, &[note(place, id(number))]).unwrap();
        assert_eq!(log.bind_hosts(place, &[id(number).host]).unwrap(), []);
        log.accounts().revoke(&place.tenant, &Revoked::User(place.user.clone()), NOW).unwrap();
    }
    let name = ErasedName::draw().unwrap();
    let erase = |options: &str| erase_name(&database.options(options), bridge(), &own.tenant, &own.user, &name);
    assert!(erase("app").is_err(), "the program may not");
    assert!(erase("owner").unwrap() >= 2);
    let owner = database.session("owner");
    let actors = |tenant: &str| {
        let of_tenant = format!("JOIN weir.tenants t USING (tenant_id) WHERE t.name = '{tenant}'");
        owner
            .run(&format!(
                "SELECT DISTINCT x.name FROM (SELECT tenant_id, actor AS name FROM weir.audit
                     UNION SELECT tenant_id, user_name FROM weir.hosts) x {of_tenant} ORDER BY 1"
            ))
            .unwrap()
    };
    assert_eq!(
        (actors("acme"), actors("umbrella")),
        (vec![name.as_str().into(), "operator".into()], vec!["ben".into()])
    );
    assert_eq!(erase("owner").unwrap(), 0);
}

#[test]
fn old_rows_are_deleted_in_parts_and_the_audit_says_how_many() {
    let database = TestDatabase::new();
    let (log, id) = (database.log(), ids());
    let places = [scope("acme", "ana", "api"), scope("umbrella", "ana", "api")];
    for (number, place) in (0..).zip(&places) {
        log.append(place, &[note(place, id(number))]).unwrap();
    }
    let owner = database.session("owner");
    owner
        .run(
            "INSERT INTO weir.audit (tenant_id, at, actor, action, target)
             SELECT tenant_id, '2020-01-01', 'ana', 'append', '1-1' FROM weir.tenants, generate_series(1, 6000)",
        )
        .unwrap();
    let expire = |who: &str| expire_audit(&database.options(who), bridge(), Timestamp(1_600_000_000_000));
    assert!(expire("app").is_err(), "the program may not");
    assert_eq!(expire("owner").unwrap(), 12_000);
    let left = owner.run("SELECT action || ' ' || target FROM weir.audit ORDER BY audit_id").unwrap();
    let told: u64 =
        left.iter().filter_map(|row| row.strip_prefix("expire audit ")?.split(' ').next()?.parse::<u64>().ok()).sum();
    assert_eq!((&left[..2], told), (&["append 1-1".to_owned(), "append 1-1".to_owned()][..], 12_000), "{left:?}");
    assert_eq!(expire("owner").unwrap(), 0);
}
