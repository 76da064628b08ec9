//! Writes the seeds of a target into a folder, one file each: `weir-fuzz-seeds TARGET FOLDER`. Without arguments it
//! lists the targets.
#![allow(clippy::print_stdout, reason = "a program for people")]

use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [name, folder] = arguments.as_slice() else {
        weir_fuzz::TARGETS.iter().for_each(|target| println!("{}", target.name));
        return ExitCode::SUCCESS;
    };
    let Some(target) = weir_fuzz::find(name) else { return ExitCode::FAILURE };
    let folder = PathBuf::from(folder);
    for (number, seed) in weir_fuzz::seeds(target).iter().enumerate() {
        if std::fs::write(folder.join(format!("seed-{number:03}")), seed).is_err() {
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}
