import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import type { WebSearchPart } from "../../../neutral/web_search.ts";
import { isSearchCall, readSearch } from "../shared/search_blocks.ts";
import { readVendorSignature } from "../shared/signatures.ts";

/** A search in a stream that was called and has no results so far; these come in a block of their own. */
export interface OpenSearch {
  /** The block of the call. */
  readonly call: JsonObject;
  /** Its input so far, as JSON text. */
  input: string;
}

/** Adds to the input of the latest search, because blocks do not overlap. */
export function addSearchInput(searches: readonly OpenSearch[], { partial_json: text }: JsonObject): void {
  const latest = searches.at(-1);
  if (latest && typeof text === "string") latest.input += text;
}

/** Reads the start of a block. Returns a search when its results arrive. */
export function readSearchBlock(searches: OpenSearch[], block: JsonObject): WebSearchPart[] {
  if (isSearchCall(block)) searches.push({ call: block, input: "" });
  if (block.type !== "web_search_tool_result") return [];
  const at = searches.findIndex(({ call }) => call.id === block.tool_use_id);
  const search = searches[at];
  if (search === undefined) return [];
  searches.splice(at, 1);
  return [readSearch(search.call, search.input, block, readVendorSignature)];
}

/** Searches whose results never arrived, as in a paused turn. */
export function unfinishedSearches(searches: OpenSearch[]): WebSearchPart[] {
  return searches.splice(0).map(({ call, input }) => readSearch(call, input, undefined, readVendorSignature));
}
