//! One message of a client, from its bytes. Invariant: what cannot be served is answered with a JSON-RPC error.

use rmcp::model::{ErrorCode, ErrorData};
use rmcp::service::{RoleServer, RxJsonRpcMessage};
use serde_json::{Value, json};

/// Returns the error that answers a message that cannot be served.
pub fn refusal(code: ErrorCode, why: &str, id: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": ErrorData::new(code, why.to_owned(), None) })
}

/// Returns a message, or the error that answers it. A notification is never answered, whether known or not, and neither
/// is an answer: its ID is one of ours, and an open request of the client may have the same.
pub fn parse(bytes: &[u8]) -> Option<Result<Box<RxJsonRpcMessage<RoleServer>>, Value>> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii();
    if bytes.is_empty() {
        return None;
    }
    if let Ok(message) = serde_json::from_slice(bytes) {
        return Some(Ok(Box::new(message)));
    }
    match serde_json::from_slice::<Value>(bytes) {
        Ok(Value::Object(message)) => {
            let id = message.get("id")?.clone();
            let has = |name: &str| message.contains_key(name);
            if !has("method") && (has("result") || has("error")) {
                return None;
            }
            Some(Err(refusal(ErrorCode::INVALID_REQUEST, "not a valid MCP message", id)))
        }
        Ok(_) => Some(Err(refusal(ErrorCode::INVALID_REQUEST, "a message must be a JSON object", Value::Null))),
        Err(error) => Some(Err(refusal(ErrorCode::PARSE_ERROR, &format!("invalid JSON: {error}"), Value::Null))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, code: i32, id: Value) {
        let refused = parse(line.as_bytes()).and_then(Result::err).unwrap_or_default();
        assert_eq!((&refused["error"]["code"], &refused["id"]), (&json!(code), &id), "for {line}");
    }

    #[test]
    fn what_cannot_be_served_is_refused_by_its_id() {
        check("garbage", -32700, Value::Null);
        check(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"\ud800"}}"#, -32700, Value::Null);
        check(&"[".repeat(100_000), -32700, Value::Null);
        check("[]", -32600, Value::Null);
        check("7", -32600, Value::Null);
        check(r#"{"id":7}"#, -32600, json!(7));
        check(r#"{"jsonrpc":"1.0","id":"a","method":"ping"}"#, -32600, json!("a"));
    }

    #[test]
    fn notifications_answers_and_empty_lines_are_not_answered() {
        let notification = r#"{"jsonrpc":"2.0","method":"textDocument/didOpen","params":[]}"#;
        let answer = r#"{"jsonrpc":"2.0","id":7,"error":{"code":"none"}}"#;
        for line in ["", "  ", "\r", notification, answer] {
            let answer = parse(line.as_bytes()).and_then(Result::err);
            assert_eq!(answer, None, "for {line}");
        }
    }
}
