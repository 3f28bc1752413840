import type { JsonObject } from "../../../../lib/json_object.ts";
import { spliceJson } from "../../../../lib/json.ts";
import { withEdits } from "../../../body_edits.ts";
import type { PassThrough } from "../../../pass_through.ts";
import { factEditsOf } from "./fact_edits.ts";
import { issuedIds } from "./issued_ids.ts";
import { signatureEditsOf } from "./signatures.ts";
import { watcher } from "./watcher.ts";

/** Thinking, after the removal of another vendor's signatures has switched it off. */
const OFF = { thinking: { type: "disabled" } };

/** Passes messages through. */
export const passThrough: PassThrough = passThroughTo((model) => ({ set: { model }, remove: [] }));

/** The members of a request by which a vendor selects the model and its version of the format. */
export interface Envelope {
  /** Members that are set. */
  readonly set: JsonObject;
  /** Members that are removed. */
  readonly remove: readonly string[];
}

/**
 * Passes messages through to a vendor whose address contains what others have in the body.
 *
 * @param envelopeOf Called with the vendor's name of the model.
 */
export function passThroughTo(envelopeOf: (model: string) => Envelope): PassThrough {
  return {
    prepare(request) {
      const { changed, model, outputLimit } = request;
      const { bytes, scan, droppedFields } = withEdits(request, signatureEditsOf(request));
      const isSwitchedOff = droppedFields.includes("reasoning");
      const known = factEditsOf(isSwitchedOff ? { ...request, body: { ...request.body, ...OFF } } : request);
      const envelope = envelopeOf(model);
      const limit = outputLimit === null ? {} : { max_tokens: outputLimit };
      const set = { ...changed, ...known.set, ...envelope.set, ...limit };
      const remove = ["extra_body", ...known.remove, ...envelope.remove];
      const dropped = [...droppedFields, ...known.droppedFields];
      return { body: spliceJson(bytes, scan, { set, remove }), droppedFields: dropped };
    },
    watch: () => watcher(),
    issuedIds,
  };
}
