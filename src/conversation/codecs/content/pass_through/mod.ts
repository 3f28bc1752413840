import { readModelName } from "../../../models/answering_models.ts";
import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import { spliceJson } from "../../../../platform/lib/json/json.ts";
import { joinedEdits, withEdits } from "../../../parts/request/body_edits.ts";
import type { PassThrough } from "../../../contract/pass_through.ts";
import { isAbsent, isObject, objectOf } from "../../../neutral/wire_value.ts";
import { factEditsOf } from "./fact_edits.ts";
import { resultReferenceEditsOf } from "./result_references.ts";
import { schemaEditsOf } from "./sent_schemas.ts";
import { signatureEditsOf } from "./signatures.ts";
import { watcher } from "./watcher.ts";

/** The two spellings of `generationConfig`. */
const CONFIGS = ["generationConfig", "generation_config"] as const;

/** Passes content generation through. The path names the model. */
export const passThrough: PassThrough = {
  prepare(request) {
    const { body, changed, outputLimit, cachedContent, quirks } = request;
    const signatures = signatureEditsOf(request);
    const known = factEditsOf(request);
    const { bytes, scan, droppedFields } = withEdits(
      request,
      [signatures, known, schemaEditsOf(request), resultReferenceEditsOf(request)].reduce(joinedEdits),
    );
    const limit = outputLimit === null ? {} : limitMember(body, outputLimit);
    const set: Record<string, unknown> = { ...changed, ...limit };
    // Google stores the requests of new projects otherwise. Source: Gemini API changelog, October 2026.
    if (isAbsent(body.store) && !quirks.has("no_store_field")) set.store = false;
    if (cachedContent === null) {
      return { body: spliceJson(bytes, scan, { set, remove: ["extra_body"] }), droppedFields };
    }
    set.cachedContent = cachedContent;
    return { body: spliceJson(bytes, scan, { set, remove: ["extra_body", "cached_content"] }), droppedFields };
  },
  modelIn: (reply) => readModelName(objectOf(reply)?.modelVersion),
  watch: () => watcher(),
  issuedIds: null,
};

function limitMember(body: JsonObject, tokens: number): Record<string, unknown> {
  const config = CONFIGS.find((each) => isObject(body[each])) ?? CONFIGS[0];
  const { max_output_tokens: _replaced, ...settings } = objectOf(body[config]) ?? {};
  return { [config]: { ...settings, maxOutputTokens: tokens } };
}
