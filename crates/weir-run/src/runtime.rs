//! Finds the runtime of a language on this machine, and caches the result.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{LazyLock, Mutex};

use weir_context::Context;
use weir_host::config::Sandbox;
use weir_host::error::{CommandError, ErrorKind};
use weir_host::mutex::lock;
use weir_host::os;
use weir_runner::runtimes::{Found, Language, Missing};
use weir_runner::{Level, Spec};

use super::{PROBE_TIMEOUT, output_of};

pub(super) fn locate(context: &Context, language: &'static Language) -> Result<Found, CommandError> {
    static FOUND: LazyLock<Mutex<HashMap<&'static str, Found>>> = LazyLock::new(Mutex::default);
    if !os::CAN_RUN {
        return Err(CommandError::new(ErrorKind::Sandbox, "runs are not supported on this system")
            .hint("on Windows, use Weir in WSL 2; docs/platforms.md says what works where"));
    }
    let mut found = lock(&FOUND);
    if let Some(found) = found.get(language.name).filter(|found| found.program.exists()) {
        return Ok(found.clone());
    }
    let path = super::environment::search_path(context);
    let new = language.locate(&path, |program| version_of(context, program)).map_err(|missing| {
        let Missing { language, install, .. } = &missing;
        let hint = match install.is_empty() {
            true => format!("install a runtime for {language}"),
            false => format!("install one: {}", install.join(", or ")),
        };
        CommandError::new(ErrorKind::NotFound, missing.to_string()).hint(hint)
    })?;
    found.insert(language.name, new.clone());
    Ok(new)
}

/// Returns the version that a program prints. The program runs in a sandbox that sees everything and changes nothing.
fn version_of(context: &Context, program: &Path) -> Option<String> {
    let spec = Spec {
        environment: context.env().for_runs().cloned().collect(),
        visible: vec![program.parent()?.canonicalize().ok()?],
        ..Spec::new(Level::Full, vec![program.into(), "--version".into()], "/")
    };
    let lower = match context.config().sandbox {
        Sandbox::Required => None,
        Sandbox::BestEffort => Some(Level::Landlock),
        Sandbox::Seatbelt => Some(Level::Seatbelt),
        Sandbox::Off => Some(Level::None),
    };
    let said = output_of(&spec, PROBE_TIMEOUT).ok();
    let said = said.or_else(|| output_of(&Spec { level: lower?, ..spec.clone() }, PROBE_TIMEOUT).ok())?;
    Some(String::from_utf8_lossy(&said).into_owned())
}
