//! `weir proxy` between a client and a scripted API, both on loopback.

mod clearing;
mod guarding;
mod harness;
mod holding;
mod passing;
mod secure;

use serde_json::{Value, json};

use harness::{Answered, Api, Proxy};

/// The output of a build, which is a by-product and too large to be shown.
fn build(name: &str) -> String {
    (1..=600).map(|number| format!("compiling module {number} of {name}\n")).collect()
}

/// A format of requests, as pieces of a body.
struct Format {
    path: &'static str,
    begin: &'static str,
    call: fn(&str, &str) -> String,
    result: fn(&str, &str) -> String,
    end: &'static str,
}

const ANTHROPIC: Format = Format {
    path: "/v1/messages?beta=true",
    begin: concat!(
        r#"{"model":"m","max_tokens":9,"tools":[{"name":"Bash","input_schema":{"properties":{"command":{}}}}],"#,
        r#""messages":[ {"role":"user","content":"Build \u0069t"}"#
    ),
    call: |id, command| {
        let call = json!({ "type": "tool_use", "id": id, "name": "Bash", "input": { "command": command } });
        json!({ "role": "assistant", "content": [call] }).to_string()
    },
    result: |id, text| {
        let result = json!({ "type": "tool_result", "tool_use_id": id, "content": text, "is_error": false });
        json!({ "role": "user", "content": [result] }).to_string()
    },
    end: "\n],\"stream\":false }",
};

const CHAT: Format = Format {
    path: "/v1/chat/completions",
    begin: concat!(
        r#"{"tools":[{"type":"function","function":{"name":"bash","parameters":{"properties":{"command":{}}}}}],"#,
        r#""messages":[{"role":"user","content":"Build it"}"#
    ),
    call: |id, command| {
        let function = json!({ "name": "bash", "arguments": json!({ "command": command }).to_string() });
        let calls = json!([{ "id": id, "type": "function", "function": function }]);
        json!({ "role": "assistant", "content": null, "tool_calls": calls }).to_string()
    },
    result: |id, text| json!({ "role": "tool", "tool_call_id": id, "content": text }).to_string(),
    end: "]}",
};

const RESPONSES: Format = Format {
    path: "/v1/responses",
    begin: concat!(
        r#"{"instructions":"i","tools":[{"type":"function","name":"exec_command","parameters":"#,
        r#"{"properties":{"cmd":{}}}}],"input":[{"type":"message","role":"user","content":[]}"#
    ),
    call: |id, command| {
        let arguments = json!({ "cmd": command }).to_string();
        json!({ "type": "function_call", "call_id": id, "name": "exec_command", "arguments": arguments }).to_string()
    },
    result: |id, text| json!({ "type": "function_call_output", "call_id": id, "output": text }).to_string(),
    end: "], \"store\": false}",
};

struct Conversation {
    format: &'static Format,
    messages: String,
}

impl Conversation {
    fn new(format: &'static Format) -> Self {
        Self { format, messages: String::new() }
    }

    fn ran(&mut self, id: &str, command: &str, output: &str) -> &mut Self {
        let (call, result) = ((self.format.call)(id, command), (self.format.result)(id, output));
        self.messages.push_str(&format!(", {call},{result}"));
        self
    }

    fn body(&self) -> String {
        format!("{}{}{}", self.format.begin, self.messages, self.format.end)
    }

    /// Sends the conversation. Returns the body that reached the API.
    fn send(&self, proxy: &Proxy, api: &Api) -> String {
        let answered = proxy.post(self.format.path, self.body().as_bytes());
        assert_eq!(answered.status, 200, "{answered:?}");
        String::from_utf8(api.last().body).unwrap()
    }
}

/// Returns what replaced a text, after checking that nothing else was changed.
fn replacement(given: &str, arrived: &str, text: &str) -> String {
    let literal = json!(text).to_string();
    let (before, after) = given.split_once(&literal).unwrap();
    let shown = arrived.strip_prefix(before).and_then(|arrived| arrived.strip_suffix(after));
    let shown = shown.unwrap_or_else(|| panic!("more than the result differs: {arrived}"));
    assert_ne!(shown, literal, "the result was not held back");
    serde_json::from_str(shown).unwrap()
}

fn reference(digest: &str) -> &str {
    let at = digest.find("[ctx:").unwrap_or_else(|| panic!("no reference in {digest}"));
    &digest[at..at + "[ctx:k7f2m9q4xz]".len()]
}

fn parsed(answered: &Answered) -> Value {
    serde_json::from_slice(&answered.body).unwrap_or_else(|error| panic!("{error}: {answered:?}"))
}
