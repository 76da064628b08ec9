//! Elixir, as a script without a project.

use super::{Language, Plan, PlanRequest, Runtime, on_first_line};

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

/// Upper-case names are modules in Elixir, so these are lower-case. Functions inside modules cannot see them.
const PRELUDE: &str = "file_path = System.fetch_env!(\"WEIR_FILE\"); \
    file_content = file_path |> File.read!() |> String.chunk(:valid) \
    |> Enum.map_join(&if(String.valid?(&1), do: &1, else: \"\\uFFFD\")); _ = file_path; _ = file_content; ";

/// Builds the plan. The virtual machine uses Latin-1 for file names and output unless told otherwise.
fn plan(request: &PlanRequest<'_>) -> Plan {
    let code = request.path("code.exs");
    let step = request.step([code.as_os_str()]);
    Plan::default()
        .write(code, on_first_line(request.prelude(PRELUDE), request.code))
        .run(step)
        .set("ELIXIR_ERL_OPTIONS", "+fnu")
        .set("LC_CTYPE", "C.UTF-8")
}
