import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import type { RequestTarget } from "../../../contract/upstream_format.ts";
import type { Conversation } from "../../../neutral/conversation.ts";
import { searchToWrite } from "../../../parts/request/offered_search.ts";
import {
  NO_SEARCH_SETTINGS,
  type SearchOrigin,
  type WebSearch,
  type WebSearchPart,
} from "../../../neutral/web_search.ts";
import { isObject, listOf, textOf } from "../../../neutral/wire_value.ts";
import { field, objectsIn, otherFields } from "./fields.ts";

const NAME = "tools.googleSearch";

/** The web search that checked `tools` offer; null when there is none. This format cannot require it. */
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
    sent: { format: "content", tool: search },
    unsupportedFields: otherFields(search, new Set()).map((key) => `${NAME}.${key}`),
  };
}

/** The web search of a request in this format. */
export interface WrittenSearch {
  readonly tool: JsonObject;
  /** False where the model does not accept functions beside its web search, so that they are left out. */
  readonly keepsFunctions: boolean;
  /** True where calls of the search must be returned, without which newer models reject functions beside it. */
  readonly returnsCalls: boolean;
}

/**
 * The tool for a conversation's web search; null when it offers none. Models before the third generation accept either
 * the search or functions: functions stay, unless the search is required. This format cannot require a search.
 * Source: Gemini API reference, "Grounding with Google Search", "Combine built-in tools and function calling".
 *
 * @throws {GatewayError} As {@linkcode searchToWrite}.
 */
export function writeSearch(
  conversation: Conversation,
  target: RequestTarget,
  droppedFields: Set<string>,
): WrittenSearch | null {
  const search = searchToWrite(
    conversation,
    target.hasWebSearch === true,
    { format: "content", settings: [] },
    droppedFields,
  );
  if (search === null) return null;
  const canCombine = generationOf(target.model) >= 3 && !target.quirks.has("no_tool_combination");
  const hasFunctions = conversation.tools.length > 0;
  if (hasFunctions && !canCombine && !search.isForced) {
    droppedFields.add(search.name);
    return null;
  }
  if (search.isForced || conversation.toolChoice?.kind === "required") droppedFields.add("tool_choice");
  if (hasFunctions && !canCombine) droppedFields.add("tools");
  const tool = search.sent.format === "content" ? search.sent.tool : {};
  return {
    tool: { googleSearch: tool },
    keepsFunctions: canCombine,
    returnsCalls: canCombine && hasFunctions,
  };
}

/** Whether a model has web search. Models before the second generation have an older one, which is not supported. */
export function hasWebSearch(model: string): boolean {
  return generationOf(model) >= 2;
}

/** `2.5` of `gemini-2.5-pro`; a name without a number counts as the newest. */
function generationOf(model: string): number {
  return Number(/gemini-(\d+(?:\.\d+)?)/.exec(model)?.[1] ?? Infinity);
}

const ORIGIN: SearchOrigin = { format: "content", issuer: null };

/** Reads the search in a `toolCall` part; null for another tool. Its pages follow at the end of the reply. */
export function readToolCall(call: JsonObject, callId: string): WebSearchPart | null {
  if (!textOf(call.toolType).startsWith("GOOGLE_SEARCH")) return null;
  const queries = isObject(call.args) ? textsIn(call.args.queries) : [];
  return { kind: "web_search", callId, queries, results: null, failure: null, origin: ORIGIN };
}

/**
 * Reads the search in `groundingMetadata`; null when it has no new query.
 *
 * @param told Queries that the reply has already reported.
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
  return { kind: "web_search", callId, queries, results, failure: null, isReportedLast: true, origin: ORIGIN };
}

function textsIn(value: unknown): string[] {
  return listOf(value).filter((text) => typeof text === "string" && text !== "") as string[];
}
