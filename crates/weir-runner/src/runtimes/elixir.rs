//! Elixir, as a script without a project.

use super::{Language, Plan, Request, Runtime, on_first_line};

pub(super) const ELIXIR: Language = Language {
    name: "elixir",
    aliases: &["ex", "exs"],
    extensions: &["exs", "ex"],
    runtimes: &[Runtime {
        program: "elixir",
        versions: &[],
        install: &["apt install elixir", "dnf install elixir", "brew install elixir"],
        plan,
    }],
};

/// Names in upper case are modules in Elixir, so these are in lower case. Functions of modules do not see them.
const PRELUDE: &str = "file_path = System.fetch_env!(\"WEIR_FILE\"); \
    file_content = file_path |> File.read!() |> String.chunk(:valid) \
    |> Enum.map_join(&if(String.valid?(&1), do: &1, else: \"\\uFFFD\")); _ = file_path; _ = file_content; ";

/// The virtual machine reads the names of files and writes its output as Latin-1 unless it is told otherwise.
fn plan(request: &Request<'_>) -> Plan {
    let code = request.path("code.exs");
    let step = request.step([code.as_os_str()]);
    Plan::default()
        .write(code, on_first_line(request.prelude(PRELUDE), request.code))
        .run(step)
        .set("ELIXIR_ERL_OPTIONS", "+fnu")
        .set("LC_CTYPE", "C.UTF-8")
}
