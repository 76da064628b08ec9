"""Gives a model the tools of `weir serve` through OpenAI's Responses.

usage: python openai_responses.py QUESTION

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
    tools = weir.tools("openai-responses")
    client = OpenAI()
    items = [{"role": "user", "content": sys.argv[1]}]
    for _ in range(weir.MAX_REQUESTS):
        response = client.responses.create(model=MODEL, instructions=weir.INSTRUCTIONS, input=items, tools=tools)
        calls = [item for item in response.output if item.type == "function_call"]
        if not calls:
            print(response.output_text)
            return
        items += response.output
        for call in calls:
            text, _ = weir.call(call.name, call.arguments)
            items.append({"type": "function_call_output", "call_id": call.call_id, "output": text})
    sys.exit(f"error: no answer after {weir.MAX_REQUESTS} requests")


if __name__ == "__main__":
    main()
