import type { JsonObject } from "../../../../lib/json_object.ts";
import { spliceJson } from "../../../../lib/json.ts";
import { joinedEdits, withEdits } from "../../../body_edits.ts";
import type { PassThrough } from "../../../pass_through.ts";
import { isObject } from "../../../wire_value.ts";
import { factEditsOf } from "./fact_edits.ts";
import { issuedIds } from "./issued_ids.ts";
import { nameEditsOf } from "./property_names.ts";
import { schemaEditsOf } from "./sent_schemas.ts";
import { signatureEditsOf } from "./signatures.ts";
import { watcher } from "./watcher.ts";

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
      const names = nameEditsOf(request);
      const signatures = signatureEditsOf(request);
      const schemas = schemaEditsOf(request);
      const renamed = names === null ? schemas : joinedEdits({ edits: names.edits, droppedFields: [] }, schemas);
      const edited = renamed.edits.length === 0 ? signatures : joinedEdits(signatures, renamed);
      const { bytes, scan, droppedFields } = withEdits(request, edited);
      const known = factEditsOf(edited.edits.length === 0 ? request : { ...request, wholeBody: () => bodyOf(bytes) });
      const envelope = envelopeOf(model);
      const limit = outputLimit === null ? {} : { max_tokens: outputLimit };
      const set = { ...changed, ...known.set, ...envelope.set, ...limit };
      const remove = ["extra_body", ...known.remove, ...envelope.remove];
      const dropped = [...droppedFields, ...known.droppedFields];
      const body = spliceJson(bytes, scan, { set, remove });
      return { body, droppedFields: dropped, ...(names !== null && { restorer: names.restorer }) };
    },
    watch: () => watcher(),
    issuedIds,
  };
}

/** The value of a body after edits. */
function bodyOf(bytes: Uint8Array): JsonObject {
  const body: unknown = JSON.parse(new TextDecoder().decode(bytes));
  return isObject(body) ? body : {};
}
