import type { JsonObject } from "../../../../lib/json_object.ts";
import type { StreamWatcher } from "../../../pass_through.ts";
import { failureReportedIn } from "../../../reported_failure.ts";
import { isObject, objectOf, parsedOrNull } from "../../../wire_value.ts";
import { laterUsage, usageOf } from "../shared/usage.ts";
import { eventReader } from "../upstream/event_reader.ts";

/** Follows the usage of a stream that passes through. */
export function watcher(): StreamWatcher {
  let usage: JsonObject = {};
  let isEnded = false;
  return {
    // All three kinds of frames that matter are `message_…`; the deltas of blocks are not.
    concerns: (text) => text.includes('"message_'),
    // A frame that is no JSON passes through as it is, so it must not stop the stream here.
    follow(data) {
      const frame = objectOf(parsedOrNull(data)) ?? {};
      if (frame.type === "message_start") usage = laterUsage({}, isObject(frame.message) ? frame.message.usage : null);
      else if (frame.type === "message_delta") usage = laterUsage(usage, frame.usage);
      else if (frame.type === "message_stop") isEnded = true;
    },
    usage: () => usageOf(usage),
    ended: () => isEnded,
    isFinal: () => isEnded,
    isHidden: () => false,
    failureIn: (data) => failureReportedIn(eventReader(), data),
  };
}
