import { readModelName } from "../../../models/answering_models.ts";
import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import { spliceJson } from "../../../../platform/lib/json/json.ts";
import { joinedEdits, withEdits } from "../../../parts/request/body_edits.ts";
import { openAiMarkEdits } from "../../../parts/request/cache_breakpoints.ts";
import { hintEditsOf, NO_MEMBER_EDITS } from "../../../parts/request/member_edits.ts";
import type { PassThrough } from "../../../contract/pass_through.ts";
import { hasMembers, objectOf } from "../../../neutral/wire_value.ts";
import { hasUsageOption, wantsUsage } from "../shared/wants_usage.ts";
import { factEditsOf } from "./fact_edits.ts";
import { issuedIds } from "./issued_ids.ts";
import { messageEditsOf } from "./message_edits.ts";
import { allowedToolsEditsOf, ownModelEditsOf } from "./own_model_edits.ts";
import { reasoningEditsOf } from "./reasoning_object.ts";
import { schemaEditsOf } from "./sent_schemas.ts";
import { signatureEditsOf } from "./signatures.ts";
import { vendorFieldEditsOf } from "../shared/vendor_fields.ts";
import { watcher } from "./watcher.ts";

/**
 * Passes chat completions through. Usage is requested in every stream, and removed again if the caller did not request
 * it.
 */
export const passThrough: PassThrough = {
  prepare(received) {
    const { changed, model, outputLimit, quirks } = received;
    // A limit that was lowered stays low under the name that the vendor takes.
    const request = hasMembers(changed) ? { ...received, body: { ...received.body, ...changed } } : received;
    const { body } = request;
    const { bytes, scan, droppedFields } = withEdits(
      request,
      [
        messageEditsOf(request),
        signatureEditsOf(request),
        openAiMarkEdits(request, { list: "messages", parts: ["content"] }),
        schemaEditsOf(request),
      ].reduce(joinedEdits),
    );
    const reasoning = reasoningEditsOf(request);
    const known = factEditsOf(request, reasoning.set);
    const allowed = allowedToolsEditsOf(request, bytes);
    const replaced = withMembers(withMembers(without(reasoning.set, known.remove), known.set), allowed.set);
    const own = ownModelEditsOf(request, replaced, bytes);
    const changedSet = withMembers(replaced, own.set);
    const vendor = vendorFieldEditsOf(request, changedSet);
    const hints = hintEditsOf(body);
    const edits = [reasoning, known, own, vendor].filter((each) => each !== NO_MEMBER_EDITS);
    const remove = ["extra_body", ...edits.flatMap((each) => each.remove)];
    const set: Record<string, unknown> = {
      ...without(changed, remove),
      ...without(hints.set, remove),
      ...changedSet,
      ...vendor.set,
      model,
    };
    if (outputLimit !== null) {
      set[quirks.has("max_tokens_field") ? "max_tokens" : "max_completion_tokens"] = outputLimit;
    }
    if (quirks.has("no_stream_options")) remove.push("stream_options");
    else if (body.stream === true && !hasUsageOption(body)) {
      set.stream_options = { ...objectOf(body.stream_options), include_usage: true };
    }
    return {
      body: spliceJson(bytes, scan, { set, remove }),
      droppedFields: edits.length === 0
        ? droppedFields
        : [droppedFields, ...edits.map((each) => each.droppedFields)].flat(),
    };
  },
  modelIn: (reply) => readModelName(objectOf(reply)?.model),
  watch: (body) => watcher(wantsUsage(body)),
  issuedIds,
};

/** Members with those of another object in their place; the same object if the other one is empty. */
function withMembers(members: JsonObject, others: JsonObject): JsonObject {
  return hasMembers(others) ? { ...members, ...others } : members;
}

/** The members without those of certain names; the same object if it has none of them. */
function without(members: JsonObject, names: readonly string[]): JsonObject {
  if (!hasMembers(members) || !names.some((name) => Object.hasOwn(members, name))) return members;
  return Object.fromEntries(Object.entries(members).filter(([name]) => !names.includes(name)));
}
