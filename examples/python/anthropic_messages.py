"""Gives a model the tools of `weir serve` through Anthropic's Messages.

usage: python anthropic_messages.py QUESTION

WEIR_TOKEN has a token of the server; ANTHROPIC_API_KEY and ANTHROPIC_BASE_URL are read by the SDK.
"""

import json
import os
import sys

from anthropic import Anthropic

import weir

MODEL = os.environ.get("MODEL", "claude-opus-5-5")
MAX_ANSWER_TOKENS = 16_000


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    tools = weir.tools("anthropic")
    client = Anthropic()
    messages = [{"role": "user", "content": sys.argv[1]}]
    for _ in range(weir.MAX_REQUESTS):
        message = client.messages.create(
            model=MODEL, max_tokens=MAX_ANSWER_TOKENS, system=weir.INSTRUCTIONS, messages=messages, tools=tools
        )
        if message.stop_reason == "max_tokens":
            sys.exit(f"error: the answer has more than {MAX_ANSWER_TOKENS} tokens")
        calls = [block for block in message.content if block.type == "tool_use"]
        if not calls:
            print("".join(block.text for block in message.content if block.type == "text"))
            return
        results = []
        for call in calls:
            text, failed = weir.call(call.name, json.dumps(call.input))
            results.append({"type": "tool_result", "tool_use_id": call.id, "content": text, "is_error": failed})
        messages += [{"role": "assistant", "content": message.content}, {"role": "user", "content": results}]
    sys.exit(f"error: no answer after {weir.MAX_REQUESTS} requests")


if __name__ == "__main__":
    main()
