import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import type { SearchOrigin, WebSearchPart } from "../../../neutral/web_search.ts";
import { isObject, listOf, objectsOf, parsedOrNull, textOf, textOrNull } from "../../../neutral/wire_value.ts";

/** The origin of all searches in this format. */
const ORIGIN: SearchOrigin = { format: "responses", issuer: null };

/**
 * Reads the search of a `web_search_call`; null for a page that was opened or searched. Its pages are included if
 * `include` requested `web_search_call.action.sources`, without titles. One vendor sends the query in `arguments`.
 * Source: Responses API reference, "Web search call"; xAI API reference.
 */
export function readSearchItem(item: JsonObject): WebSearchPart | null {
  const action = isObject(item.action) ? item.action : {};
  if ((action.type ?? "search") !== "search") return null;
  const callArguments = parsedOrNull(textOf(item.arguments));
  const queries = listOf(action.queries).filter((query) => typeof query === "string" && query !== "") as string[];
  const query = textOrNull(action.query) || (isObject(callArguments) ? textOrNull(callArguments.query) : null);
  const sources = Array.isArray(action.sources)
    ? objectsOf(action.sources).filter(({ url }) => typeof url === "string")
    : null;
  return {
    kind: "web_search",
    callId: textOf(item.id),
    queries: queries.length > 0 ? queries : query ? [query] : [],
    results: sources && sources.map(({ url, title }) => ({ url: textOf(url), title: textOrNull(title), age: null })),
    failure: item.status === "failed" ? "unavailable" : null,
    origin: ORIGIN,
  };
}

/** The action of a search, without pages that were not reported. */
function searchAction({ queries, results }: WebSearchPart): JsonObject {
  return {
    type: "search",
    query: queries[0] ?? "",
    ...(queries.length > 0 ? { queries } : {}),
    ...(results === null ? {} : { sources: results.map(({ url }) => ({ type: "url", url })) }),
  };
}

/** The output item of a search. */
export function searchItem(id: string, search: WebSearchPart): JsonObject {
  const status = search.failure === null ? "completed" : "failed";
  return { id, type: "web_search_call", status, action: searchAction(search) };
}
