"""Gives a model the tools of `weir serve` through OpenAI's Chat Completions.

usage: python openai_chat.py QUESTION

WEIR_TOKEN has a token of the server; OPENAI_API_KEY and OPENAI_BASE_URL are read by the SDK.
"""

import os
import sys

from openai import OpenAI

import weir

MODEL = os.environ.get("MODEL", "gpt-5.5")


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    tools = weir.tools("openai-chat")
    client = OpenAI()
    messages = [{"role": "developer", "content": weir.INSTRUCTIONS}, {"role": "user", "content": sys.argv[1]}]
    for _ in range(weir.MAX_REQUESTS):
        completion = client.chat.completions.create(model=MODEL, messages=messages, tools=tools)
        message = completion.choices[0].message
        if not message.tool_calls:
            print(message.content)
            return
        messages.append(message)
        for call in message.tool_calls:
            text, _ = weir.call(call.function.name, call.function.arguments)
            messages.append({"role": "tool", "tool_call_id": call.id, "content": text})
    sys.exit(f"error: no answer after {weir.MAX_REQUESTS} requests")


if __name__ == "__main__":
    main()
