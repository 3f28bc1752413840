import { readModelName } from "../../../models/answering_models.ts";
import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import type { StreamWatcher } from "../../../contract/pass_through.ts";
import { failureReportedIn } from "../../../parts/reply/reported_failure.ts";
import { objectOf, parsedOrNull } from "../../../neutral/wire_value.ts";
import { laterUsage, usageOf } from "../shared/usage.ts";
import { eventReader } from "../upstream/event_reader.ts";

/** Observes the usage of a stream that passes through. */
export function watcher(): StreamWatcher {
  let usage: JsonObject = {};
  let isEnded = false;
  let model: string | null = null;
  return {
    // The relevant frames have types starting with `message_`; deltas of blocks do not.
    isRelevant: (text) => text.includes('"message_'),
    // A frame that is not valid JSON is passed through unchanged, so it must not fail here.
    observe(data) {
      const frame = objectOf(parsedOrNull(data)) ?? {};
      if (frame.type === "message_start") {
        const message = objectOf(frame.message);
        usage = laterUsage({}, message?.usage);
        model = readModelName(message?.model);
      } else if (frame.type === "message_delta") usage = laterUsage(usage, frame.usage);
      else if (frame.type === "message_stop") isEnded = true;
    },
    usage: () => usageOf(usage),
    model: () => model,
    isComplete: () => isEnded,
    isFinal: () => isEnded,
    mayEndUsage: (data) => data.includes('"message_delta"') && data.includes('"usage"'),
    isHidden: () => false,
    failureIn: (data) => failureReportedIn(eventReader(), data),
  };
}
