import { readModelName } from "../../../models/answering_models.ts";
import { isObject, objectOf } from "../../../neutral/wire_value.ts";
import { spliceJson } from "../../../../platform/lib/json/json.ts";
import type { JsonEdit } from "../../../../platform/lib/json/json_edits.ts";
import { wireCallId } from "../shared/tools.ts";
import { type BodyEdits, joinedEdits, NO_EDITS, withEdits } from "../../../parts/request/body_edits.ts";
import { openAiMarkEdits } from "../../../parts/request/cache_breakpoints.ts";
import { hintEditsOf } from "../../../parts/request/member_edits.ts";
import type { PassThrough, PassThroughRequest } from "../../../contract/pass_through.ts";
import { addedChoiceEditsOf, factEditsOf, toolSearchEditsOf } from "./fact_edits.ts";
import { issuedIds } from "./issued_ids.ts";
import { schemaEditsOf } from "./sent_schemas.ts";
import { signatureWrapper } from "./signature_wrapper.ts";
import { signatureEditsOf } from "./signatures.ts";
import { watcher } from "./watcher.ts";

/** Passes responses through. */
export const passThrough: PassThrough = {
  prepare(request) {
    const { changed, model, outputLimit } = request;
    const { bytes, scan, droppedFields } = withEdits(
      request,
      [
        signatureEditsOf(request),
        callIdEditsOf(request),
        openAiMarkEdits(request, { list: "input", parts: ["content", "output"] }),
        schemaEditsOf(request),
        toolSearchEditsOf(request),
      ].reduce(joinedEdits),
    );
    const known = factEditsOf(request);
    const added = addedChoiceEditsOf(request, bytes);
    const limit = outputLimit === null ? {} : { max_output_tokens: outputLimit };
    const set = { ...hintEditsOf(request.body).set, ...changed, ...known.set, ...added.set, model, ...limit };
    const remove = ["extra_body", ...known.remove];
    return {
      body: spliceJson(bytes, scan, { set, remove }),
      droppedFields: [...droppedFields, ...known.droppedFields],
      ...(request.hasOtherMakers && { restorer: signatureWrapper(request.provider) }),
    };
  },
  wrapperOf: signatureWrapper,
  modelIn: (reply) => readModelName(objectOf(reply)?.model),
  watch: () => watcher(),
  issuedIds,
};

/**
 * Edits ids of calls that are too long, which other vendors make of the tool's name. Compatible vendors get them as
 * they are. Source: Responses API reference, `call_id`; the vendor's error message "string too long. Expected a string
 * with maximum length 64".
 */
function callIdEditsOf({ body, quirks }: PassThroughRequest): BodyEdits {
  const { input } = body;
  if (quirks.has("union_schemas") || !Array.isArray(input)) return NO_EDITS;
  const edits: JsonEdit[] = [];
  for (let index = 0; index < input.length; index++) {
    const item: unknown = input[index];
    if (!isObject(item) || typeof item.call_id !== "string" || item.call_id === "") continue;
    const sent = wireCallId(item.call_id);
    if (sent !== item.call_id) edits.push({ path: ["input", index, "call_id"], value: sent });
  }
  return edits.length === 0 ? NO_EDITS : { edits, droppedFields: [] };
}
