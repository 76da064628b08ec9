"""Workspaces that do not compile cleanly, for cargo check, build and clippy; see rust_gen.py."""
import random
from rust_gen import crate, workspace, write

DEPOT = ["bay", "booking", "crate_list", "dispatch", "driver", "forklift", "gate", "hub", "intake", "lane", "locker", "manifest",
         "notice", "packing", "pickup", "quota", "route", "scanner", "seal", "slot", "stacker", "tariff", "trailer", "weighing", "yard"]
ERRORS = [
    "pub fn {w}_total(items: &[u32]) -> u64 {{\n    let mut total: u64 = 0;\n    for i in items {{\n        total += i;\n    }}\n    total\n}}\n",
    "pub fn {w}_first(names: Vec<String>) -> String {{\n    let taken = names;\n    println!(\"{{}}\", names.len());\n    taken[0].clone()\n}}\n",
    "pub fn {w}_longest<'a>(a: &str, b: &'a str) -> &'a str {{\n    if a.len() > b.len() {{ a }} else {{ b }}\n}}\n",
    "pub fn {w}_state(code: u8) -> &'static str {{\n    match State::from(code) {{\n        State::Open => \"open\",\n        State::Closed => \"closed\",\n    }}\n}}\n",
    "pub fn {w}_parse(text: &str) -> Result<u32, String> {{\n    let n: u32 = text.parse()?;\n    Ok(n)\n}}\n",
    "pub fn {w}_push(list: &Vec<u32>) {{\n    list.push(1);\n}}\n",
    "pub fn {w}_label(id: u32) -> String {{\n    let unused_prefix = \"{w}\";\n    format!(\"{{}}-{{}}\", id)\n}}\n",
    "pub fn {w}_count(rows: &HashMap<u32, u32>) -> usize {{\n    rows.length()\n}}\n",
    "pub fn {w}_sum(a: i32, b: i64) -> i64 {{\n    a + b\n}}\n",
    "pub struct {W}Box {{\n    pub id: u32,\n    pub name: String,\n}}\n\npub fn {w}_box() -> {W}Box {{\n    {W}Box {{ id: 7 }}\n}}\n",
    "pub fn {w}_thread(text: String) {{\n    std::thread::spawn(|| println!(\"{{text}}\"));\n}}\n",
    "pub fn {w}_pair() -> (u32, String) {{\n    (1, \"one\")\n}}\n",
]
WARNINGS = [
    "fn {w}_old(x: u32) -> u32 {{\n    x\n}}\n",
    "pub fn {w}_loop(n: usize) -> usize {{\n    let mut sum = 0;\n    let mut last = 0;\n    for k in 0..n {{\n        sum += 1;\n        last = k;\n    }}\n    sum\n}}\n",
    "pub fn {w}_flag(on: bool) -> u8 {{\n    if (on) {{\n        return 1;\n        println!(\"never\");\n    }}\n    0\n}}\n",
    "#[deprecated(note = \"use {w}_loop\")]\npub fn {w}_legacy() {{}}\n\npub fn {w}_caller() {{\n    {w}_legacy();\n}}\n",
    "pub fn {w}_result() {{\n    std::fs::remove_file(\"{w}.lock\");\n}}\n",
]
STATE = ("use std::collections::HashMap;\nuse std::fmt::Debug;\n\n#[derive(Debug)]\npub enum State {{\n    Open,\n    Closed,\n    Broken,\n}}\n\n"
         "impl From<u8> for State {{\n    fn from(code: u8) -> Self {{\n        match code {{\n            0 => State::Open,\n            1 => State::Closed,\n            _ => State::Broken,\n        }}\n    }}\n}}\n\n")


def camel(w):
    return "".join(p.capitalize() for p in w.split("_"))


def depot():
    rng = random.Random(31)
    words = [f"{w}_{role}" for w in DEPOT for role in ("model", "service", "store", "view")]
    crates = {"depot-core": words[:36], "depot-fleet": words[36:68], "depot-web": words[68:]}
    workspace(crates)
    for name, modules in crates.items():
        lib = "".join(f"pub mod {m};\n" for m in modules)
        if name == "depot-web":
            lib += "\npub fn start(port: u16) -> Result<(), std::io::Error> {\n    let listener = TcpListener::bind((\"127.0.0.1\", port))?;\n    serve(listener)\n}\n"
        crate(name, lib)
        for m in modules:
            parts = rng.sample(ERRORS, rng.randrange(3, 7)) + rng.sample(WARNINGS, rng.randrange(1, 4))
            body = "\n".join(p.format(w=m, W=camel(m)) for p in parts)
            write(f"crates/{name}/src/{m}.rs", STATE.format() + body)


def bakery():
    """Errors of traits and generics, in long format."""
    rng = random.Random(44)
    names = ["dough", "oven", "recipe", "flour", "shelf", "counter", "basket", "mixer", "proofing", "glaze", "crumb", "rye", "spelt", "yeast",
             "invoice", "customer", "delivery", "price", "label", "allergen", "stock", "supplier"]
    names = [f"{n}_{role}" for n in names for role in ("kind", "plan", "list", "log")]
    parts = [
        "pub trait {W}Step {{\n    fn run(&mut self, minutes: u32) -> Result<(), String>;\n    fn name(&self) -> String;\n}}\n\npub struct {W}Timer;\n\nimpl {W}Step for {W}Timer {{\n    fn run(&mut self, minutes: u64) -> Result<(), String> {{\n        Ok(())\n    }}\n}}\n",
        "pub fn {w}_all<T>(items: &[T]) -> String {{\n    items.iter().map(|i| i.to_string()).collect::<Vec<_>>().join(\", \")\n}}\n",
        "pub fn {w}_max(values: &[f64]) -> Option<f64> {{\n    values.iter().copied().max()\n}}\n",
        "pub fn {w}_boxed() -> Box<dyn Clone> {{\n    Box::new(1u8)\n}}\n",
        "pub struct {W}Cell {{\n    value: std::rc::Rc<u32>,\n}}\n\npub fn {w}_send(cell: {W}Cell) {{\n    std::thread::spawn(move || println!(\"{{}}\", cell.value));\n}}\n",
        "pub fn {w}_borrow(v: &mut Vec<u32>) {{\n    let first = &v[0];\n    v.push(*first + 1);\n    println!(\"{{first}}\");\n}}\n",
        "pub async fn {w}_wait() -> u32 {{\n    3\n}}\n\npub fn {w}_now() -> u32 {{\n    {w}_wait().await\n}}\n",
        "pub fn {w}_compare(a: &{W}Kind, b: &{W}Kind) -> bool {{\n    a == b\n}}\n\npub enum {W}Kind {{\n    White,\n    Dark {{ hours: u8 }},\n}}\n",
        "pub const {U}_LIMIT: usize = std::env::args().count();\n",
        "pub fn {w}_closure() -> impl Fn() -> u32 {{\n    let base = 4;\n    || base + 1\n}}\n",
    ]
    workspace({"bakery": 0, "shop-front": 0})
    for name, modules in (("bakery", names[:52]), ("shop-front", names[52:])):
        lib = "".join(f"pub mod {m};\n" for m in modules)
        if name == "shop-front":
            lib += "\nuse crate::ledger::Ledger;\n\npub fn open(l: Ledger) {\n    l.start(1, 2);\n}\n"
        crate(name, lib)
        for m in modules:
            chosen = rng.sample(parts, rng.randrange(4, 8))
            write(f"crates/{name}/src/{m}.rs", "\n".join(p.format(w=m, W=camel(m), U=m.upper()) for p in chosen))


QUARRY = [
    "pub fn {w}_len(items: &Vec<String>) -> i32 {{\n    let n = items.len() as i32;\n    return n;\n}}\n",
    "pub fn {w}_find(items: &[u32], wanted: u32) -> bool {{\n    for i in 0..items.len() {{\n        if items[i] == wanted {{\n            return true;\n        }}\n    }}\n    false\n}}\n",
    "pub fn {w}_name(name: &String) -> String {{\n    if name.len() == 0 {{\n        return \"none\".to_string().clone();\n    }}\n    format!(\"{{}}\", name)\n}}\n",
    "pub fn {w}_get(map: &std::collections::HashMap<u32, u32>, key: u32) -> u32 {{\n    if map.contains_key(&key) {{\n        *map.get(&key).unwrap()\n    }} else {{\n        0\n    }}\n}}\n",
    "pub struct {W};\n\nimpl {W} {{\n    pub fn new() -> Self {{\n        {W}\n    }}\n\n    pub fn to_weight(self, a: u8, b: u8, c: u8, d: u8, e: u8, f: u8, g: u8) -> u32 {{\n        (a + b + c + d + e + f + g) as u32\n    }}\n}}\n",
    "pub fn {w}_round(x: f64) -> u32 {{\n    let y = x * 3.14;\n    y as u32\n}}\n",
    "pub fn {w}_match(x: Option<u32>) -> u32 {{\n    match x {{\n        Some(v) => v,\n        None => 0,\n    }}\n}}\n",
    "pub fn {w}_bool(a: bool) -> bool {{\n    if a == true {{\n        true\n    }} else {{\n        false\n    }}\n}}\n",
    "pub fn {w}_chain(v: Vec<u32>) -> Vec<u32> {{\n    v.into_iter().map(|x| x.clone()).filter(|x| *x > 1).map(|x| x).collect()\n}}\n",
    "pub fn {w}_box(v: Box<Vec<u32>>) -> usize {{\n    v.iter().filter(|x| **x > 2).next().map_or(0, |_| 1)\n}}\n",
]
MILL = [
    "/// Returns the speed.\npub fn {w}_speed(rpm: u32, ratio: f32) -> Result<f32, String> {{\n    if rpm == 0 {{ return Err(format!(\"stopped\")); }}\n    Ok(rpm as f32 * ratio)\n}}\n",
    "pub fn {w}_state(on: bool, fast: bool, loud: bool, hot: bool) -> u8 {{\n    if on {{ if fast {{ 2 }} else {{ 1 }} }} else {{ if hot || loud {{ 9 }} else {{ 0 }} }}\n}}\n",
    "pub fn {w}_words(text: &str) -> Vec<String> {{\n    let mut out = Vec::new();\n    for w in text.split(\" \") {{\n        out.push(w.to_string());\n    }}\n    out\n}}\n",
    "#[derive(Clone)]\npub struct {W}Wheel {{ pub teeth: u32 }}\n\nimpl {W}Wheel {{\n    pub fn get_teeth(&self) -> u32 {{ self.teeth }}\n    pub fn add(self, other: {W}Wheel) -> {W}Wheel {{ {W}Wheel {{ teeth: self.teeth + other.teeth }} }}\n}}\n",
    "pub fn {w}_swap(a: &mut u32, b: &mut u32) {{\n    let t = *a;\n    *a = *b;\n    *b = t;\n}}\n",
    "pub fn {w}_range(x: u32) -> bool {{\n    x >= 3 && x <= 9\n}}\n",
    "pub fn {w}_panic(v: Option<u32>) -> u32 {{\n    let r: Result<u32, ()> = v.ok_or(());\n    r.ok().expect(\"a value\")\n}}\n",
    "pub fn {w}_big() -> u64 {{\n    let limit = 1000000;\n    limit * 24 * 60\n}}\n",
    "pub fn {w}_find(v: &[u32]) -> Option<u32> {{\n    v.iter().filter(|x| **x > 10).map(|x| *x).next()\n}}\n",
]


def lint(project, seed, words, parts, crates, special):
    rng = random.Random(seed)
    workspace(crates)
    per = len(words) // len(crates)
    for k, name in enumerate(crates):
        modules = words[k * per:(k + 1) * per]
        crate(name, "".join(f"pub mod {m};\n" for m in modules) + (special if k == len(crates) - 1 else ""))
        for m in modules:
            write(f"crates/{name}/src/{m}.rs", "\n".join(p.format(w=m, W=camel(m)) for p in rng.sample(parts, rng.randrange(4, len(parts)))))


def quarry():
    words = ["blast", "boulder", "conveyor", "crusher", "dragline", "drill", "dust", "excavator", "face", "fuse", "gravel", "haul", "hopper",
             "ledge", "loader", "pit", "pump", "ramp", "ripper", "sand", "screen", "shovel", "slab", "slope", "spoil", "stone", "sump", "truck", "vein", "winch"]
    words = [f"{w}_{role}" for w in words for role in ("plan", "log", "check", "cost")]
    lint("quarry", 51, words, QUARRY, ["quarry-plan", "quarry-fleet", "quarry-safety"],
         "\npub fn shutdown(level: u8) -> bool {\n    level >= 0 && level < 10\n}\n\npub fn absurd(a: u32) -> u32 {\n    a - a\n}\n")


def mill():
    words = ["axle", "belt", "bolt", "bran", "cog", "flume", "gear", "grain", "hoist", "lever", "millstone", "sack", "sail", "shaft", "sieve", "sluice",
             "spindle", "tower", "vane", "weir_gate"]
    lint("mill", 52, words, MILL, ["mill-works", "mill-trade"],
         "\npub fn forever(mut n: u32) -> u32 {\n    while n > 0 {\n        std::hint::black_box(1);\n    }\n    n\n}\n\npub fn stop(x: &f64) -> bool {\n    *x == f64::NAN\n}\n")


PROJECTS = {"depot": depot, "bakery": bakery, "quarry": quarry, "mill": mill}
