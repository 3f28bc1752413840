import { readModelName } from "../../../models/answering_models.ts";
import { objectOf } from "../../../neutral/wire_value.ts";
import { spliceJson } from "../../../../platform/lib/json/json.ts";
import { joinedEdits, withEdits } from "../../../parts/request/body_edits.ts";
import type { PassThrough } from "../../../contract/pass_through.ts";
import { callIdEditsOf } from "./call_ids.ts";
import { factEditsOf } from "./fact_edits.ts";
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
      joinedEdits(joinedEdits(signatureEditsOf(request), callIdEditsOf(request)), schemaEditsOf(request)),
    );
    const known = factEditsOf(request);
    const limit = outputLimit === null ? {} : { max_output_tokens: outputLimit };
    const set = { ...changed, ...known.set, model, ...limit };
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
