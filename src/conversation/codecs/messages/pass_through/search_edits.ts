import type { JsonEdit } from "../../../../platform/lib/json/json_edits.ts";
import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import { isOwnSignature, isWrapped } from "../../../parts/request/body_edits.ts";
import { isObject, objectsOf } from "../../../neutral/wire_value.ts";
import { isForeignSearch, isSearchCall } from "../shared/search_blocks.ts";
import { readCallerSignature } from "../shared/signatures.ts";

/** The edits of the searches and citations in one message. */
export interface SearchEdits {
  readonly edits: readonly JsonEdit[];
  /** The positions of the removed blocks. */
  readonly removed: ReadonlySet<number>;
  /** `web_search_call`, `citations`. */
  readonly droppedFields: readonly string[];
}

/**
 * Edits the searches of a message for this provider. Its own signatures are unwrapped. Searches of other vendors are
 * removed with their results, and so are citations with signatures of others. The text stays.
 */
export function searchEditsOf(blocks: readonly unknown[], path: JsonEdit["path"], provider: string): SearchEdits {
  const edits: JsonEdit[] = [];
  const removed = new Set<number>();
  const droppedFields = new Set<string>();
  const foreign = new Set(blocks.filter((block) => isObject(block) && isForeignResult(block, provider)).map(callIdOf));
  blocks.forEach((block, position) => {
    if (!isObject(block)) return;
    const at = [...path, position];
    if (isSearchCall(block) || block.type === "web_search_tool_result") {
      if (!foreign.has(callIdOf(block)) && !isForeignSearch(callIdOf(block))) return unwrapPages(block, at, edits);
      edits.push({ path: at, value: undefined });
      removed.add(position);
      droppedFields.add("web_search_call");
    } else if (block.type === "text" && Array.isArray(block.citations)) {
      if (editCitations(block.citations, [...at, "citations"], provider, edits)) droppedFields.add("citations");
    }
  });
  return { edits, removed, droppedFields: [...droppedFields] };
}

function callIdOf(block: unknown): unknown {
  const { type, id, tool_use_id: callId } = block as JsonObject;
  return type === "web_search_tool_result" ? callId : id;
}

function isForeignResult({ type, content }: JsonObject, provider: string): boolean {
  return type === "web_search_tool_result" &&
    objectsOf(content).some(({ encrypted_content: signature }) =>
      isWrapped(signature) && !isOwnSignature(readCallerSignature(signature), "messages", provider)
    );
}

function unwrapPages({ type, content }: JsonObject, path: JsonEdit["path"], edits: JsonEdit[]): void {
  if (type !== "web_search_tool_result") return;
  objectsOf(content).forEach(({ encrypted_content: signature }, index) => {
    if (!isWrapped(signature)) return;
    edits.push({ path: [...path, "content", index, "encrypted_content"], value: readCallerSignature(signature).value });
  });
}

/** Edits the citations of a text. True when a citation was removed. */
function editCitations(
  citations: readonly unknown[],
  path: JsonEdit["path"],
  provider: string,
  edits: JsonEdit[],
): boolean {
  const signatures = citations.map((citation) => isObject(citation) ? citation.encrypted_index : null);
  const isForeign = (signature: unknown) =>
    isWrapped(signature) && !isOwnSignature(readCallerSignature(signature), "messages", provider);
  if (signatures.length > 0 && signatures.every(isForeign)) {
    edits.push({ path, value: undefined });
    return true;
  }
  signatures.forEach((signature, index) => {
    if (isForeign(signature)) edits.push({ path: [...path, index], value: undefined });
    else if (isWrapped(signature)) {
      edits.push({ path: [...path, index, "encrypted_index"], value: readCallerSignature(signature).value });
    }
  });
  return signatures.some(isForeign);
}
