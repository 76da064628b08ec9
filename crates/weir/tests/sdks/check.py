"""Checks that the official SDKs accept the forms of `weir schema`, and the document of `weir serve`.

usage: check.py FOLDER (one FORM.json each, and document.json)
"""
import json
import pathlib
import sys

from anthropic.types import ToolParam
from google.genai import types as gemini
from mcp.types import Tool
from openai.types.chat import ChatCompletionFunctionToolParam
from openai.types.responses import FunctionTool
from openapi_spec_validator import validate
from pydantic import TypeAdapter

folder = pathlib.Path(sys.argv[1])


def read(form):
    return json.loads((folder / f"{form}.json").read_text(encoding="utf-8"))


def check(form, kind):
    tools = read(form)
    for tool in tools:
        TypeAdapter(kind).validate_python(tool)
    print(f"{form}: {len(tools)} accepted")


check("anthropic", ToolParam)
check("gemini", gemini.Tool)
check("mcp", Tool)
check("openai-chat", ChatCompletionFunctionToolParam)
check("openai-responses", FunctionTool)
validate({"openapi": "3.1.0", "info": {"title": "Weir", "version": "1"}, "paths": {}, "components": read("openapi")})
print("openapi: accepted")
validate(read("document"))
print("document of the server: accepted")
