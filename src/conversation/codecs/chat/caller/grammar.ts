import { hostedNamesByType } from "../../../contract/hosted_tools.ts";
import type { RequestGrammar } from "../../../contract/request_grammar.ts";
import { isVendorKind } from "../../../contract/vendor_tools.ts";
import { systemFiles } from "./system_files.ts";

/** Tools that the caller runs. */
const CALLER_RUN = /^(function|custom)$/;

/** The meaning of members of a chat request. */
export const grammar: RequestGrammar = {
  hasExactNames: false,
  hasStoredPrompts: false,
  cacheFields: [],
  inputField: "messages",
  isCallerData: () => false,
  ownReferences: systemFiles,
  isThreaded: () => false,
  hostedToolNames: (tool) => hostedNamesByType(tool, "function", CALLER_RUN),
  isVendorTool: isVendorKind,
  isImage: ({ type }) => type === "image_url",
};
