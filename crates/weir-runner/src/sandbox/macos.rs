//! The sandbox on macOS: `sandbox-exec` with the profile of [`seatbelt`]. Compiled and reviewed, never run on a Mac, so
//! a run needs the user's own choice: `sandbox = "seatbelt"`, or `"off"` for no sandbox.
//!
//! What it does not have: a process that leaves the group of its run outlives it, other processes are visible, and
//! there is no limit of memory. Invariant: a run that names a network of listeners is refused, since nothing serves
//! one.

use std::ffi::OsString;
use std::io::{self, Read as _};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use weir_core::run::{Ended, Stream};

use crate::elsewhere::{Event, refusal};
use crate::{Level, Network, Outcome, Run, RunError, Spec, seatbelt};

/// The program that applies a profile to itself and executes another.
const SANDBOX_EXEC: &str = "/usr/bin/sandbox-exec";
/// How long the output of a run may stay open after its end, if a process has left its group.
const OPEN_PIPE_GRACE: Duration = Duration::from_secs(2);

pub(crate) fn run(run: &Run<'_>, sink: &mut dyn FnMut(Stream, &[u8]) -> io::Result<()>) -> Result<Outcome, RunError> {
    let spec = run.spec;
    match (spec.level, spec.network) {
        (Level::Full | Level::Landlock, _) => {
            return Err(refusal(
                "the sandbox of macOS has not been tried on a Mac: set sandbox = \"seatbelt\" to use it nevertheless",
            ));
        }
        (_, Network::Listeners) => {
            return Err(refusal("allowed hosts and brokered programs are not supported on macOS"));
        }
        (Level::Seatbelt | Level::None, _) => {}
    }
    let begun = Instant::now();
    let mut watch = Watch { sink, most: run.most_output, printed: 0, until: begun + run.timeout };
    let done = write_files(spec).map_err(RunError::Helper).and_then(|()| steps(run, &mut watch));
    if let Some(scratch) = &spec.scratch {
        let _ = std::fs::remove_dir_all(scratch);
    }
    let StepEnd { ended, status, step } = done?;
    Ok(Outcome {
        ended,
        exit_code: status.and_then(|status| status.code()),
        signal: status.and_then(|status| status.signal()),
        level: spec.level,
        took: begun.elapsed(),
        // Nothing here measures what a whole group has used.
        cpu: Duration::ZERO,
        step,
        left: 0,
    })
}

struct StepEnd {
    ended: Ended,
    status: Option<ExitStatus>,
    step: usize,
}

fn write_files(spec: &Spec) -> io::Result<()> {
    for (path, bytes) in &spec.files {
        path.parent().map_or(Ok(()), std::fs::create_dir_all)?;
        std::fs::write(path, bytes)?;
        // Stand-ins and compiled programs are executed.
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o700);
        std::fs::set_permissions(path, mode)?;
    }
    Ok(())
}

fn steps(run: &Run<'_>, watch: &mut Watch<'_>) -> Result<StepEnd, RunError> {
    let mut last = StepEnd { ended: Ended::Lost, status: None, step: 0 };
    for (step, argv) in run.spec.steps.iter().enumerate() {
        let (events, told) = channel();
        run.stopper.watch(events.clone());
        let mut process = start(run.spec, argv, &events).map_err(RunError::Helper)?;
        drop(events);
        let watched = watch.until_over(&told);
        // Whatever happened, nothing of the group goes on. The leader is not reaped yet, so its number is still its
        // own.
        let _ = kill_process_group(Pid::from_child(&process), Signal::KILL);
        let status = process.wait().map_err(RunError::Helper)?;
        let ended = watched?;
        watch.drain(&told)?;
        last = StepEnd { ended, status: Some(status), step };
        if ended != Ended::Exited || !status.success() {
            break;
        }
    }
    Ok(last)
}

#[expect(clippy::disallowed_methods, reason = "this is the runner")]
fn start(spec: &Spec, argv: &[OsString], events: &Sender<Event>) -> io::Result<Child> {
    let [program, arguments @ ..] = argv else { return Err(io::ErrorKind::InvalidInput.into()) };
    let mut command = match spec.level {
        Level::None => Command::new(program),
        _ => {
            let mut command = Command::new(SANDBOX_EXEC);
            command.args(["-p", &seatbelt::profile(spec)]).arg("--").arg(Path::new(program));
            command
        }
    };
    command.args(arguments).env_clear().envs(spec.environment.iter().cloned()).current_dir(&spec.folder);
    let (output, output_end) = io::pipe()?;
    let error_end = output_end.try_clone()?;
    command.stdin(Stdio::null()).stdout(output_end).stderr(error_end).process_group(0);
    let process = command.spawn()?;
    // The command has copies of the pipe's write end, without which the pipe never reports its end.
    drop(command);
    let (printed, ended, pid) = (events.clone(), events.clone(), Pid::from_child(&process));
    std::thread::Builder::new().spawn(move || forward(output, &printed))?;
    std::thread::Builder::new().spawn(move || {
        // Without reaping it: its number must stay taken until its group is gone.
        let _ = waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT);
        let _ = ended.send(Event::Ended);
    })?;
    Ok(process)
}

fn forward(mut output: io::PipeReader, events: &Sender<Event>) {
    let mut buffer = vec![0; 64 << 10];
    while let Ok(count @ 1..) = output.read(&mut buffer) {
        if events.send(Event::Output(Stream::Out, buffer[..count].to_vec())).is_err() {
            return;
        }
    }
}

/// Receives the output of a run, within its limits.
struct Watch<'a> {
    sink: &'a mut dyn FnMut(Stream, &[u8]) -> io::Result<()>,
    most: u64,
    printed: u64,
    until: Instant,
}

impl Watch<'_> {
    /// Waits until the step ends or has to.
    fn until_over(&mut self, told: &Receiver<Event>) -> Result<Ended, RunError> {
        loop {
            match told.recv_timeout(self.until.saturating_duration_since(Instant::now())) {
                Ok(Event::Output(stream, bytes)) => {
                    if !self.take(stream, &bytes)? {
                        return Ok(Ended::Quota);
                    }
                }
                Ok(Event::Ended) => return Ok(Ended::Exited),
                Ok(Event::Stop) => return Ok(Ended::Cancelled),
                Err(RecvTimeoutError::Timeout) => return Ok(Ended::Timeout),
                Err(RecvTimeoutError::Disconnected) => return Ok(Ended::Lost),
            }
        }
    }

    /// Takes in what was printed before the end.
    fn drain(&mut self, told: &Receiver<Event>) -> Result<(), RunError> {
        let until = Instant::now() + OPEN_PIPE_GRACE;
        while let Ok(event) = told.recv_timeout(until.saturating_duration_since(Instant::now())) {
            match event {
                Event::Output(stream, bytes) if !self.take(stream, &bytes)? => return Ok(()),
                _ => {}
            }
        }
        Ok(())
    }

    /// Passes on what was printed. Returns false once it is too much.
    fn take(&mut self, stream: Stream, bytes: &[u8]) -> Result<bool, RunError> {
        let left = self.most.saturating_sub(self.printed);
        let kept = &bytes[..bytes.len().min(usize::try_from(left).unwrap_or(usize::MAX))];
        self.printed += kept.len() as u64;
        (self.sink)(stream, kept).map_err(RunError::Sink)?;
        Ok(kept.len() == bytes.len())
    }
}
