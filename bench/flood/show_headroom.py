"""Prints what headroom (PyPI: headroom-ai) makes of a tool's result. usage: show_headroom.py FILE"""
import sys

import headroom

text = open(sys.argv[1], encoding="utf-8").read()
# OpenAI's form: in Anthropic's, results stand within the user's messages, which it leaves alone.
call = {"id": "c1", "type": "function", "function": {"name": "fetch", "arguments": "{}"}}
messages = [
    {"role": "user", "content": "Have a look."},
    {"role": "assistant", "content": None, "tool_calls": [call]},
    {"role": "tool", "tool_call_id": "c1", "content": text},
]
result = headroom.compress(messages, model="gpt-4o")
print(next(message["content"] for message in result.messages if message["role"] == "tool"))
