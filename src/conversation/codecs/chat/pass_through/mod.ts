import { spliceJson } from "../../../../lib/json.ts";
import { withEdits } from "../../../foreign_seals.ts";
import type { PassThrough } from "../../../pass_through.ts";
import { objectOf } from "../../../wire_value.ts";
import { hasUsageOption, wantsUsage } from "../shared/wants_usage.ts";
import { issuedIds } from "./issued_ids.ts";
import { reasoningWishOf } from "./reasoning_wish.ts";
import { sealEditsOf } from "./seals.ts";
import { watcher } from "./watcher.ts";

/**
 * Chat completions as they pass. Every stream is asked for its usage, which the caller sees only if it asked as well.
 */
export const passThrough: PassThrough = {
  prepare(request) {
    const { body, changed, model, outputLimit, quirks } = request;
    const { bytes, scan, losses } = withEdits(request, sealEditsOf(request));
    const wish = reasoningWishOf(request);
    const set: Record<string, unknown> = { ...changed, ...wish.set, model };
    const remove = ["extra_body", ...wish.remove];
    if (outputLimit !== null) {
      set[quirks.has("max_tokens_field") ? "max_tokens" : "max_completion_tokens"] = outputLimit;
    }
    if (quirks.has("no_stream_options")) remove.push("stream_options");
    else if (body.stream === true && !hasUsageOption(body)) {
      set.stream_options = { ...objectOf(body.stream_options), include_usage: true };
    }
    return { body: spliceJson(bytes, scan, { set, remove }), losses: [...losses, ...wish.losses] };
  },
  watch: (body) => watcher(wantsUsage(body)),
  issuedIds,
};
