import type { Quirks } from "../conversation/quirks.ts";

/** Tools of OpenAI alone, calls and choices of such tools, in its two formats. Codex offers them. */
const CUSTOM_TOOLS = /"type"\s*:\s*"(?:custom|namespace|custom_tool_call|custom_tool_call_output)"/;

/**
 * Whether a vendor takes the types of tools in a request as they are. Those of others are sent as functions.
 *
 * @param outlineText The JSON text of the body without long texts.
 */
export function takesToolTypes(outlineText: string, quirks: Quirks): boolean {
  return !quirks.has("no_custom_tools") || !CUSTOM_TOOLS.test(outlineText);
}
