import { Buffer } from "node:buffer";
import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import type { Citation } from "../../../neutral/conversation.ts";
import type { WebSearchPart } from "../../../neutral/web_search.ts";
import { isObject, numberOrNull, textOrNull } from "../../../neutral/wire_value.ts";
import { objectsIn } from "./fields.ts";

/** A span of the whole text, in UTF-16 units. */
interface Span {
  readonly start: number;
  readonly end: number;
}

/** A web address and its title, from any kind of grounding chunk. */
interface Address {
  readonly url: string;
  readonly title: string | null;
}

/**
 * The citations in a candidate's `groundingMetadata` and `citationMetadata`, for each of its text parts. This format
 * counts bytes of UTF-8 over all text of the candidate, without reasoning. Addresses without a span of text are
 * attached to the last part, without offsets.
 *
 * @param texts The texts of the candidate's text parts, in order.
 */
export function readCitations(texts: readonly string[], candidate: JsonObject): Citation[][] {
  const found: Citation[][] = texts.map(() => []);
  if (texts.length === 0) return found;
  const whole = texts.join("");
  const grounding = isObject(candidate.groundingMetadata) ? candidate.groundingMetadata : {};
  const addresses = (Array.isArray(grounding.groundingChunks) ? grounding.groundingChunks : []).map(addressIn);
  const supported = new Set<Address>();
  for (const support of objectsIn(grounding.groundingSupports)) {
    const span = isObject(support.segment) ? spanOf(support.segment, whole) : null;
    for (const index of Array.isArray(support.groundingChunkIndices) ? support.groundingChunkIndices : []) {
      const address = addresses[index];
      if (!address) continue;
      supported.add(address);
      addCitation(found, texts, address, span);
    }
  }
  for (const address of addresses) if (address && !supported.has(address)) addCitation(found, texts, address, null);
  addSources(found, texts, whole, candidate.citationMetadata);
  return found;
}

function addressIn(chunk: unknown): Address | null {
  if (!isObject(chunk)) return null;
  for (const kind of [chunk.web, chunk.retrievedContext, chunk.maps]) {
    const url = isObject(kind) ? textOrNull(kind.uri) : null;
    if (url !== null && isObject(kind)) return { url, title: textOrNull(kind.title) };
  }
  return null;
}

/** Adds recitations of known works: `citations` or, in some versions, `citationSources`. */
function addSources(found: Citation[][], texts: readonly string[], whole: string, metadata: unknown): void {
  if (!isObject(metadata)) return;
  for (const source of objectsIn(metadata.citations ?? metadata.citationSources)) {
    const url = textOrNull(source.uri);
    if (url !== null) addCitation(found, texts, { url, title: textOrNull(source.title) }, spanOf(source, whole));
  }
}

/** The span of a segment. If the segment's own text is at another position than its offsets, the text decides. */
function spanOf(segment: JsonObject, whole: string): Span | null {
  const endByte = numberOrNull(segment.endIndex);
  const text = textOrNull(segment.text);
  const start = utf16OffsetOf(whole, numberOrNull(segment.startIndex) ?? 0);
  const end = endByte === null ? start : utf16OffsetOf(whole, endByte);
  if (text === null) return end > start ? { start, end } : null;
  if (whole.slice(start, end) === text) return { start, end };
  const at = whole.indexOf(text);
  return at < 0 ? null : { start: at, end: at + text.length };
}

function addCitation(found: Citation[][], texts: readonly string[], { url, title }: Address, span: Span | null): void {
  if (span === null) {
    found.at(-1)!.push({ url, title, start: null, end: null });
    return;
  }
  let before = 0;
  for (const [index, text] of texts.entries()) {
    if (span.start < before + text.length || index === texts.length - 1) {
      const end = Math.min(span.end - before, text.length);
      found[index]!.push({ url, title, start: Math.min(span.start - before, text.length), end });
      return;
    }
    before += text.length;
  }
}

/** A text part to be written, with its citations. */
export interface CitedText {
  readonly text: string;
  readonly citations?: readonly Citation[];
}

/**
 * Writes `groundingMetadata` for the text parts of a reply and its searches; null when there is nothing to report.
 * Without citations it lists the pages found, although no text refers to them.
 */
export function writeGrounding(parts: readonly CitedText[], searches: readonly WebSearchPart[]): JsonObject | null {
  if (searches.length === 0 && !parts.some(({ citations }) => citations !== undefined && citations.length > 0)) {
    return null;
  }
  const chunks: JsonObject[] = [];
  const indexes = new Map<string, number>();
  const supports: JsonObject[] = [];
  let before = 0;
  for (const { text, citations } of parts) {
    for (const citation of citations ?? []) {
      const index = chunkFor(citation, chunks, indexes);
      const support = supportOf(citation, text, before, index);
      if (support !== null) supports.push(support);
    }
    before += Buffer.byteLength(text);
  }
  if (chunks.length === 0) {
    for (const { results } of searches) results?.forEach((page) => chunkFor(page, chunks, indexes));
  }
  const queries = searches.flatMap((search) => search.queries);
  if (chunks.length + queries.length === 0) return null;
  return {
    ...(queries.length > 0 ? { webSearchQueries: [...new Set(queries)] } : {}),
    ...(chunks.length > 0 ? { groundingChunks: chunks } : {}),
    ...(supports.length > 0 ? { groundingSupports: supports } : {}),
  };
}

function chunkFor(
  { url, title }: Pick<Citation, "url" | "title">,
  chunks: JsonObject[],
  indexes: Map<string, number>,
): number {
  const key = JSON.stringify([url, title]);
  const known = indexes.get(key);
  if (known !== undefined) return known;
  chunks.push({ web: title === null ? { uri: url } : { uri: url, title } });
  indexes.set(key, chunks.length - 1);
  return chunks.length - 1;
}

function supportOf({ start, end }: Citation, text: string, before: number, index: number): JsonObject | null {
  if (start === null || end === null) return null;
  const segment = {
    startIndex: before + utf8OffsetOf(text, start),
    endIndex: before + utf8OffsetOf(text, end),
    text: text.slice(start, end),
  };
  return { segment, groundingChunkIndices: [index] };
}

/** The offset in UTF-16 units of a byte of a text's UTF-8 form; within a character, the end of the character. */
export function utf16OffsetOf(text: string, byteOffset: number): number {
  let bytes = 0;
  let at = 0;
  while (at < text.length && bytes < byteOffset) {
    const code = text.codePointAt(at)!;
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    at += code < 0x10000 ? 1 : 2;
  }
  return at;
}

/** The byte offset in a text's UTF-8 form of a UTF-16 unit. */
export function utf8OffsetOf(text: string, offset: number): number {
  return Buffer.byteLength(text.slice(0, offset));
}
