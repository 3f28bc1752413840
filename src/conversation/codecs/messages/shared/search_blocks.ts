import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import type { Citation } from "../../../neutral/conversation.ts";
import { type ReasoningSignature, writeSignature } from "../../../neutral/reasoning_signature.ts";
import type { SearchOrigin, SearchResult, WebSearchPart } from "../../../neutral/web_search.ts";
import { isObject, objectsOf, parsedOrNull, textOrNull } from "../../../neutral/wire_value.ts";
import type { SignatureReader } from "./signatures.ts";

/** The name of the web search tool of this format. */
export const SEARCH_NAME = "web_search";

/**
 * Prefix of ids of searches run by vendors of other formats. The format allows letters, digits and `_` in such an id.
 */
const FOREIGN_ID = "srvtoolu_sy_";

/** True for the id of a search run by a vendor of another format. */
export function isForeignSearch(callId: unknown): boolean {
  return typeof callId === "string" && callId.startsWith(FOREIGN_ID);
}

/** True for the call of a web search, in a reply or in a history. */
export function isSearchCall(block: JsonObject): boolean {
  return block.type === "server_tool_use" && block.name === SEARCH_NAME;
}

/** The result blocks of searches, by the ids of their calls. */
export function searchResultsIn(blocks: readonly JsonObject[]): Map<unknown, JsonObject> {
  return new Map(
    blocks.filter(({ type }) => type === "web_search_tool_result").map((block) => [block.tool_use_id, block]),
  );
}

/**
 * Reads a search.
 *
 * @param input The call's input as JSON text, if it was streamed; null to use the block's own.
 * @param result The block of its results; undefined when the reply has none.
 */
export function readSearch(
  call: JsonObject,
  input: string | null,
  result: JsonObject | undefined,
  readSignature: SignatureReader,
): WebSearchPart {
  const callId = textOrNull(call.id) ?? "";
  const callInput = input === null || input === "" ? call.input : parsedOrNull(input);
  const query = isObject(callInput) ? textOrNull(callInput.query) : null;
  const failure = isObject(result?.content) ? textOrNull(result.content.error_code) ?? "unavailable" : null;
  const found = result === undefined ? null : objectsOf(result.content).map((page) => readPage(page, readSignature));
  return {
    kind: "web_search",
    callId,
    queries: query === null || query === "" ? [] : [query],
    results: failure === null ? found && found.map(({ page }) => page) : null,
    failure,
    origin: found?.[0]?.origin ?? { format: isForeignSearch(callId) ? "chat" : "messages", issuer: null },
  };
}

function readPage(
  { url, title, page_age: age, encrypted_content: content }: JsonObject,
  readSignature: SignatureReader,
): { page: SearchResult; origin: SearchOrigin } {
  const signature = readSignature(textOrNull(content) ?? "");
  const page = { url: textOrNull(url) ?? "", title: textOrNull(title), age: textOrNull(age) };
  return {
    page: signature.value === "" ? page : { ...page, signature },
    origin: { format: signature.format, issuer: signature.issuer },
  };
}

/**
 * The blocks of a search: its call and its results. Several queries of one search, as in other formats, are joined into
 * one. A page without a title gets its URL as title, because the format requires one.
 */
export function searchBlocks(search: WebSearchPart): JsonObject[] {
  const { queries, results, failure, origin } = search;
  const id = searchIdOf(search);
  const caller = { type: "direct" };
  const call = { type: "server_tool_use", id, name: SEARCH_NAME, input: { query: queries.join("; ") }, caller };
  // A paused search has no results yet, and continues from its call.
  if (results === null && failure === null && origin.format === "messages") return [call];
  const content = failure === null
    ? (results ?? []).map((page) => writePage(page, origin))
    : { type: "web_search_tool_result_error", error_code: failure };
  return [call, { type: "web_search_tool_result", tool_use_id: id, content, caller }];
}

function searchIdOf({ callId, origin }: WebSearchPart): string {
  if (origin.format === "messages" || isForeignSearch(callId)) return callId;
  return FOREIGN_ID + callId.replace(/[^a-zA-Z0-9_]/g, "_");
}

function writePage({ url, title, age, signature }: SearchResult, { format, issuer }: SearchOrigin): JsonObject {
  const content = writeSignature(signature ?? { format, issuer, value: "" }, "messages");
  return { type: "web_search_result", url, title: title ?? url, encrypted_content: content, page_age: age };
}

/**
 * Reads the citations of web pages in a block. This format has no offsets: a citation refers to the whole block, unless
 * the gateway wrote it and encoded the offsets in its signature.
 *
 * @param length UTF-16 units of the block's text; null while unknown.
 */
export function readCitations(value: unknown, length: number | null, readSignature: SignatureReader): Citation[] {
  if (!Array.isArray(value)) return [];
  return value.filter((citation) => isObject(citation) && typeof citation.url === "string").map((citation) => {
    const { url, title, cited_text: text, encrypted_index: index } = citation;
    const signature = typeof index === "string" && index !== "" ? readSignature(index) : null;
    const span = signature === null ? null : spanIn(signature);
    return {
      url,
      title: textOrNull(title),
      ...span ?? { start: length === null ? null : 0, end: length },
      ...(textOrNull(text) ? { citedText: text } : {}),
      ...(signature !== null && span === null ? { signature } : {}),
    };
  });
}

/** Writes the citations of a text. */
export function writeCitations(citations: readonly Citation[]): JsonObject[] {
  return citations.map(({ url, title, start, end, citedText, signature }) => ({
    type: "web_search_result_location",
    url,
    title,
    cited_text: citedText ?? "",
    encrypted_index: writeSignature(signature ?? spanSignature(start, end), "messages"),
  }));
}

/** Encodes a span as a wrapped signature, so that a body with it is found by the search for wrapped signatures. */
function spanSignature(start: number | null, end: number | null): ReasoningSignature {
  return { format: "chat", issuer: null, value: `cite.${start ?? ""}.${end ?? ""}` };
}

function spanIn({ format, value }: ReasoningSignature): Pick<Citation, "start" | "end"> | null {
  const [, start, end] = format === "chat" ? /^cite\.(\d*)\.(\d*)$/.exec(value) ?? [] : [];
  if (start === undefined || end === undefined) return null;
  const numberIn = (digits: string) => digits === "" ? null : Number(digits);
  return { start: numberIn(start), end: numberIn(end) };
}
