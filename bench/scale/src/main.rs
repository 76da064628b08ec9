//! Models a team server on many machines, from figures that were measured on one. What it prints is extrapolation.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a model prints its tables")]
#![allow(clippy::disallowed_methods, reason = "a program reads its arguments")]

mod cluster;
mod growth;
mod inputs;
mod random;
mod scenarios;
mod shards;
mod tables;
mod tenants;

use std::process::ExitCode;

use inputs::Inputs;

const USAGE: &str = "\
usage: weir-scale [--json] [--inputs FILE]
                       skew, growing, loss of a node and catching up of 480 shards on 16 nodes, and sizes";

fn main() -> ExitCode {
    let (mut json, mut file) = (false, None);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--json" => json = true,
            "--inputs" => file = arguments.next(),
            _ => {
                eprintln!("{USAGE}");
                return ExitCode::from(2);
            }
        }
    }
    match model(file.as_deref()) {
        Ok(report) if json => println!("{}", report.to_json()),
        Ok(report) => print!("{}", report.to_markdown()),
        Err(error) => {
            eprintln!("error: {error}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

fn model(file: Option<&str>) -> Result<tables::Report, String> {
    let text = match file {
        Some(file) => std::fs::read_to_string(file).map_err(|error| format!("cannot read {file}: {error}"))?,
        None => inputs::TEXT.to_owned(),
    };
    Ok(tables::Report::of(Inputs::parse(&text)?))
}
