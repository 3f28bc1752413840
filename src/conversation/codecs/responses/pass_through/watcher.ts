import { readModelName } from "../../../models/answering_models.ts";
import type { StreamWatcher } from "../../../contract/pass_through.ts";
import { failureReportedIn } from "../../../parts/reply/reported_failure.ts";
import type { Usage } from "../../../neutral/usage.ts";
import { isObject, numberOrNull, objectOf, parsedOrNull, textOrNull } from "../../../neutral/wire_value.ts";
import { billedSearchesIn, newHostedWork, noteHosted, readUsage, withHosted } from "../shared/usage.ts";
import { eventReader } from "../upstream/event_reader.ts";

/**
 * A sequence number. Quotes within JSON strings are escaped, so only keys match. A line of data may end after the key.
 */
const SEQUENCE = /"sequence_number"(?:data:|[\s:])*(\d+)/g;

/** A fast search in one pass; most frames do not match. */
const RELEVANT = /"response\.(?:completed|incomplete|failed|created|output_item\.done)"/;
const CREATED = '"response.created"';
const HOSTED_CALL = /"(?:web_search|x_search|file_search|image_generation)_call"/;
const END_MARK = /"response\.(?:completed|incomplete|failed)"/;

/**
 * Observes a stream that passes through. Usage is in the last frame, which is also the end marker. Searches are counted
 * when their items end, because some vendors leave the items out of the last frame.
 */
export function watcher(): StreamWatcher {
  let usage: Usage | null = null;
  let isEnded = false;
  let model: string | null = null;
  /** The frame with the response's id, unparsed, because only a failure needs it. */
  let created: string | null = null;
  const hosted = newHostedWork();
  return {
    isRelevant: (text) =>
      RELEVANT.test(text) &&
      (END_MARK.test(text) || HOSTED_CALL.test(text) || (created === null && text.includes(CREATED))),
    observe(data) {
      if (created === null && data.includes(CREATED)) created = data;
      if (!END_MARK.test(data) && !HOSTED_CALL.test(data)) return;
      const event = parsedOrNull(data);
      if (isObject(event) && event.type === "response.output_item.done") noteHosted(hosted, event.item);
      if (!isObject(event) || typeof event.type !== "string" || !END_MARK.test(`"${event.type}"`)) return;
      isEnded = true;
      usage = readUsage(event.response) ?? usage;
      model = readModelName(objectOf(event.response)?.model);
      if (billedSearchesIn(event.response) !== null) hosted.webSearches = 0;
    },
    usage: () => withHosted(usage, hosted),
    model: () => model ?? readModelName(objectOf(objectOf(parsedOrNull(created ?? ""))?.response)?.model),
    isComplete: () => isEnded,
    isFinal: () => isEnded,
    mayEndUsage: (data) => isEnded && END_MARK.test(data),
    isHidden: () => false,
    startedStream(last) {
      const response = objectOf(objectOf(parsedOrNull(created ?? ""))?.response);
      const id = textOrNull(response?.id);
      if (id === null) return null;
      const sequence = Number([...last.matchAll(SEQUENCE)].at(-1)?.[1] ?? -1) + 1;
      return { id, createdAt: numberOrNull(response?.created_at), sequence };
    },
    failureIn: (data) => failureReportedIn(eventReader(), data),
  };
}
