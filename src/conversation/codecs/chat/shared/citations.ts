import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import type { Citation } from "../../../neutral/conversation.ts";
import { listOf, numberOrNull, objectOf, textOf } from "../../../neutral/wire_value.ts";

/** Reads the `annotations` of a message or a delta. */
export function readAnnotations(annotations: unknown): Citation[] {
  const citations: Citation[] = [];
  for (const entry of listOf(annotations)) {
    const cited = objectOf(objectOf(entry)?.url_citation);
    if (cited && textOf(cited.url) !== "") {
      citations.push({
        url: textOf(cited.url),
        title: textOf(cited.title) || null,
        start: numberOrNull(cited.start_index),
        end: numberOrNull(cited.end_index),
      });
    }
  }
  return citations;
}

/** Web sources outside of the choices, as search vendors list them: `citations` (URLs) and `search_results`. */
export function readSources(body: JsonObject): Citation[] {
  const titles = new Map<string, string>();
  for (const result of listOf(body.search_results)) {
    titles.set(textOf(objectOf(result)?.url), textOf(objectOf(result)?.title));
  }
  return listOf(body.citations).map(textOf).filter((url) => url !== "").map((url) => ({
    url,
    title: titles.get(url) || null,
    start: null,
    end: null,
  }));
}

/**
 * Citations as `annotations`. A source without a span gets the whole text.
 *
 * @param before UTF-16 units of content before the cited text.
 * @param length UTF-16 units of the cited text.
 */
export function writeAnnotations(citations: readonly Citation[], before: number, length: number): JsonObject[] {
  return citations.map(({ url, title, start, end }) => ({
    type: "url_citation",
    url_citation: { url, title: title ?? "", start_index: before + (start ?? 0), end_index: before + (end ?? length) },
  }));
}
