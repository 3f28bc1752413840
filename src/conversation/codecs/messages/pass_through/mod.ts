import { readModelName } from "../../../models/answering_models.ts";
import { objectOf } from "../../../neutral/wire_value.ts";
import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import { spliceJson } from "../../../../platform/lib/json/json.ts";
import { editedValue, joinedEdits, withEdits } from "../../../parts/request/body_edits.ts";
import type { PassThrough, PassThroughRequest } from "../../../contract/pass_through.ts";
import { describedSchema } from "../../../schemas/described_keywords.ts";
import { isObject, listOf } from "../../../neutral/wire_value.ts";
import { blockEditsOf } from "./block_edits.ts";
import { factEditsOf } from "./fact_edits.ts";
import { issuedIds } from "./issued_ids.ts";
import { restorerOf } from "./property_names.ts";
import { toolEditsOf } from "./tool_edits.ts";
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
      const history = joinedEdits(signatureEditsOf(request), blockEditsOf(request));
      const { edits, restorer, described } = toolEditsOf(request);
      const { bytes, scan, droppedFields } = withEdits(request, joinedEdits(history, edits));
      const sent = { ...request, wholeBody: () => editedValue(request, bytes) };
      const isSwitchedOff = droppedFields.includes("reasoning");
      const known = factEditsOf(isSwitchedOff ? { ...sent, body: { ...request.body, ...OFF } } : sent);
      const envelope = envelopeOf(model);
      const limit = outputLimit === null ? {} : { max_tokens: outputLimit };
      const set: Record<string, unknown> = {
        ...changed,
        ...withWholeFormat(known.set, sent),
        ...envelope.set,
        ...limit,
      };
      if (described !== null) set.system = withDescribed(sent.wholeBody().system, described);
      const remove = ["extra_body", ...known.remove, ...envelope.remove];
      const isChanged = bytes !== request.bytes || Object.keys(known.set).length > 0 || known.remove.length > 0;
      const kept = version === null || isChanged ? {} : keptVersion(version, request.body);
      const dropped = [...droppedFields, ...known.droppedFields];
      const body = spliceJson(bytes, scan, { set, remove });
      return { body, droppedFields: dropped, ...kept, ...(restorer !== null && { restorer }) };
    },
    modelIn: (reply) => readModelName(objectOf(reply)?.model),
    watch: () => watcher(),
    restorerOf,
    issuedIds,
  };
}

/** The members that change, with the format as the caller sent it: they are found without its long texts. */
function withWholeFormat(set: JsonObject, { wholeBody }: Pick<PassThroughRequest, "wholeBody">): JsonObject {
  const { output_config: config } = set;
  if (!isObject(config) || config.format === undefined) return set;
  const whole = wholeBody().output_config;
  const { format: _, ...others } = config;
  const format = isObject(whole) ? whole.format : undefined;
  return { ...set, output_config: format === undefined ? others : { ...others, format } };
}

/** The instructions with one for a reply whose schema the vendor does not enforce. */
function withDescribed(system: unknown, schema: unknown): unknown {
  const text = describedSchema(schema);
  const blocks = typeof system === "string" && system !== "" ? [{ type: "text", text: system }] : listOf(system);
  return [...blocks, { type: "text", text }];
}
