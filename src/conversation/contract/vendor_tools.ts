import type { JsonObject } from "../../platform/lib/json/json_object.ts";
import type { RequestGrammar } from "./request_grammar.ts";
import { isAbsent, isObject } from "../neutral/wire_value.ts";

/** Tools of the messages and responses formats that the vendor defined and the caller runs. */
const CALLERS_TOOLS =
  /^(?:function|custom|namespace|local_shell|apply_patch|computer|bash|text_editor|memory|tool_search)(?![a-z])/;

/** Whether the vendor runs a tool with its kind in `type`. */
export function isVendorKind({ type }: JsonObject): boolean {
  if (isAbsent(type) || type === "" || type === false) return false;
  return !(typeof type === "string" && CALLERS_TOOLS.test(type));
}

/** The number of tools in a request that the vendor runs, including those billed by tokens only. */
export function vendorToolsIn(grammar: RequestGrammar, body: JsonObject): number {
  if (isAbsent(body.tools)) return 0;
  // The content format accepts a single tool in place of a list.
  const tools: readonly unknown[] = Array.isArray(body.tools) ? body.tools : [body.tools];
  return tools.filter((tool) => isObject(tool) && grammar.isVendorTool(tool)).length;
}
