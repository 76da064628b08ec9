"""More workspaces for rust.sh; see rust_gen.py."""
import random
from rust_gen import crate, tests, workspace, write


def append(path, text):
    with open(path, "a") as f:
        f.write(text)


# ------------------------------------------------------------------ harbor
def harbor():
    """One crate, tests that print while they run."""
    write("Cargo.toml", '[package]\nname = "harbor"\nversion = "1.4.2"\nedition = "2021"\n\n[dependencies]\n')
    write("src/lib.rs", '''
        pub mod berth;
        pub mod tide;
        pub mod cargo_plan;

        use std::collections::HashMap;
        ''')
    write("src/berth.rs", '''
        //! Which ship lies where.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct Ship {
            pub name: String,
            pub length_m: u32,
            pub draught_cm: u32,
        }

        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct Berth {
            pub id: u16,
            pub length_m: u32,
            pub depth_cm: u32,
            pub taken_by: Option<String>,
        }

        #[derive(Debug, PartialEq, Eq)]
        pub enum Refusal {
            NoSpace { needed_m: u32 },
            TooShallow { missing_cm: u32 },
        }

        pub fn fits(ship: &Ship, berth: &Berth) -> bool {
            ship.length_m <= berth.length_m && ship.draught_cm <= berth.depth_cm
        }

        pub fn assign(ship: &Ship, berths: &mut [Berth]) -> Result<u16, Refusal> {
            println!("assign {} ({} m, {} cm)", ship.name, ship.length_m, ship.draught_cm);
            for berth in berths.iter_mut() {
                println!("  try berth {}: {} m, {} cm, {:?}", berth.id, berth.length_m, berth.depth_cm, berth.taken_by);
                if fits(ship, berth) {
                    berth.taken_by = Some(ship.name.clone());
                    return Ok(berth.id);
                }
            }
            Err(Refusal::NoSpace { needed_m: ship.length_m })
        }
        ''')
    write("src/tide.rs", '''
        //! Water levels by a sum of waves, in cm.
        pub fn level(minute: u32) -> i32 {
            let hours = f64::from(minute) / 60.0;
            let m2 = 145.0 * (hours * std::f64::consts::TAU / 12.42).cos();
            let s2 = 38.0 * (hours * std::f64::consts::TAU / 12.0).cos();
            (m2 + s2) as i32
        }

        pub fn next_high(from: u32) -> Option<u32> {
            (from..from + 780).find(|m| level(*m) > level(m - 1) && level(*m) > level(m + 1))
        }

        pub fn windows(needed: i32, day: std::ops::Range<u32>) -> Vec<(u32, u32)> {
            let mut found = Vec::new();
            let mut open = None;
            for minute in day {
                let ok = level(minute) >= needed;
                match (ok, open) {
                    (true, None) => open = Some(minute),
                    (false, Some(start)) => {
                        found.push((start, minute));
                        open = None;
                    }
                    _ => {}
                }
            }
            found
        }
        ''')
    write("src/cargo_plan.rs", '''
        //! Loading containers so that the ship stays upright.
        pub fn balance(weights: &[u32]) -> (Vec<u32>, Vec<u32>) {
            let mut port = Vec::new();
            let mut starboard = Vec::new();
            for (i, w) in weights.iter().enumerate() {
                println!("container {i}: {w} kg");
                if i % 2 == 0 { port.push(*w) } else { starboard.push(*w) }
            }
            (port, starboard)
        }

        pub fn lean(port: &[u32], starboard: &[u32]) -> u32 {
            port.iter().sum::<u32>() - starboard.iter().sum::<u32>()
        }

        pub fn crane_minutes(containers: usize, cranes: usize) -> usize {
            containers / cranes * 3
        }
        ''')
    rng = random.Random(21)
    ships = ["Amrum", "Bornholm", "Castor", "Delfin", "Elbe", "Fjord", "Gannet", "Heron", "Iris", "Juist", "Kestrel", "Lotus"]
    cases = []
    for n in range(1, 121):
        ship = rng.choice(ships)
        length, draught = rng.randrange(60, 330), rng.randrange(400, 1290)
        cases.append((f"assign_{n:03}_{ship.lower()}", f'check("{ship} {n}", {length}, {draught});'))
    write("tests/berths.rs", '''
        use harbor::berth::{assign, Berth, Refusal, Ship};

        fn quay() -> Vec<Berth> {
            [(1, 90, 600), (2, 140, 820), (3, 210, 1050), (4, 280, 1220), (5, 340, 1300)]
                .map(|(id, length_m, depth_cm)| Berth { id, length_m, depth_cm, taken_by: None })
                .to_vec()
        }

        fn check(name: &str, length_m: u32, draught_cm: u32) {
            let ship = Ship { name: name.into(), length_m, draught_cm };
            let id = assign(&ship, &mut quay()).unwrap();
            println!("  -> berth {id}");
            assert!((1..=5).contains(&id));
        }

        #[test]
        fn taken_berth_is_not_given_twice() {
            let mut quay = quay();
            let a = Ship { name: "Amrum".into(), length_m: 80, draught_cm: 500 };
            let b = Ship { name: "Bornholm".into(), length_m: 85, draught_cm: 550 };
            assert_eq!(assign(&a, &mut quay), Ok(1));
            assert_eq!(assign(&b, &mut quay), Ok(2), "berth 1 is taken by Amrum");
        }

        #[test]
        fn deep_ship_is_told_what_is_missing() {
            let ship = Ship { name: "Castor".into(), length_m: 120, draught_cm: 1420 };
            assert_eq!(assign(&ship, &mut quay()), Err(Refusal::TooShallow { missing_cm: 120 }));
        }

        ''')
    append("tests/berths.rs", tests(cases))
    cases = [(f"level_stays_in_range_at_{m}", f'let l = level({m});\n    println!("minute {m}: {{l}} cm");\n    assert!((-183..=183).contains(&l));')
             for m in range(0, 1440, 12)]
    write("tests/tides.rs", '''
        use harbor::tide::{level, next_high, windows};

        #[test]
        fn first_high_water_is_at_midnight() {
            assert_eq!(next_high(0), Some(0));
        }

        #[test]
        fn high_waters_are_twelve_and_a_half_hours_apart() {
            let first = next_high(30).expect("a high water within 13 hours");
            let second = next_high(first + 30).expect("another high water");
            assert_eq!(second - first, 745);
        }

        #[test]
        fn window_open_at_midnight_is_closed_by_the_end_of_day() {
            let found = windows(100, 0..1440);
            for (from, to) in &found {
                println!("window {:02}:{:02} - {:02}:{:02}", from / 60, from % 60, to / 60, to % 60);
            }
            assert_eq!(found.len(), 3);
        }

        ''')
    append("tests/tides.rs", tests(cases))
    write("tests/loading.rs", '''
        use harbor::cargo_plan::{balance, crane_minutes, lean};

        #[test]
        fn equal_containers_do_not_lean() {
            let (p, s) = balance(&[12000; 8]);
            assert_eq!(lean(&p, &s), 0);
        }

        #[test]
        fn heavy_starboard_does_not_overflow() {
            let (p, s) = balance(&[4000, 26000, 5000, 24500]);
            assert_eq!(lean(&p, &s), 41500);
        }

        #[test]
        fn a_started_round_takes_full_time() {
            assert_eq!(crane_minutes(7, 3), 9);
        }

        #[test]
        #[ignore]
        fn full_container_ship() {
            balance(&vec![20000; 24000]);
        }

        #[test]
        #[should_panic(expected = "divide by zero")]
        fn no_crane() {
            crane_minutes(4, 0);
        }

        #[test]
        #[should_panic(expected = "no containers")]
        fn nothing_to_load() {
            balance(&[]);
        }
        ''')


# ------------------------------------------------------------------ atlas
def atlas():
    workspace(["geo", "tiles", "route"])
    crate("geo", '''
        //! Points and distances on a sphere.
        #[derive(Debug, Clone, Copy, PartialEq)]
        pub struct Point {
            pub lat: f64,
            pub lon: f64,
        }

        pub fn distance_km(a: Point, b: Point) -> f64 {
            let (la, lb) = (a.lat.to_radians(), b.lat.to_radians());
            let dlat = lb - la;
            let dlon = (b.lon - a.lon).to_radians();
            let h = (dlat / 2.0).sin().powi(2) + la.cos() * lb.cos() * (dlon / 2.0).sin().powi(2);
            6371.0 * 2.0 * h.sqrt().asin()
        }

        pub fn wrap(lon: f64) -> f64 {
            if lon > 180.0 { lon - 360.0 } else { lon }
        }

        pub fn parse(text: &str) -> Result<Point, String> {
            let (lat, lon) = text.split_once(',').ok_or_else(|| format!("no comma in {text:?}"))?;
            Ok(Point { lat: lat.parse().unwrap(), lon: lon.parse().unwrap() })
        }
        ''')
    rng = random.Random(5)
    cases = []
    for n in range(110):
        a = (rng.randrange(-80, 80), rng.randrange(-179, 179))
        cases.append((f"distance_is_symmetric_{n:03}", f'symmetric({a[0]}.5, {a[1]}.25);'))
    write("crates/geo/tests/distance.rs", '''
        use geo::{distance_km, parse, wrap, Point};

        fn symmetric(lat: f64, lon: f64) {
            let a = Point { lat, lon };
            let b = Point { lat: 51.34, lon: 12.37 };
            assert!((distance_km(a, b) - distance_km(b, a)).abs() < 1e-9);
        }

        #[test]
        fn quarter_of_the_equator() {
            let km = distance_km(Point { lat: 0.0, lon: 0.0 }, Point { lat: 0.0, lon: 90.0 });
            assert!((km - 10018.8).abs() < 0.1, "a quarter of the equator is 10018.8 km, got {km:.1}");
        }

        #[test]
        fn wrap_west_of_the_date_line() {
            assert_eq!(wrap(-190.0), 170.0);
        }

        #[test]
        fn parse_spaces() {
            assert_eq!(parse("51.34, 12.37"), Ok(Point { lat: 51.34, lon: 12.37 }));
        }

        ''')
    append("crates/geo/tests/distance.rs", tests(cases))
    crate("tiles", '''
        //! Map tiles by zoom level.
        use geo::Point;
        use std::collections::HashMap;
        use std::time::Duration;

        pub fn tile(p: Point, zoom: u8) -> (u32, u32) {
            let n = f64::from(1u32 << zoom);
            let x = (p.lon + 180.0) / 360.0 * n;
            let lat = p.lat.to_radians();
            let y = (1.0 - (lat.tan() + 1.0 / lat.cos()).ln() / std::f64::consts::PI) / 2.0 * n;
            (x as u32, y as u32)
        }

        #[derive(Default)]
        pub struct Cache {
            tiles: HashMap<(u32, u32, u8), Vec<u8>>,
            pub capacity: usize,
        }

        impl Cache {
            pub fn put(&mut self, key: (u32, u32, u8), data: Vec<u8>) {
                self.tiles.insert(key, data);
            }

            pub fn len(&self) -> usize {
                self.tiles.len()
            }

            pub fn fetch(&self, key: (u32, u32, u8)) -> Result<&[u8], String> {
                self.tiles.get(&key).map(Vec::as_slice).ok_or_else(|| format!("tile {key:?} is not cached"))
            }
        }

        pub fn slow_render() {
            std::thread::sleep(Duration::from_millis(2600));
        }
        ''', ["geo"])
    cases = []
    for zoom in range(0, 19):
        for name, lat, lon in [("leipzig", 51.34, 12.37), ("quito", -0.18, -78.47), ("wellington", -41.29, 174.78), ("nuuk", 64.18, -51.72),
                               ("nairobi", -1.29, 36.82), ("osaka", 34.69, 135.50), ("lima", -12.05, -77.04), ("oslo", 59.91, 10.75)]:
            cases.append((f"tile_of_{name}_at_zoom_{zoom:02}", f"inside({lat}, {lon}, {zoom});"))
    write("crates/tiles/tests/zoom.rs", '''
        use geo::Point;
        use tiles::{tile, Cache};

        fn inside(lat: f64, lon: f64, zoom: u8) {
            let (x, y) = tile(Point { lat, lon }, zoom);
            assert!(x < 1 << zoom && y < 1 << zoom);
        }

        #[test]
        fn known_tile() {
            assert_eq!(tile(Point { lat: 51.34, lon: 12.37 }, 10), (547, 341));
        }

        #[test]
        fn pole_is_clamped() {
            let (x, y) = tile(Point { lat: -90.0, lon: 180.0 }, 4);
            assert_eq!((x, y), (15, 15), "the pole must fall into the last tile");
        }

        #[test]
        fn cache_keeps_its_capacity() {
            let mut cache = Cache::default();
            cache.capacity = 2;
            for x in 0..5 {
                cache.put((x, 0, 3), vec![0; 16]);
            }
            assert_eq!(cache.len(), 2);
        }

        #[test]
        fn missing_tile_is_fetched() {
            let cache = Cache::default();
            eprintln!("cache is empty, asking upstream tiles.test:443");
            cache.fetch((8, 5, 4)).unwrap();
        }

        #[test]
        fn renders_a_city() {
            tiles::slow_render();
        }

        ''')
    append("crates/tiles/tests/zoom.rs", tests(cases))
    crate("route", '''
        //! Shortest paths.
        use std::collections::{BTreeMap, BinaryHeap};

        #[derive(Default)]
        pub struct Graph {
            edges: BTreeMap<u32, Vec<(u32, u64)>>,
        }

        impl Graph {
            pub fn link(&mut self, a: u32, b: u32, cost: u64) {
                self.edges.entry(a).or_default().push((b, cost));
            }

            pub fn cost(&self, from: u32, to: u32) -> Option<u64> {
                let mut best: BTreeMap<u32, u64> = BTreeMap::new();
                let mut heap = BinaryHeap::from([(0u64, from)]);
                while let Some((cost, at)) = heap.pop() {
                    if at == to {
                        return Some(cost);
                    }
                    if best.contains_key(&at) {
                        continue;
                    }
                    best.insert(at, cost);
                    for (next, step) in &self.edges[&at] {
                        heap.push((cost + step, *next));
                    }
                }
                None
            }
        }
        ''')
    cases = [(f"chain_of_{n:03}", f"chain({n});") for n in range(2, 120)]
    write("crates/route/tests/paths.rs", '''
        use route::Graph;

        fn chain(n: u32) {
            let mut g = Graph::default();
            for k in 0..n {
                g.link(k, k + 1, 3);
            }
            assert_eq!(g.cost(0, n), Some(u64::from(n) * 3));
        }

        #[test]
        fn shorter_way_round_wins() {
            let mut g = Graph::default();
            g.link(1, 2, 10);
            g.link(1, 3, 1);
            g.link(3, 2, 2);
            g.link(2, 9, 1);
            assert_eq!(g.cost(1, 2), Some(3));
        }

        #[test]
        fn dead_end_has_no_path() {
            let mut g = Graph::default();
            g.link(1, 2, 10);
            assert_eq!(g.cost(1, 7), None);
        }

        #[test]
        fn flaky_clock() {
            std::process::abort();
        }

        #[test]
        #[ignore]
        fn whole_planet() {}

        ''')
    append("crates/route/tests/paths.rs", tests(cases))


# ------------------------------------------------------------------ grove
def grove():
    workspace(["sensor", "irrigation", "forecast"])
    write(".config/nextest.toml", '''
        [profile.ci]
        retries = 1

        [profile.ci.junit]
        path = "junit.xml"
        ''')
    crate("sensor", '''
        //! Readings of soil sensors.
        #[derive(Debug, Clone, PartialEq)]
        pub struct Reading {
            pub bed: u16,
            pub moisture: f32,
            pub at: u64,
        }

        pub fn decode(bytes: &[u8; 8]) -> Reading {
            let bed = u16::from_le_bytes([bytes[0], bytes[1]]);
            let raw = u16::from_le_bytes([bytes[2], bytes[3]]);
            let at = u32::from_le_bytes([bytes[4], bytes[5], bytes[6], bytes[7]]);
            Reading { bed, moisture: f32::from(raw) / 655.35, at: u64::from(at) }
        }

        pub fn smooth(values: &[f32], window: usize) -> Vec<f32> {
            values.windows(window).map(|w| w.iter().sum::<f32>() / window as f32).collect()
        }

        pub fn median(mut values: Vec<f32>) -> f32 {
            values.sort_by(|a, b| a.partial_cmp(b).unwrap());
            values[values.len() / 2]
        }
        ''')
    cases = [(f"decode_bed_{n:04}", f"bed({n});") for n in range(0, 4000, 11)]
    write("crates/sensor/tests/decode.rs", '''
        use sensor::{decode, median, smooth};

        fn bed(n: u16) {
            let [a, b] = n.to_le_bytes();
            assert_eq!(decode(&[a, b, 0, 0, 1, 0, 0, 0]).bed, n);
        }

        #[test]
        fn full_scale_is_one_hundred_percent() {
            assert_eq!(decode(&[1, 0, 0xff, 0xff, 0, 0, 0, 0]).moisture, 100.0);
        }

        #[test]
        fn median_of_an_even_count_is_the_mean_of_two() {
            assert_eq!(median(vec![1.0, 2.0, 4.0, 9.0]), 3.0);
        }

        #[test]
        fn median_with_a_broken_sensor() {
            assert_eq!(median(vec![21.5, f32::NAN, 22.0]), 22.0);
        }

        #[test]
        fn smoothing_keeps_the_length() {
            let values = [10.0, 20.0, 60.0, 20.0, 10.0];
            assert_eq!(smooth(&values, 3).len(), values.len(), "smoothing must not shorten the series {values:?}");
        }

        ''')
    append("crates/sensor/tests/decode.rs", tests(cases))
    crate("irrigation", '''
        //! When to open which valve.
        #[derive(Debug, Clone, PartialEq)]
        pub enum Action {
            Open { valve: u8, seconds: u32 },
            Keep,
        }

        pub fn plan(moisture: f32, wanted: f32, valve: u8) -> Action {
            if moisture >= wanted {
                return Action::Keep;
            }
            Action::Open { valve, seconds: ((wanted - moisture) * 12.0) as u32 }
        }

        pub fn night_only(hour: u8) -> bool {
            hour >= 22 && hour <= 5
        }
        ''')
    cases = [(f"wet_bed_is_kept_{m}", f"assert_eq!(plan({m}.0, {m}.0, 1), Action::Keep);") for m in range(20, 100)]
    cases += [(f"dry_bed_opens_valve_{v}", f"assert_eq!(plan(20.0, 30.0, {v}), Action::Open {{ valve: {v}, seconds: 120 }});") for v in range(1, 61)]
    cases += [(f"hour_{h:02}_is_{'night' if h >= 22 or h <= 5 else 'day'}", f"assert_eq!(night_only({h}), {'true' if h >= 22 or h <= 5 else 'false'});") for h in range(24)]
    write("crates/irrigation/tests/plans.rs", '''
        use irrigation::{night_only, plan, Action};

        #[test]
        fn never_longer_than_ten_minutes() {
            let Action::Open { seconds, .. } = plan(0.0, 80.0, 3) else { panic!("valve 3 should open") };
            assert!(seconds <= 600, "valve 3 would stay open for {seconds} s");
        }

        #[test]
        fn drains_the_tank() {
            std::thread::sleep(std::time::Duration::from_millis(3200));
        }

        ''')
    append("crates/irrigation/tests/plans.rs", tests(cases))
    crate("forecast", '''
        //! Rain forecasts in tenths of millimetres.
        pub fn read(text: &str) -> Vec<(u8, u32)> {
            text.lines()
                .map(|l| {
                    let (hour, rain) = l.split_once(' ').unwrap();
                    (hour.parse().unwrap(), rain.trim_end_matches("mm").parse::<u32>().unwrap())
                })
                .collect()
        }

        pub fn total(rows: &[(u8, u32)]) -> u32 {
            rows.iter().map(|r| r.1).sum()
        }
        ''')
    cases = [(f"rain_at_{h:02}_of_{r}", f'assert_eq!(read("{h} {r}mm"), [({h}, {r})]);') for h in range(24) for r in (0, 3, 18, 120)]
    write("crates/forecast/tests/rain.rs", '''
        use forecast::{read, total};

        #[test]
        fn total_of_a_dry_day() {
            assert_eq!(total(&read("6 0mm\\n12 0mm\\n18 0mm")), 0);
        }

        #[test]
        fn fractions_of_millimetres() {
            assert_eq!(read("9 1.5mm"), [(9, 15)]);
        }

        #[test]
        fn header_line_is_skipped() {
            assert_eq!(read("hour rain\\n9 2mm"), [(9, 20)]);
        }

        ''')
    append("crates/forecast/tests/rain.rs", tests(cases))


PROJECTS = {"harbor": harbor, "atlas": atlas, "grove": grove}
