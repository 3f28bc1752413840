import { spliceJson } from "../../../../lib/json.ts";
import { withEdits } from "../../../foreign_seals.ts";
import type { PassThrough } from "../../../pass_through.ts";
import { issuedIds } from "./issued_ids.ts";
import { sealEditsOf } from "./seals.ts";
import { watcher } from "./watcher.ts";

/** Passes responses through. */
export const passThrough: PassThrough = {
  prepare(request) {
    const { changed, model, outputLimit } = request;
    const { bytes, scan, losses } = withEdits(request, sealEditsOf(request));
    const set = outputLimit === null ? { ...changed, model } : { ...changed, model, max_output_tokens: outputLimit };
    return { body: spliceJson(bytes, scan, { set, remove: ["extra_body"] }), losses };
  },
  watch: () => watcher(),
  issuedIds,
};
