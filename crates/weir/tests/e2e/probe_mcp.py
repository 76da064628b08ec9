#!/usr/bin/env python3
"""An MCP server with one tool, for outputs as large as a test wants: `lines`, which returns so many."""

import json
import sys

LINES = {
    "name": "lines",
    "description": "Returns so many lines.",
    "inputSchema": {"type": "object", "properties": {"count": {"type": "integer"}}, "required": ["count"]},
}


def answer(method, params):
    """The result of a request; none for what is not known here."""
    if method == "initialize":
        server = {"name": "probe", "version": "1"}
        return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": server}
    if method == "tools/list":
        return {"tools": [LINES]}
    if method == "tools/call":
        count = params["arguments"]["count"]
        text = "\n".join("probe line %d of %d" % (number, count) for number in range(1, count + 1))
        return {"content": [{"type": "text", "text": text}]}
    return {} if method == "ping" else None


def main():
    for line in sys.stdin:
        request = json.loads(line)
        if "id" not in request:
            continue
        result = answer(request["method"], request.get("params") or {})
        reply = {"result": result} if result is not None else {"error": {"code": -32601, "message": "not known"}}
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **reply}), flush=True)


if __name__ == "__main__":
    main()
