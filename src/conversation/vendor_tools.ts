import type { JsonObject } from "../lib/json_object.ts";
import type { RequestGrammar } from "./request_grammar.ts";
import { isAbsent, isObject } from "./wire_value.ts";

/** Tools of the messages and responses formats that the caller runs, although the vendor defined them. */
const CALLERS_TOOLS =
  /^(?:function|custom|namespace|local_shell|apply_patch|computer|bash|text_editor|memory|tool_search)(?![a-z])/;

/** Whether a tool that has its kind in `type` is run by the vendor. */
export function isVendorKind({ type }: JsonObject): boolean {
  if (isAbsent(type) || type === "" || type === false) return false;
  return !(typeof type === "string" && CALLERS_TOOLS.test(type));
}

/** How many tools a request offers that the vendor runs itself, also those that it bills by their tokens alone. */
export function vendorToolsIn(grammar: RequestGrammar, body: JsonObject): number {
  // The content format takes one tool in place of a list.
  const tools: readonly unknown[] = Array.isArray(body.tools) ? body.tools : [body.tools];
  return tools.filter((tool) => isObject(tool) && grammar.isVendorTool(tool)).length;
}
