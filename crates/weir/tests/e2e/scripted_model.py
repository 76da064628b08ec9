"""A scripted stand-in for the model APIs of the clients: Anthropic Messages, OpenAI Responses and Chat, and Gemini.

  scripted_model.py SCENARIO LOG    prints its port, serves until its input ends, and prints what went wrong as JSON

It listens on loopback only and opens no connection of its own. The API is told by the end of the request path; all
answer as a stream or whole, as the client asks.

A scenario is a JSON file:

  {
    "rules": [ { "name": "title",               tried first, in order; they use up no step
                 "when": { "system": "regex",   system and developer text
                           "last": "regex" },   everything since the last turn of the assistant
                 "reply": REPLY } ],
    "steps": [ REPLY, ... ],                    the conversation, one for each request
    "cached": true,                             reports usage as if all that the request before it had were cached
    "strict": true,                             keeps to the rules of the APIs: a call has every argument that a strict
                                                declaration requires, null if the scenario has none, and the request
                                                after it has the call and its result, by its ID
    "raw": true                                 also logs each body as it arrived, and its number at a recorder before it
  }
  REPLY = { "expect": "regex",                  must match "last", or the scenario has failed
            "capture": { "REF": "regex" },      its first group in "last" stands for ${REF} here and from here on
            "needs": "text",                    must stand in a message of the request; else the reply is "first", once
            "first": REPLY,
            "text": "...",
            "usage": 900000,                    the tokens of the request, where the client should take it for full
            "tools": [ { "server": "weir", "name": "ctx_get", "args": {...} } ] }

A tool is called by the name the client gives it; `server` is for MCP tools of Claude Code and Codex. `${NAME}` also
stands for the variables a test gives. In regular expressions a dot stands for a line break too.
"""

import gzip
import json
import os
import re
import sys
import threading
import time
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Scenario:
    """What the model says, what it was asked, and what was wrong about that."""

    def __init__(self, path, variables, log):
        with open(path, encoding="utf-8") as file:
            self.data = json.load(file)
        self.variables = dict(variables)
        self.log = log
        self.lock = threading.Lock()
        self.next = self.requests = 0
        self.failures = []
        self.calls = []
        self.prompts = self.logged_prompts() if self.data.get("cached") else {}

    def answer(self, api, path, body, arrived):
        """Chooses the reply to a request and records both."""
        system, last = describe(api, body)
        with self.lock:
            why, reply = self.choose(system, last, body)
            if self.data.get("strict"):
                self.check_results(why, body)
            for name, pattern in reply.get("capture", {}).items():
                found = re.search(pattern, last, re.S)
                if found:
                    self.variables[name] = found.group(1)
                else:
                    self.failures.append({"at": why, "capture": pattern, "got": last[:4000]})
            reply = self.fill(reply)
            if self.data.get("strict"):
                add_required(reply, body)
            if not re.search(reply.get("expect", ""), last, re.S):
                self.failures.append({"at": why, "expect": reply["expect"], "got": last[:4000]})
            more = dict(arrived) if self.data.get("raw") else {}
            if self.data.get("cached"):
                reply["counted"] = more["usage"] = self.count(reply, body)
            self.record(api=api, path=path, why=why, last=last, system=system, body=body, **more)
        return reply

    def check_results(self, why, body):
        """Finds calls of the reply before that the request does not repeat, or whose result it lacks."""
        text = json.dumps(body)
        missing = [call for call in self.calls if text.count(call) < 2]
        if missing:
            self.failures.append({"at": why, "calls without a result": missing})

    def remember_calls(self, whole):
        """Keeps the IDs of the calls in an answer."""
        with self.lock:
            self.calls = re.findall(r"\b(?:toolu_|call_|fc-)[0-9a-f]{24}\b", json.dumps(whole))

    def count(self, reply, body):
        """The usage by kind, four characters a token: what begins as the model's request before it is read from a cache."""
        prompt = as_prompt(body)
        before = self.prompts.get(body.get("model"), "")
        self.prompts[body.get("model")] = prompt
        read = len(os.path.commonprefix([before, prompt])) // 4
        said = reply.get("text", "") + "".join(json.dumps(tool["args"]) for tool in reply.get("tools", []))
        written = len(prompt) // 4 - read
        usage = {"input_tokens": 0, "output_tokens": len(said) // 4}
        return dict(usage, cache_creation_input_tokens=written, cache_read_input_tokens=read)

    def logged_prompts(self):
        """The last request for each model in the log of the run before, since a cache outlives a client."""
        if not os.path.exists(self.log):
            return {}
        with open(self.log, encoding="utf-8") as file:
            bodies = [json.loads(line)["body"] for line in file]
        return {body.get("model"): as_prompt(body) for body in bodies if body.get("messages")}

    def choose(self, system, last, body):
        for rule in self.data.get("rules", []):
            texts = {"system": system, "last": last}
            if all(re.search(pattern, texts[name], re.S) for name, pattern in rule["when"].items()):
                return "rule:" + rule["name"], rule["reply"]
        steps = self.data["steps"]
        if self.next < len(steps) and (needed := steps[self.next].get("needs")):
            if needed not in flat(body.get("messages")):
                return "first:%d" % self.next, steps[self.next].pop("first")
        self.next += 1
        if self.next <= len(steps):
            return "step:%d" % (self.next - 1), steps[self.next - 1]
        self.failures.append({"at": "end", "unexpected": last[:4000]})
        return "end", {"text": "The scenario has ended."}

    def fill(self, reply):
        text = json.dumps(reply)
        for name, value in self.variables.items():
            text = text.replace("${%s}" % name, json.dumps(value)[1:-1])
        return json.loads(text)

    def finish(self):
        """All that went wrong, steps that nobody asked for included."""
        missing = len(self.data["steps"]) - self.next
        return self.failures + ([{"at": "end", "steps not asked for": missing}] if missing > 0 else [])

    def record(self, **entry):
        """Appends to the log; the caller holds the lock."""
        with open(self.log, "a", encoding="utf-8") as file:
            file.write(json.dumps(dict(n=self.requests, at=round(time.time(), 2), **entry), ensure_ascii=False) + "\n")
        self.requests += 1


def serve(scenario):
    """Starts the model on a free port of loopback and returns the port."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Bound", (Handler,), {"scenario": scenario}))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_address[1]


def flat(part):
    """All text inside a nested part of a message."""
    if isinstance(part, str):
        return part
    if isinstance(part, list):
        return "\n".join(flat(item) for item in part)
    if isinstance(part, dict):
        return "\n".join(flat(part[key]) for key in TEXTS if part.get(key))
    return ""


# Where the APIs have text, from outside to inside.
TEXTS = ("text", "content", "parts", "functionResponse", "response", "output", "error")
# Where they have the messages; else it is `messages`.
MESSAGES = {"responses": "input", "gemini": "contents"}
CALLS = ("function_call", "custom_tool_call")


def describe(api, body):
    """The system text of a request, and the text since the assistant's last turn.

    System and developer messages before the first turn are system text only; later ones are also text that the model
    sees since then."""
    messages = body.get(MESSAGES.get(api, "messages")) or []
    messages = [{"role": "user", "content": messages}] if isinstance(messages, str) else messages
    quiet = ("system", "developer")
    system = [flat(body.get(key)) for key in ("system", "instructions", "systemInstruction")]
    system += [flat(message) for message in messages if message.get("role") in quiet]
    turns = [
        at
        for at, message in enumerate(messages)
        if message.get("role") in ("assistant", "model") or message.get("type") in CALLS
    ]
    since = messages[turns[-1] + 1 :] if turns else [one for one in messages if one.get("role") not in quiet]
    return "\n".join(system), "\n".join(flat(message) for message in since)


def add_required(reply, body):
    """Adds the arguments that a strict declaration of OpenAI's APIs requires: a model then sends all of them."""
    declared = [tool.get("function", tool) for tool in body.get("tools") or []]
    strict = {one["name"]: one["parameters"]["required"] for one in declared if one.get("strict")}
    for tool in reply.get("tools", []):
        if "args" in tool:
            tool["args"] = {**dict.fromkeys(strict.get(tool["name"], [])), **tool["args"]}


def tokens(reply, body):
    """How many tokens the request has: those of the scenario, or a guess."""
    return reply.get("usage", len(json.dumps(body)) // 4)


def as_prompt(body):
    """A request of the Messages API in the order in which its cache has it, without the marks that say where to cache."""

    def bare(part):
        if isinstance(part, list):
            return [bare(item) for item in part]
        if isinstance(part, dict):
            return {key: bare(value) for key, value in part.items() if key != "cache_control"}
        return part

    return json.dumps([bare(body.get(key)) for key in ("tools", "system", "messages")], ensure_ascii=False)


def new_id(prefix):
    return prefix + uuid.uuid4().hex[:24]


# Each API gives (events, whole): the events of a stream as (name, object), and the answer in one piece.


def anthropic(reply, body):
    blocks = [{"type": "text", "text": reply["text"]}] if reply.get("text") else []
    for tool in reply.get("tools", []):
        # Claude Code names an MCP tool and its server in one word.
        name = "mcp__%(server)s__%(name)s" % tool if "server" in tool else tool["name"]
        blocks.append({"type": "tool_use", "id": new_id("toolu_"), "name": name, "input": tool["args"]})
    stop = "tool_use" if reply.get("tools") else "end_turn"
    usage = {"input_tokens": tokens(reply, body), "output_tokens": 20}
    usage.update(cache_creation_input_tokens=0, cache_read_input_tokens=0)
    usage.update(reply.get("counted", {}))
    message = {"id": new_id("msg_"), "type": "message", "role": "assistant", "model": body.get("model")}
    whole = dict(message, content=blocks, stop_reason=stop, stop_sequence=None, usage=usage)
    events = [("message_start", {"message": dict(whole, content=[], stop_reason=None)})]
    for index, block in enumerate(blocks):
        if block["type"] == "text":
            empty, delta = dict(block, text=""), {"type": "text_delta", "text": block["text"]}
        else:
            empty = dict(block, input={})
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        events.append(("content_block_start", {"index": index, "content_block": empty}))
        events.append(("content_block_delta", {"index": index, "delta": delta}))
        events.append(("content_block_stop", {"index": index}))
    events.append(("message_delta", {"usage": usage, "delta": {"stop_reason": stop, "stop_sequence": None}}))
    events.append(("message_stop", {}))
    return [(name, dict(event, type=name)) for name, event in events], whole


def responses(reply, body):
    items = []
    if reply.get("text"):
        part = {"type": "output_text", "text": reply["text"], "annotations": []}
        items.append({"type": "message", "id": new_id("msg_"), "role": "assistant", "content": [part]})
    for tool in reply.get("tools", []):
        kind = "custom_tool_call" if "input" in tool else "function_call"
        call = {"type": kind, "id": new_id("fc_"), "call_id": new_id("call_"), "name": tool["name"]}
        call.update({"input": tool["input"]} if "input" in tool else {"arguments": json.dumps(tool["args"])})
        if "server" in tool:  # Codex names it in a field of its own.
            call["namespace"] = "mcp__" + tool["server"]
        items.append(call)
    items = [dict(item, status="completed") for item in items]
    asked = tokens(reply, body)
    usage = {"input_tokens": asked, "output_tokens": 20, "total_tokens": asked + 20}
    usage.update(input_tokens_details={"cached_tokens": 0}, output_tokens_details={"reasoning_tokens": 0})
    base = {"id": new_id("resp_"), "object": "response", "created_at": int(time.time()), "error": None}
    base["model"] = body.get("model")
    whole = dict(base, status="completed", output=items, usage=usage)
    events = [("response.created", {"response": dict(base, status="in_progress", output=[])})]
    for index, item in enumerate(items):
        where = {"output_index": index, "item_id": item["id"]}
        events.append(("response.output_item.added", dict(where, item=dict(item, status="in_progress"))))
        if item["type"] == "message":
            delta = dict(where, content_index=0, delta=item["content"][0]["text"])
            events.append(("response.output_text.delta", delta))
        events.append(("response.output_item.done", dict(where, item=item)))
    events.append(("response.completed", {"response": whole}))
    return [(name, dict(event, type=name, sequence_number=n)) for n, (name, event) in enumerate(events)], whole


def chat(reply, body):
    calls = []
    for tool in reply.get("tools", []):
        function = {"name": tool["name"], "arguments": json.dumps(tool["args"])}
        calls.append({"id": new_id("call_"), "type": "function", "function": function})
    asked = tokens(reply, body)
    usage = {"prompt_tokens": asked, "completion_tokens": 20, "total_tokens": asked + 20}
    base = {"id": new_id("chatcmpl-"), "created": int(time.time()), "model": body.get("model")}
    message = {"role": "assistant", "content": reply.get("text"), **({"tool_calls": calls} if calls else {})}
    stop = "tool_calls" if calls else "stop"
    choice = {"index": 0, "message": message, "finish_reason": stop}
    whole = dict(base, object="chat.completion", usage=usage, choices=[choice])
    deltas = [{"role": "assistant", "content": reply.get("text") or ""}]
    deltas += [{"tool_calls": [dict(call, index=index)]} for index, call in enumerate(calls)]
    choices = [[{"index": 0, "delta": delta, "finish_reason": None}] for delta in deltas]
    choices.append([{"index": 0, "delta": {}, "finish_reason": stop}])
    events = [(None, dict(base, object="chat.completion.chunk", choices=one)) for one in choices]
    events.append((None, dict(base, object="chat.completion.chunk", choices=[], usage=usage)))
    return [*events, (None, "[DONE]")], whole


def gemini(reply, body):
    parts = [{"text": reply["text"]}] if reply.get("text") else []
    for tool in reply.get("tools", []):
        parts.append({"functionCall": {"id": new_id("fc-"), "name": tool["name"], "args": tool["args"]}})
    asked = tokens(reply, body)
    usage = {"promptTokenCount": asked, "candidatesTokenCount": 20, "totalTokenCount": asked + 20}
    content = {"role": "model", "parts": parts or [{"text": ""}]}
    candidate = {"index": 0, "finishReason": "STOP", "content": content}
    whole = {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "scripted-1"}
    return [(None, whole)], whole


STREAMED = ":streamGenerateContent"
APIS = {
    "/messages": ("anthropic", anthropic),
    "/responses": ("responses", responses),
    "/chat/completions": ("chat", chat),
    ":generateContent": ("gemini", gemini),
    STREAMED: ("gemini", gemini),
}


def in_stream(name, event):
    """An event as a stream has it; the APIs without names have none."""
    data = event if isinstance(event, str) else json.dumps(event)
    return ("event: %s\n" % name if name else "") + "data: %s\n\n" % data


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    scenario = None

    def log_message(self, *_):
        """The scenario keeps its own log."""

    def do_GET(self):
        self.not_scripted({})

    do_HEAD = do_GET

    def do_POST(self):
        raw = self.read_body()
        if self.headers.get("Content-Encoding") == "gzip":
            raw = gzip.decompress(raw)
        body = json.loads(raw or b"{}")
        path = self.path.split("?")[0].rstrip("/")
        api, speak = next((found for tail, found in APIS.items() if path.endswith(tail)), (None, None))
        if api is None:
            return self.not_scripted(body)
        arrived = {"raw": raw.decode(), "recorded": self.headers.get("X-Recorded")}
        events, whole = speak(self.scenario.answer(api, self.path, body, arrived), body)
        self.scenario.remember_calls(whole)
        if not body.get("stream") and not path.endswith(STREAMED):
            return self.send(200, "application/json", json.dumps(whole))
        return self.send(200, "text/event-stream", "".join(in_stream(name, event) for name, event in events))

    def read_body(self):
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        chunks = []
        while size := int(self.rfile.readline().split(b";")[0], 16):
            chunks.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(chunks)

    def not_scripted(self, body):
        """Something outside the model's API: recorded, and refused."""
        with self.scenario.lock:
            self.scenario.record(api=None, path=self.command + " " + self.path, why="stray", body=body)
        self.send(404, "application/json", json.dumps({"error": {"type": "not_found_error", "message": self.path}}))

    def send(self, status, kind, text):
        data = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)


def main():
    scenario, log = sys.argv[1:]
    scenario = Scenario(scenario, {}, log)
    print(serve(scenario), flush=True)
    sys.stdin.read()
    print(json.dumps(scenario.finish()))


if __name__ == "__main__":
    main()
