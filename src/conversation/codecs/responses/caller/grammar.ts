import { hostedNamesByType } from "../../../contract/hosted_tools.ts";
import type { RequestGrammar } from "../../../contract/request_grammar.ts";
import { isVendorKind } from "../../../contract/vendor_tools.ts";
import { itemReferences } from "./looked_up_items.ts";

/** Tools that the caller runs, or that are billed by tokens only. */
const CALLER_RUN =
  /^(function|custom|namespace|local_shell|apply_patch|computer(_use)?(_preview)?|tool_search|programmatic_tool_calling)$/;

/** The meaning of members of a responses request. */
export const grammar: RequestGrammar = {
  hasExactNames: false,
  hasStoredPrompts: true,
  cacheFields: [],
  inputField: "input",
  isCallerData: () => false,
  ownReferences: itemReferences,
  isThreaded: () => false,
  hostedToolNames: (tool) => hostedNamesByType(tool, "function", CALLER_RUN),
  isVendorTool: isVendorKind,
  isImage: ({ type }) => type === "input_image",
};
