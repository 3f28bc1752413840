import { hostedNamesByType } from "../../../hosted_tools.ts";
import type { RequestGrammar } from "../../../request_grammar.ts";
import { isVendorKind } from "../../../vendor_tools.ts";

/** Tools that the caller runs, or that cost their tokens alone. */
const CALLER_RUN = /^(custom|(bash|text_editor|computer|memory|tool_search_tool_\w+|web_fetch|advisor)_\d+)$/;

/** What members of a messages request mean. */
export const grammar: RequestGrammar = {
  namesAreExact: false,
  namesPrompts: false,
  cacheFields: [],
  inputField: "messages",
  isCallersOwn: ({ type }, name) => name === "input" && typeof type === "string" && type.endsWith("tool_use"),
  ownReferences: () => [],
  hostedToolNames: (tool) => hostedNamesByType(tool, "custom", CALLER_RUN),
  isVendorTool: isVendorKind,
  isImage: ({ type }) => type === "image",
};
