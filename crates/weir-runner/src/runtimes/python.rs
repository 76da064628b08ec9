//! Python 3.

use std::ffi::OsStr;

use super::{Language, NEWEST, Plan, PlanRequest, Runtime};

pub(super) const PYTHON: Language = Language {
    name: "python",
    aliases: &["py", "python3", "py3"],
    extensions: &["py", "pyw"],
    runtimes: &[
        Runtime { program: "python3", versions: &[], install: INSTALL, plan },
        Runtime { program: "python", versions: &[((3, 0), NEWEST)], install: INSTALL, plan },
    ],
};

const INSTALL: &[&str] = &["apt install python3", "dnf install python3", "brew install python"];

/// Starts the code as the main module. `from __future__` must come first in a file and `def f():` first on its line, so
/// nothing can be put in front of the code.
///
/// Modules are found in the current folder, as with `python -c`. Output is line-buffered, so none is lost when the run
/// is ended at a limit. The frame of this file is removed from tracebacks.
const START: &str = r#"import os as _os, sys as _sys
_sys.path[0] = _os.getcwd()
__file__ = _sys.argv[0] = _sys.argv.pop(1)
_sys.stdout.reconfigure(line_buffering=True)
_sys.excepthook = lambda kind, error, trace: (
    _sys.__excepthook__(kind, error.with_traceback(trace and trace.tb_next), trace and trace.tb_next))
if "WEIR_FILE" in _os.environ:
    FILE_PATH = _os.environ["WEIR_FILE"]
    with open(FILE_PATH, encoding="utf-8", errors="replace", newline="") as _file:
        FILE_CONTENT = _file.read()
exec(compile(open(__file__, "rb").read(), __file__, "exec", dont_inherit=True), globals())
"#;

fn plan(request: &PlanRequest<'_>) -> Plan {
    let (code, start) = (request.path("code.py"), request.path("start.py"));
    let step = request.step([start.as_os_str(), OsStr::new(&code)]);
    Plan::default().write(code, request.code).write(start, START).run(step)
}
