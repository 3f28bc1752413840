import type { JsonObject } from "../../../../lib/json_object.ts";
import type { RequestTarget } from "../../../upstream_format.ts";
import type { Conversation } from "../../../conversation.ts";
import { searchToWrite } from "../../../offered_search.ts";
import { NO_SEARCH_SETTINGS, type SearchOrigin, type WebSearch, type WebSearchPart } from "../../../web_search.ts";
import { isObject, listOf, textOf } from "../../../wire_value.ts";
import { field, fieldsBeyond, objectsIn } from "./fields.ts";

const NAME = "tools.googleSearch";

/** The search that checked `tools` offer; null when there is none. This form cannot insist on it. */
export function readSearch(tools: unknown): WebSearch | null {
  const searches = objectsIn(tools).map((tool) => field(tool, "googleSearch"));
  const index = searches.findIndex(isObject);
  const search = searches[index];
  if (!isObject(search)) return null;
  return {
    ...NO_SEARCH_SETTINGS,
    field: Array.isArray(tools) ? `tools[${index}].googleSearch` : "tools.googleSearch",
    name: NAME,
    isForced: false,
    names: {},
    sent: { form: "content", tool: search },
    beyond: fieldsBeyond(search, new Set()).map((key) => `${NAME}.${key}`),
  };
}

/** How a request of this form offers a search. */
export interface WrittenSearch {
  readonly tool: JsonObject;
  /** False where the model takes no functions beside its search, so that they are left out. */
  readonly keepsFunctions: boolean;
  /** True where calls of the search are to be told, without which newer models refuse functions beside it. */
  readonly tellsCalls: boolean;
}

/**
 * The tool for a conversation's search; null when it offers none. Models before the third generation take either the
 * search or functions: functions stay, unless the caller insists on the search. Nobody can insist in this form.
 * Source: Gemini API reference, "Grounding with Google Search", "Combine built-in tools and function calling".
 *
 * @throws {GatewayError} As {@linkcode searchToWrite}.
 */
export function writeSearch(
  conversation: Conversation,
  target: RequestTarget,
  losses: Set<string>,
): WrittenSearch | null {
  const search = searchToWrite(conversation, target.searches === true, { form: "content", takes: [] }, losses);
  if (search === null) return null;
  const combines = generationOf(target.model) >= 3 && !target.quirks.has("no_tool_combination");
  const hasFunctions = conversation.tools.length > 0;
  if (hasFunctions && !combines && !search.isForced) {
    losses.add(search.name);
    return null;
  }
  if (search.isForced || conversation.toolChoice?.kind === "required") losses.add("tool_choice");
  if (hasFunctions && !combines) losses.add("tools");
  const tool = search.sent.form === "content" ? search.sent.tool : {};
  return {
    tool: { googleSearch: tool },
    keepsFunctions: combines,
    tellsCalls: combines && hasFunctions,
  };
}

/** Models before the second generation know an older search, which is not written. */
export function searchesByName(model: string): boolean {
  return generationOf(model) >= 2;
}

/** `2.5` of `gemini-2.5-pro`; a name without one counts as the newest. */
function generationOf(model: string): number {
  return Number(/gemini-(\d+(?:\.\d+)?)/.exec(model)?.[1] ?? Infinity);
}

const ORIGIN: SearchOrigin = { form: "content", issuer: null };

/** The search that a `toolCall` part tells; null for another tool. Its pages are told at the end of the reply. */
export function readToolCall(call: JsonObject, callId: string): WebSearchPart | null {
  if (!textOf(call.toolType).startsWith("GOOGLE_SEARCH")) return null;
  const queries = isObject(call.args) ? textsIn(call.args.queries) : [];
  return { kind: "web_search", callId, queries, results: null, failure: null, origin: ORIGIN };
}

/**
 * The search that `groundingMetadata` tells; null where it names no query that is new.
 *
 * @param told Queries that the reply has told before.
 */
export function readGrounding(
  grounding: unknown,
  told: ReadonlySet<string>,
  callId: string,
): WebSearchPart | null {
  if (!isObject(grounding)) return null;
  const pages = objectsIn(grounding.groundingChunks).map(({ web }) => web).filter(isObject);
  const results = pages.map((page) => ({ url: textOf(page.uri), title: textOf(page.title) || null, age: null }))
    .filter(({ url }) => url !== "");
  const queries = textsIn(grounding.webSearchQueries).filter((query) => !told.has(query));
  if (queries.length === 0) return null;
  return { kind: "web_search", callId, queries, results, failure: null, isToldLast: true, origin: ORIGIN };
}

function textsIn(value: unknown): string[] {
  return listOf(value).filter((text) => typeof text === "string" && text !== "") as string[];
}
