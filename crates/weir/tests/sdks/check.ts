// Checks that the types of the official SDKs accept the forms of `weir schema`. The test puts a form in place of each FORM.
import type Anthropic from "@anthropic-ai/sdk";
import type { Tool as GeminiTool } from "@google/genai";
import type { Tool as McpTool } from "@modelcontextprotocol/sdk/types.js";
import type OpenAI from "openai";

export const anthropic: Anthropic.Tool[] = FORM("anthropic");
export const gemini: GeminiTool[] = FORM("gemini");
export const mcp: McpTool[] = FORM("mcp");
export const chat: OpenAI.Chat.Completions.ChatCompletionTool[] = FORM("openai-chat");
export const responses: OpenAI.Responses.Tool[] = FORM("openai-responses");
