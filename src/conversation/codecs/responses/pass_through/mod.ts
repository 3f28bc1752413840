import { spliceJson } from "../../../../lib/json.ts";
import { withEdits } from "../../../body_edits.ts";
import type { PassThrough } from "../../../pass_through.ts";
import { issuedIds } from "./issued_ids.ts";
import { signatureEditsOf } from "./signatures.ts";
import { watcher } from "./watcher.ts";

/** Passes responses through. */
export const passThrough: PassThrough = {
  prepare(request) {
    const { changed, model, outputLimit } = request;
    const { bytes, scan, droppedFields } = withEdits(request, signatureEditsOf(request));
    const set = outputLimit === null ? { ...changed, model } : { ...changed, model, max_output_tokens: outputLimit };
    return { body: spliceJson(bytes, scan, { set, remove: ["extra_body"] }), droppedFields };
  },
  watch: () => watcher(),
  issuedIds,
};
