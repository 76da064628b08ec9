//! Ruby.

use std::ffi::OsStr;

use super::{Language, Plan, PlanRequest, Runtime};

pub(super) const RUBY: Language = Language {
    name: "ruby",
    aliases: &["rb"],
    extensions: &["rb"],
    runtimes: &[Runtime {
        program: "ruby",
        versions: &[],
        install: &["apt install ruby", "dnf install ruby", "brew install ruby"],
        plan,
    }],
};

/// Output is unbuffered, so none is lost when the run is ended at a limit.
const PRELUDE: &str = r#"$stdout.sync = true
if ENV.key?("WEIR_FILE")
  FILE_PATH = ENV["WEIR_FILE"]
  FILE_CONTENT = File.binread(FILE_PATH).force_encoding("UTF-8").scrub
end
"#;

/// Builds the plan. Files are read as UTF-8 whatever the locale.
fn plan(request: &PlanRequest<'_>) -> Plan {
    let (code, prelude) = (request.path("code.rb"), request.path("prelude.rb"));
    let step = request.step([OsStr::new("-EUTF-8"), "-r".as_ref(), prelude.as_ref(), code.as_ref()]);
    Plan::default().write(code, request.code).write(prelude, PRELUDE).run(step)
}
