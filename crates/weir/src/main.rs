//! The program: `main`, the command line, and the commands that only a person uses.
//!
//! `main` branches off to hooks, their relay, the status line, and the helpers of runs and parsers. Everything else is
//! the command line (`commands/cli.rs`), which walks `weir_operations::OPERATIONS` and adds commands about whole
//! stores, settings, switches, teams and the installation, each in a file of `commands`.
//!
//! The program owns no subject: each is a crate, and what two commands share belongs there.
//!
//! # Invariants
//!
//! - Latency-critical modes branch off before arguments, runtime, logging and configuration are set up.
//! - Commands have a runtime with one thread; `weir serve` has several.
//! - Standard output is the data or the protocol, and standard error is for people.
//! - A failed system call never becomes a removal or another store: `tests/it/injected.rs` fails every single one of
//!   every command and hook, and compares the store with one that never failed.

mod commands;
mod statusline;

use std::process::ExitCode;

fn main() -> ExitCode {
    weir_runner::survive_file_size_limit();
    // A run's helper is this program started again, and every run waits for it.
    let mut arguments = std::env::args_os().skip(1);
    match arguments.next() {
        Some(argument) if argument == weir_runner::HELPER => weir_runner::helper_main(arguments.next().as_deref()),
        Some(argument) if argument == weir_hook::HOOK => weir_hook::main(&arguments.collect::<Vec<_>>()),
        Some(argument) if argument == statusline::STATUSLINE && arguments.len() == 0 => statusline::main(),
        Some(argument) if argument == weir_hook::rewrite::relay::RELAY => {
            weir_hook::rewrite::relay::main(&arguments.collect::<Vec<_>>())
        }
        Some(argument) if argument == weir_files::outlining::PARSER => weir_files::outlining::parser_main(),
        Some(argument) if argument == weir_run::STAND_IN => weir_run::stand_in(&arguments.collect::<Vec<_>>()),
        Some(argument) if argument == weir_run::background::KEEPER => weir_run::background::keeper_main(),
        _ => commands::cli::run(),
    }
}
