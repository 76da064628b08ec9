#!/usr/bin/env python3
"""A small MCP server to stand behind Weir: `echo` returns a text, `rows` a table that is the same for the same number."""

import json
import sys

TOOLS = [
    {
        "name": "echo",
        "description": "Return a text as it is",
        "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
        "annotations": {"readOnlyHint": True},
    },
    {
        "name": "rows",
        "description": "List the orders of a customer",
        "inputSchema": {"type": "object", "properties": {"customer": {"type": "integer"}, "rows": {"type": "integer"}}},
        "annotations": {"readOnlyHint": True},
    },
]


def rows(customer: int, number: int) -> str:
    """Returns a text that tells customers apart and is long if `number` is."""
    lines = (f"order {customer}-{at}: {at * 7919 % 9973} items, sum {at * 104729 % 99991}" for at in range(number))
    return "\n".join(lines)


def called(name: str, arguments: dict) -> str:
    if name == "echo":
        return str(arguments.get("text", ""))
    return rows(int(arguments.get("customer", 0)), int(arguments.get("rows", 10)))


def answer(method: str, parameters: dict):
    if method == "initialize":
        version = parameters.get("protocolVersion", "2025-06-18")
        return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": {"name": "probe", "version": "1"}}
    if method == "tools/list":
        return {"tools": TOOLS}
    if method == "tools/call":
        text = called(parameters["name"], parameters.get("arguments") or {})
        return {"content": [{"type": "text", "text": text}], "isError": False}
    return {} if method == "ping" else None


def main() -> None:
    for line in sys.stdin:
        request = json.loads(line)
        if "id" not in request or "method" not in request:
            continue
        result = answer(request["method"], request.get("params") or {})
        reply = {"jsonrpc": "2.0", "id": request["id"]}
        unknown = {"error": {"code": -32601, "message": "unknown method"}}
        print(json.dumps(reply | (unknown if result is None else {"result": result})), flush=True)


if __name__ == "__main__":
    main()
