//! The part of the broker inside the sandbox.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};

use weir_core::run::Stream;

use super::frame::{self, Answer, MAX_FRAME_BYTES};

/// The exit code of a refused stand-in, as in shells for a program that cannot be executed.
const REFUSED: i32 = 126;

/// Asks the broker to run a command, forwards its output, and returns its exit code. A refusal is written to `stderr`.
pub fn call(
    broker: SocketAddr,
    token: &OsStr,
    argv: &[OsString],
    stdout: &mut dyn Write,
    stderr: &mut dyn Write,
) -> io::Result<i32> {
    let mut stream = TcpStream::connect(broker)?;
    stream.write_all(&frame::encode_request(token, argv))?;
    let mut bytes = Vec::new();
    loop {
        let mut start = [0; 5];
        stream.read_exact(&mut start)?;
        let size = frame::number(&start[1..])?;
        if size > MAX_FRAME_BYTES {
            return Err(io::ErrorKind::InvalidData.into());
        }
        bytes.resize(size, 0);
        stream.read_exact(&mut bytes)?;
        match Answer::decode(start[0], &bytes)? {
            Answer::Output(Stream::Out, bytes) => {
                stdout.write_all(bytes)?;
                stdout.flush()?;
            }
            Answer::Output(Stream::Err, bytes) => stderr.write_all(bytes)?,
            Answer::Exit(code) => return Ok(code),
            Answer::Refused(why) => {
                let program = argv.first().map(|program| program.to_string_lossy()).unwrap_or_default();
                writeln!(stderr, "weir: {program} was not run: {why}")?;
                return Ok(REFUSED);
            }
        }
    }
}
