import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import { hostedToolName } from "../../../contract/hosted_tools.ts";
import type { RequestGrammar } from "../../../contract/request_grammar.ts";
import { camelCaseOf } from "../../../contract/request_walk.ts";
import { isAbsent, isObject } from "../../../neutral/wire_value.ts";
import { ownValue } from "../../../../platform/lib/collections/own_value.ts";

/** Tools that the caller runs, or that are billed by tokens only. A tool's kind is its key. */
const CALLER_RUN: ReadonlySet<string> = new Set([
  "functionDeclarations",
  "computerUse",
  "codeExecution",
  "urlContext",
]);

const NAMES: Readonly<Record<string, string>> = {
  googleSearch: "web_search",
  googleSearchRetrieval: "web_search",
  enterpriseWebSearch: "web_search",
  mcpServers: "mcp",
};

/** The meaning of members of a content request, in either spelling. */
export const grammar: RequestGrammar = {
  hasExactNames: true,
  hasStoredPrompts: false,
  cacheFields: ["cachedContent", "cached_content"],
  inputField: "contents",
  isCallerData: (_, name) => name === "args" || name === "response",
  ownReferences: () => [],
  isThreaded: () => false,
  hostedToolNames: (tool) =>
    kindsOf(tool).filter((kind) => !CALLER_RUN.has(kind)).map((kind) => ownValue(NAMES, kind) ?? snakeCaseOf(kind)),
  isVendorTool: (tool) => kindsOf(tool).some((kind) => kind.toLowerCase() !== "functiondeclarations"),
  isImage: (part) => isImageData(part.inlineData ?? part.inline_data) || isImageData(part.fileData ?? part.file_data),
};

function kindsOf(tool: JsonObject): string[] {
  return Object.keys(tool).filter((key) => !isAbsent(tool[key])).map(camelCaseOf);
}

function snakeCaseOf(kind: string): string {
  return hostedToolName(kind.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`));
}

function isImageData(data: unknown): boolean {
  if (!isObject(data)) return false;
  const type = data.mimeType ?? data.mime_type;
  return typeof type === "string" && type.toLowerCase().startsWith("image/");
}
