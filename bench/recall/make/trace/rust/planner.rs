//! Plans routes in worker threads; some inputs are bad and the workers panic.
use std::collections::HashMap;
use std::thread;

#[derive(Debug, Clone)]
struct Stop { id: u32, minutes: Option<i64> }

#[derive(Debug)]
enum PlanError { TooLong { route: u32, minutes: i64 } }

fn duration(stop: &Stop) -> i64 { stop.minutes.expect("stop without a duration") }

fn walk(stops: &[Stop], at: usize, total: i64) -> i64 {
    if at == stops.len() { return total; }
    walk(stops, at + 1, total + duration(&stops[at]))
}

fn depot(depots: &HashMap<u32, &'static str>, route: u32) -> &'static str { depots[&(route % 9)] }

fn plan(route: u32) -> Result<i64, PlanError> {
    let depots: HashMap<u32, &'static str> = (0..8).map(|n| (n, "north")).collect();
    let stops: Vec<Stop> = (0..12).map(|n| Stop { id: n, minutes: if route % 11 == 7 && n == 9 { None } else { Some(((route * 7 + n * 13) % 40) as i64) } }).collect();
    let name = depot(&depots, route);
    let minutes = walk(&stops, 0, 0);
    println!("INFO  route {route} depot={name} stops={} minutes={minutes}", stops.len());
    if minutes > 275 { return Err(PlanError::TooLong { route, minutes }); }
    let slots = [0u8; 300];
    let last = stops.last().map(|s| s.id).unwrap_or(0) as usize;
    Ok(slots[minutes as usize + last + 20] as i64)
}

fn main() {
    let mut failed = 0;
    for route in 0..64u32 {
        let worker = thread::Builder::new().name(format!("planner-{route}")).spawn(move || plan(route).unwrap()).unwrap();
        if worker.join().is_err() {
            failed += 1;
            println!("ERROR route {route} was not planned");
        }
    }
    println!("SUMMARY planned={} failed={failed}", 64 - failed);
    if failed > 0 { panic!("{failed} of 64 routes were not planned"); }
}
