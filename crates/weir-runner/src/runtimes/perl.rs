//! Perl 5.

use std::ffi::{OsStr, OsString};

use super::{Language, Plan, PlanRequest, Runtime};

pub(super) const PERL: Language = Language {
    name: "perl",
    aliases: &["pl", "perl5"],
    extensions: &["pl", "pm"],
    runtimes: &[Runtime {
        program: "perl",
        versions: &[],
        install: &["apt install perl", "dnf install perl", "brew install perl"],
        plan,
    }],
};

/// Variables that another package exports into `main` need no `our` under `use strict`. The content stays bytes:
/// literals and output are bytes too unless the code says otherwise, and mixing in a decoded string would garble it.
/// Output is unbuffered, so none is lost when the run is ended at a limit.
const PRELUDE: &str = r#"package WeirPrelude;
$| = 1;
if (defined $ENV{WEIR_FILE}) {
    our $path = $ENV{WEIR_FILE};
    open(my $file, '<:raw', $path) or die "cannot read $path: $!\n";
    our $content = do { local $/; <$file> } // '';
    *main::FILE_PATH = \$path;
    *main::FILE_CONTENT = \$content;
}
1;
"#;

fn plan(request: &PlanRequest<'_>) -> Plan {
    let (code, prelude) = (request.path("code.pl"), request.path("WeirPrelude.pm"));
    let mut folder = OsString::from("-I");
    folder.push(request.scratch);
    let step = request.step([folder.as_ref(), OsStr::new("-MWeirPrelude"), code.as_ref()]);
    Plan::default().write(code, request.code).write(prelude, PRELUDE).run(step)
}
