import type { JsonObject } from "../../../../lib/json_object.ts";
import { spliceJson } from "../../../../lib/json.ts";
import { type BodyEdits, editedValue, joinedEdits, NO_EDITS, withEdits } from "../../../body_edits.ts";
import type { PassThrough, PassThroughRequest, ReplyRestorer } from "../../../pass_through.ts";
import { CheckedTools } from "../../../schemas/checked_tools.ts";
import { factEditsOf } from "./fact_edits.ts";
import { issuedIds } from "./issued_ids.ts";
import { nameEditsOf, restorerOf } from "./property_names.ts";
import { schemaEditsOf } from "./sent_schemas.ts";
import { signatureEditsOf } from "./signatures.ts";
import { keptVersion } from "./kept_version.ts";
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
      const { changed, model, outputLimit, version } = request;
      const signatures = signatureEditsOf(request);
      const { edits, restorer } = toolEditsOf(request);
      const { bytes, scan, droppedFields } = withEdits(request, joinedEdits(signatures, edits));
      const sent = { ...request, wholeBody: () => editedValue(request, bytes) };
      const isSwitchedOff = droppedFields.includes("reasoning");
      const known = factEditsOf(isSwitchedOff ? { ...sent, body: { ...request.body, ...OFF } } : sent);
      const envelope = envelopeOf(model);
      const limit = outputLimit === null ? {} : { max_tokens: outputLimit };
      const set = { ...changed, ...known.set, ...envelope.set, ...limit };
      const remove = ["extra_body", ...known.remove, ...envelope.remove];
      const isChanged = bytes !== request.bytes || Object.keys(known.set).length > 0 || known.remove.length > 0;
      const kept = version === null || isChanged ? {} : keptVersion(version, request.body);
      const dropped = [...droppedFields, ...known.droppedFields];
      const body = spliceJson(bytes, scan, { set, remove });
      return { body, droppedFields: dropped, ...kept, ...(restorer !== null && { restorer }) };
    },
    watch: () => watcher(),
    restorerOf,
    issuedIds,
  };
}

const CHECKED = new CheckedTools();

/** The edits of tools whose schemas the vendor refuses, and what restores the names of their properties in replies. */
function toolEditsOf(request: PassThroughRequest): { edits: BodyEdits; restorer: ReplyRestorer | null } {
  // Compatible vendors accept any schema.
  if (request.quirks.has("any_property_names")) return { edits: NO_EDITS, restorer: null };
  const searched = CHECKED.toSearch(request);
  const schemas = schemaEditsOf(searched);
  const names = nameEditsOf(searched);
  if (names !== null) {
    // Of two edits of one schema, the first is applied.
    return { edits: joinedEdits({ edits: names.edits, droppedFields: [] }, schemas), restorer: names.restorer };
  }
  if (schemas === NO_EDITS && searched === request) CHECKED.add(request);
  return { edits: schemas, restorer: null };
}
