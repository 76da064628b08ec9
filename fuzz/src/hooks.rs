//! What clients send: the event in the first line, the payload after it.

use serde_json::Value;
use weir_clients::{CLIENTS, Reply, Wire, capture};

/// A payload, as every client would read it.
pub(crate) fn hook(data: &[u8]) {
    let (event, payload) = crate::first_line(data);
    let Ok(payload) = serde_json::from_slice::<Value>(payload) else { return };
    let wire = Wire { event: &event, payload: &payload };
    for client in CLIENTS {
        let Some(hook) = (client.decode)(&wire) else { continue };
        for event in capture::events(&hook) {
            assert!(event.text.len() <= 1 << 20, "{}: a long event", client.name);
        }
        for reply in [Reply::Context("said"), Reply::Output("said"), Reply::Command("true")] {
            let _ = (client.reply)(&wire, &hook, &reply);
        }
    }
}
