#!/usr/bin/env python3
"""rust.py DIR: a workspace of small crates with warnings, failing tests and a panicking binary."""
import os
import random
import sys

root = sys.argv[1]
rng = random.Random(21)
CRATES = ["queue", "codec", "clock", "routes", "limits", "audit"]


def put(path, text):
    p = os.path.join(root, path)
    os.makedirs(os.path.dirname(p), exist_ok=True)
    open(p, "w").write(text)


put("Cargo.toml", "[workspace]\nresolver = \"2\"\nmembers = [%s]\n" % ", ".join(f'"crates/{c}"' for c in CRATES + ["relay"]))
for c in CRATES:
    put(f"crates/{c}/Cargo.toml", f"[package]\nname = \"{c}\"\nversion = \"0.5.0\"\nedition = \"2021\"\n")
    body, tests = [], []
    for k in range(14):
        name = f"{rng.choice(['push', 'decode', 'advance', 'match_prefix', 'count', 'expire', 'rank'])}_{k}"
        n = rng.randint(2, 9)
        warn = rng.random()
        body.append(f"pub fn {name}(input: &[u32]) -> u32 {{")
        if warn < 0.15:
            body.append(f"    let mut window = {n};\n    let start = input.len();")
        body.append(f"    input.iter().map(|x| x * {n}).sum()")
        body.append("}\n")
        if warn > 0.85:
            body.append(f"fn unused_{name}() {{}}\n")
        want = 6 * n + (1 if rng.random() < 0.06 else 0)
        tests.append(f"    #[test]\n    fn {name}_scales() {{\n        assert_eq!({name}(&[1, 2, 3]), {want}, \"{name} of three values\");\n    }}\n")
        if rng.random() < 0.1:
            tests.append(f"    #[test]\n    #[ignore = \"needs the staging broker\"]\n    fn {name}_remote() {{}}\n")
    put(f"crates/{c}/src/lib.rs", "\n".join(body) + "\n#[cfg(test)]\nmod tests {\n    use super::*;\n\n" + "\n".join(tests) + "}\n")
put("crates/relay/Cargo.toml", "[package]\nname = \"relay\"\nversion = \"0.5.0\"\nedition = \"2021\"\n\n[dependencies]\n" + "".join(f"{c} = {{ path = \"../{c}\" }}\n" for c in CRATES))
put("crates/relay/src/main.rs", '''use std::collections::BTreeMap;

#[derive(Debug)]
struct Frame {
    id: u32,
    checksum: u32,
}

fn frame(id: u32) -> Frame {
    Frame { id, checksum: if id == 212 { 0 } else { id * 3 + 1 } }
}

fn verify(frames: &BTreeMap<u32, Frame>, id: u32) -> u32 {
    let f = frames.get(&id).expect("frame is known");
    assert_ne!(f.checksum, 0, "frame {} lost its checksum", f.id);
    f.checksum
}

fn replay(frames: &BTreeMap<u32, Frame>, from: u32, to: u32) {
    for id in from..to {
        println!("relay: frame {id} ok, checksum {:08x}", verify(frames, id));
    }
}

fn main() {
    let frames: BTreeMap<u32, Frame> = (0..400).map(|id| (id, frame(id))).collect();
    replay(&frames, 0, 400);
}
''')
