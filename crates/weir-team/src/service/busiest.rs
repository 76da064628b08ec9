//! Which tenants make most requests. Invariants: the labels of a page and the memory are bounded, however many tenants
//! there are; every request with a good token is counted somewhere.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use weir_core::{TenantId, Timestamp};
use weir_http::metrics::Page;

/// How many tenants a page names.
const MAX_NAMED: usize = 20;
/// How many tenants are counted one by one in a minute.
const MAX_COUNTED: usize = 10_000;
/// What a page calls all tenants that it does not name.
const OTHER: &str = "other";
const MINUTE_MILLIS: i64 = 60_000;

/// The requests of tenants in this minute and the one before.
#[derive(Default)]
pub(super) struct Busiest(Mutex<Minutes>);

#[derive(Default)]
struct Minutes {
    /// The number of the minute that is not over.
    now: i64,
    current: Minute,
    /// The last one that is over.
    last: Minute,
}

#[derive(Default)]
struct Minute {
    tenants: HashMap<TenantId, u64>,
    /// The requests of tenants that are not counted one by one.
    others: u64,
}

impl Busiest {
    /// Counts a request of a tenant.
    pub(super) fn add(&self, tenant: &TenantId, now: Timestamp) {
        let mut minutes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        minutes.advance(now);
        let Minute { tenants, others } = &mut minutes.current;
        if let Some(count) = tenants.get_mut(tenant) {
            *count += 1;
        } else if tenants.len() < MAX_COUNTED {
            tenants.insert(tenant.clone(), 1);
        } else {
            *others += 1;
        }
    }

    /// Adds the tenants of the last minute that made most requests to a page, and the sum of the others.
    pub(super) fn write(&self, page: &mut Page, now: Timestamp) {
        let mut minutes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        minutes.advance(now);
        let Minute { tenants, others } = &minutes.last;
        // No tenant takes the name of all others.
        let mut named: Vec<(&str, u64)> = tenants
            .iter()
            .map(|(tenant, count)| (tenant.0.as_str(), *count))
            .filter(|(name, _)| *name != OTHER)
            .collect();
        named.sort_unstable_by(|one, other| other.1.cmp(&one.1).then(one.0.cmp(other.0)));
        named.truncate(MAX_NAMED);
        let all = tenants.values().sum::<u64>().saturating_add(*others);
        let name = "weir_tenant_recent_requests";
        page.family(name, "gauge", "Requests in the last full minute, of the tenants that made most.");
        for (tenant, count) in &named {
            page.sample(name, &[("tenant", tenant)], count);
        }
        let rest = all.saturating_sub(named.iter().map(|(_, count)| *count).sum());
        page.sample(name, &[("tenant", OTHER)], rest);
        page.single("weir_tenants_recently_active", "gauge", "Tenants with requests in that minute.", tenants.len());
    }
}

impl Minutes {
    /// Begins another minute if it is time to. A clock that goes back begins one too.
    fn advance(&mut self, now: Timestamp) {
        let minute = now.0.div_euclid(MINUTE_MILLIS);
        if minute == self.now {
            return;
        }
        let ended = std::mem::take(&mut self.current);
        self.last = if minute == self.now + 1 { ended } else { Minute::default() };
        self.now = minute;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(busiest: &Busiest, minute: i64) -> String {
        let mut page = Page::default();
        busiest.write(&mut page, Timestamp(minute * MINUTE_MILLIS));
        let lines = page.as_str().lines().filter(|line| !line.starts_with('#'));
        lines.map(|line| format!("{line}\n")).collect()
    }

    #[test]
    fn the_busiest_tenants_have_names_and_the_rest_is_summed() {
        let (busiest, at) = (Busiest::default(), Timestamp(7 * MINUTE_MILLIS + 5));
        for number in 0..30 {
            let name = if number == 29 { OTHER.to_owned() } else { format!("tenant {number:02}") };
            (0..=number).for_each(|_| busiest.add(&TenantId(name.clone()), at));
        }
        assert!(page(&busiest, 7).contains("weir_tenants_recently_active 0\n"), "the minute is not over");
        let said = page(&busiest, 8);
        assert_eq!(said.lines().count(), MAX_NAMED + 2, "{said}");
        assert!(said.starts_with("weir_tenant_recent_requests{tenant=\"tenant 28\"} 29\n"), "{said}");
        // 1 to 9 of the smallest, and 30 of the one that has the name.
        assert!(said.contains("weir_tenant_recent_requests{tenant=\"other\"} 75\n"), "{said}");
        assert!(page(&busiest, 9).contains("weir_tenants_recently_active 0\n"));
    }

    #[test]
    fn memory_is_bounded_whatever_tenants_there_are() {
        let (busiest, at) = (Busiest::default(), Timestamp(0));
        for number in 0..2 * MAX_COUNTED {
            busiest.add(&TenantId(number.to_string()), at);
        }
        assert_eq!(busiest.0.lock().unwrap().current.tenants.len(), MAX_COUNTED);
        let all = format!("weir_tenant_recent_requests{{tenant=\"other\"}} {}\n", 2 * MAX_COUNTED - MAX_NAMED);
        assert!(page(&busiest, 1).contains(&all));
    }
}
