//! How the program was built: the settings of the compilers and the linker, read back from the program itself.
#![expect(clippy::disallowed_methods, reason = "the test asks readelf")]

use std::process::Command;

/// Returns the output of `readelf` for the program.
fn readelf(option: &str) -> String {
    let output = Command::new("readelf").args(["--wide", option, env!("CARGO_BIN_EXE_weir")]).output().unwrap();
    assert!(output.status.success(), "readelf {option}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_program_is_loaded_anywhere_and_its_tables_are_read_only() {
    let header = readelf("--file-header");
    assert!(
        header.contains("DYN (Position-Independent Executable file)") || header.contains("DYN (Shared"),
        "{header}"
    );
    let segments = readelf("--program-headers");
    assert!(segments.contains("GNU_RELRO"), "{segments}");
    let stack = segments.lines().find(|line| line.contains("GNU_STACK")).unwrap();
    assert!(stack.contains(" RW ") && !stack.contains("RWE"), "{stack}");
    let dynamic = readelf("--dynamic");
    assert!(dynamic.contains("BIND_NOW") || dynamic.contains("NOW PIE"), "{dynamic}");
    assert!(!dynamic.contains("RPATH") && !dynamic.contains("RUNPATH"), "{dynamic}");
}

#[test]
#[cfg(target_env = "gnu")]
fn parts_in_c_check_their_stack_and_their_buffers() {
    let symbols = readelf("--dyn-syms");
    assert!(symbols.contains("__stack_chk_fail"), "no stack protector: {symbols}");
    let checked = |name: &&str| symbols.contains(&format!("{name}@"));
    let functions =
        ["__memcpy_chk", "__memmove_chk", "__memset_chk", "__snprintf_chk", "__vsnprintf_chk", "__read_chk"];
    assert!(functions.iter().any(checked), "no checked functions: {symbols}");
}
