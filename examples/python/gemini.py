"""Gives a model the tools of `weir serve` through Gemini's generateContent.

usage: python gemini.py QUESTION

WEIR_TOKEN has a token of the server; GEMINI_API_KEY and GOOGLE_GEMINI_BASE_URL are read by the SDK.
"""

import json
import os
import sys

from google import genai
from google.genai import types

import weir

MODEL = os.environ.get("MODEL", "gemini-3.8-flash")


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    tools = [types.Tool.model_validate(tool) for tool in weir.tools("gemini")]
    config = types.GenerateContentConfig(system_instruction=weir.INSTRUCTIONS, tools=tools)
    client = genai.Client()
    contents = [types.Content(role="user", parts=[types.Part(text=sys.argv[1])])]
    for _ in range(weir.MAX_REQUESTS):
        answer = client.models.generate_content(model=MODEL, contents=contents, config=config)
        if not answer.function_calls:
            print(answer.text)
            return
        results = []
        for call in answer.function_calls:
            text, failed = weir.call(call.name, json.dumps(call.args or {}))
            response = {"error" if failed else "output": text}
            result = types.FunctionResponse(id=call.id, name=call.name, response=response)
            results.append(types.Part(function_response=result))
        contents += [answer.candidates[0].content, types.Content(role="user", parts=results)]
    sys.exit(f"error: no answer after {weir.MAX_REQUESTS} requests")


if __name__ == "__main__":
    main()
