import type { StreamWatcher } from "../../../pass_through.ts";
import { failureReportedIn } from "../../../reported_failure.ts";
import type { Usage } from "../../../usage.ts";
import { isObject, numberOrNull, objectOf, parsedOrNull, textOrNull } from "../../../wire_value.ts";
import { newHostedWork, noteHosted, readUsage, withHosted } from "../shared/usage.ts";
import { eventReader } from "../upstream/event_reader.ts";

/** Inside of JSON text a quote is escaped, so this matches the key alone. A line of data may end behind it. */
const SEQUENCE = /"sequence_number"(?:data:|[\s:])*(\d+)/g;

/** One pass over the text, which most frames fail. */
const CONCERNS = /"response\.(?:completed|incomplete|failed|created|output_item\.done)"/;
const CREATED = '"response.created"';
const HOSTED_CALL = /"(?:web_search|x_search|image_generation)_call"/;
const END_MARK = /"response\.(?:completed|incomplete|failed)"/;

/**
 * Usage stands in the last frame alone, the one that is also the end mark. Searches are counted as their items end, as
 * some vendors leave the items out of the last frame.
 */
export function watcher(): StreamWatcher {
  let usage: Usage | null = null;
  let ended = false;
  /** The frame that names the response, kept as it came: only a failure needs it. */
  let created: string | null = null;
  const hosted = newHostedWork();
  return {
    concerns: (text) =>
      CONCERNS.test(text) &&
      (END_MARK.test(text) || HOSTED_CALL.test(text) || (created === null && text.includes(CREATED))),
    follow(data) {
      if (created === null && data.includes(CREATED)) created = data;
      if (!END_MARK.test(data) && !HOSTED_CALL.test(data)) return;
      const event = parsedOrNull(data);
      if (isObject(event) && event.type === "response.output_item.done") noteHosted(hosted, event.item);
      if (!isObject(event) || typeof event.type !== "string" || !END_MARK.test(`"${event.type}"`)) return;
      ended = true;
      usage = readUsage(event.response) ?? usage;
    },
    usage: () => withHosted(usage, hosted),
    ended: () => ended,
    isFinal: () => ended,
    isHidden: () => false,
    begun(last) {
      const response = objectOf(objectOf(parsedOrNull(created ?? ""))?.response);
      const id = textOrNull(response?.id);
      if (id === null) return null;
      const sequence = Number([...last.matchAll(SEQUENCE)].at(-1)?.[1] ?? -1) + 1;
      return { id, createdAt: numberOrNull(response?.created_at), sequence };
    },
    failureIn: (data) => failureReportedIn(eventReader(), data),
  };
}
