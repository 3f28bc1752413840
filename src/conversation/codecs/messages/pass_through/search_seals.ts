import type { JsonEdit } from "../../../../lib/json_edits.ts";
import type { JsonObject } from "../../../../lib/json_object.ts";
import { isOwnSeal, isWrapped } from "../../../foreign_seals.ts";
import { isObject, objectsOf } from "../../../wire_value.ts";
import { isForeignSearch, isSearchCall } from "../shared/search_blocks.ts";
import { callerSeal } from "../shared/seals.ts";

/** The edits of one message's searches and citations. */
export interface SearchEdits {
  readonly edits: readonly JsonEdit[];
  /** The places of the blocks that are left out. */
  readonly removed: ReadonlySet<number>;
  /** `web_search_call`, `citations`. */
  readonly losses: readonly string[];
}

/**
 * The edits by which the searches of a message become this provider's: its own marks are unwrapped, searches of other
 * vendors are left out with their results, and so are citations with others' marks. The text stays.
 */
export function searchEditsOf(blocks: readonly unknown[], path: JsonEdit["path"], provider: string): SearchEdits {
  const edits: JsonEdit[] = [];
  const removed = new Set<number>();
  const losses = new Set<string>();
  const foreign = new Set(blocks.filter((block) => isObject(block) && isForeignResult(block, provider)).map(callIdOf));
  blocks.forEach((block, place) => {
    if (!isObject(block)) return;
    const at = [...path, place];
    if (isSearchCall(block) || block.type === "web_search_tool_result") {
      if (!foreign.has(callIdOf(block)) && !isForeignSearch(callIdOf(block))) return unwrapPages(block, at, edits);
      edits.push({ path: at, value: undefined });
      removed.add(place);
      losses.add("web_search_call");
    } else if (block.type === "text" && Array.isArray(block.citations)) {
      if (editCitations(block.citations, [...at, "citations"], provider, edits)) losses.add("citations");
    }
  });
  return { edits, removed, losses: [...losses] };
}

function callIdOf(block: unknown): unknown {
  const { type, id, tool_use_id: callId } = block as JsonObject;
  return type === "web_search_tool_result" ? callId : id;
}

function isForeignResult({ type, content }: JsonObject, provider: string): boolean {
  return type === "web_search_tool_result" &&
    objectsOf(content).some(({ encrypted_content: mark }) =>
      isWrapped(mark) && !isOwnSeal(callerSeal(mark), "messages", provider)
    );
}

function unwrapPages({ type, content }: JsonObject, path: JsonEdit["path"], edits: JsonEdit[]): void {
  if (type !== "web_search_tool_result") return;
  objectsOf(content).forEach(({ encrypted_content: mark }, index) => {
    if (!isWrapped(mark)) return;
    edits.push({ path: [...path, "content", index, "encrypted_content"], value: callerSeal(mark).value });
  });
}

/** Tells whether a citation was left out. */
function editCitations(
  citations: readonly unknown[],
  path: JsonEdit["path"],
  provider: string,
  edits: JsonEdit[],
): boolean {
  const marks = citations.map((citation) => isObject(citation) ? citation.encrypted_index : null);
  const isForeign = (mark: unknown) => isWrapped(mark) && !isOwnSeal(callerSeal(mark), "messages", provider);
  if (marks.length > 0 && marks.every(isForeign)) {
    edits.push({ path, value: undefined });
    return true;
  }
  marks.forEach((mark, index) => {
    if (isForeign(mark)) edits.push({ path: [...path, index], value: undefined });
    else if (isWrapped(mark)) edits.push({ path: [...path, index, "encrypted_index"], value: callerSeal(mark).value });
  });
  return marks.some(isForeign);
}
