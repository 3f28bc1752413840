import { parseExactJson } from "../../platform/lib/json/exact_json.ts";

/** The members with values of tools: arguments of calls, results, and what schemas allow. In every spelling. */
const EXACT_MEMBERS: ReadonlySet<string> = new Set([
  ...["args", "arguments", "partialArgs", "partial_args"],
  ...["response", "json"],
  ...["parameters", "parametersJsonSchema", "parameters_json_schema", "input_schema", "inputSchema", "schema"],
  ...["responseSchema", "response_schema", "responseJsonSchema", "response_json_schema", "_responseJsonSchema"],
  ...["metadata", "labels"],
]);

/** Whether a member keeps the digits of its numbers. `input` is that of a call where it is no list of items. */
function isExactMember(name: string, value: object): boolean {
  return EXACT_MEMBERS.has(name) || (name === "input" && !Array.isArray(value));
}

/**
 * Parses a request or reply of any format, so that the numbers of tools keep their digits. A rounded number names
 * another record. Source: RFC 8259, 6, which leaves the precision to the reader.
 *
 * @throws {SyntaxError} As `JSON.parse`.
 */
export function parseWithExactValues(text: string): unknown {
  return parseExactJson(text, isExactMember);
}
