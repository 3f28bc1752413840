import type { StreamWatcher } from "../../../pass_through.ts";
import { failureReportedIn } from "../../../reported_failure.ts";
import type { Usage } from "../../../usage.ts";
import { isObject, parsedOrNull } from "../../../wire_value.ts";
import { newHostedWork, noteHosted, readUsage, withHosted } from "../shared/usage.ts";
import { eventReader } from "../upstream/event_reader.ts";

/** One pass over the text, which most frames fail. */
const CONCERNS = /"response\.(?:completed|incomplete|failed|output_item\.done)"/;
const HOSTED_CALL = /"(?:web_search|x_search|image_generation)_call"/;
const END_MARK = /"response\.(?:completed|incomplete|failed)"/;

/**
 * Usage stands in the last frame alone, the one that is also the end mark. Searches are counted as their items end, as
 * some vendors leave the items out of the last frame.
 */
export function watcher(): StreamWatcher {
  let usage: Usage | null = null;
  let ended = false;
  const hosted = newHostedWork();
  return {
    concerns: (text) => CONCERNS.test(text) && (END_MARK.test(text) || HOSTED_CALL.test(text)),
    follow(data) {
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
    failureIn: (data) => failureReportedIn(eventReader(), data),
  };
}
