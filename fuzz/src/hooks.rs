//! Fuzzes what clients send: the event in the first line, the payload after it. Also fuzzes their transcripts.

use std::ops::ControlFlow;
use std::path::Path;

use serde_json::Value;
use weir_clients::transcript::{self, Place, Step};
use weir_clients::{Reply, Wire, capture};

/// Decodes a payload as every client.
pub(crate) fn hook(data: &[u8]) {
    let (event, payload) = crate::first_line(data);
    let Ok(payload) = serde_json::from_slice::<Value>(payload) else { return };
    let wire = Wire::new(&event, &payload);
    for client in weir_clients::all() {
        let Some(hook) = (client.decode)(&wire) else { continue };
        for event in capture::events(&hook) {
            assert!(event.text.len() <= 1 << 20, "{}: a long event", client.name);
        }
        for reply in [Reply::Context, Reply::Output, Reply::Command, Reply::Keep] {
            let _ = (client.reply)(&wire, &hook, &reply("said".to_owned()));
        }
    }
}

/// Reads a transcript, and decodes the hooks of its steps.
pub(crate) fn transcript(data: &[u8]) {
    let Ok(Some(read)) = transcript::read(&mut { data }) else { return };
    let mut streamed = 0;
    let _ = transcript::stream(&mut { data }, &mut |part| {
        streamed += part.steps.len();
        ControlFlow::Continue(())
    });
    let steps: usize = read.sessions.iter().map(|session| session.steps.len()).sum();
    assert_eq!(streamed, steps, "what is read in parts is not what is read at once");
    let place =
        Place { session: "s", folder: Path::new("/project"), transcript: Path::new("/transcript"), subagent: "" };
    for session in &read.sessions {
        for step in &session.steps {
            if let Step::Said { request, .. } = step {
                assert!(*request <= session.requests.len(), "a request that never was");
            }
            for told in session.told(step.clone(), &place) {
                let wire = Wire::new(told.event, &told.payload);
                assert!(
                    (session.client().decode)(&wire).is_some(),
                    "{} does not know its own hook",
                    session.client().name
                );
            }
        }
    }
}
