import { appendAll } from "../../../../platform/lib/collections/append_all.ts";
import type { JsonEdit } from "../../../../platform/lib/json/json_edits.ts";
import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import {
  type BodyEdits,
  isOwnSignature,
  isWrapped,
  mayHaveWrapped,
  NO_EDITS,
} from "../../../parts/request/body_edits.ts";
import type { PassThroughRequest } from "../../../contract/pass_through.ts";
import type { ReasoningSignature } from "../../../neutral/reasoning_signature.ts";
import { isObject, listOf, objectOf } from "../../../neutral/wire_value.ts";
import { callSignatureOf } from "../shared/read_messages.ts";
import { readDetail, writeOwnDetail } from "../shared/reasoning.ts";

type Path = JsonEdit["path"];

/**
 * Edits a history with wrapped signatures for this provider. The provider's own signatures are unwrapped; those of
 * others are removed. For OpenAI, which accepts no reasoning text, the text of a message without other signatures goes
 * with them.
 */
export function signatureEditsOf({ wholeBody, outlineText, provider, quirks }: PassThroughRequest): BodyEdits {
  if (!mayHaveWrapped(outlineText)) return NO_EDITS;
  const edits: JsonEdit[] = [];
  const droppedFields = new Set<string>();
  listOf(wholeBody().messages).forEach((message, index) => {
    if (!isObject(message)) return;
    const path = ["messages", index];
    const kept = detailsOf(message, path, provider, edits);
    const carriers = [
      { owner: message, path },
      ...listOf(message.tool_calls).map((call, position) => ({ owner: call, path: [...path, "tool_calls", position] })),
    ];
    const isLost = carriers.map((each) => isCallSignatureDropped(each.owner, each.path, provider, edits)).includes(
      true,
    );
    if (isLost || kept === "some" || kept === "none") droppedFields.add("reasoning_signature");
    if (kept !== "none" || quirks.has("reasoning_in_history")) return;
    for (const field of ["reasoning_content", "reasoning"]) {
      if (message[field] === undefined) continue;
      edits.push({ path: [...path, field], value: undefined });
      droppedFields.add("reasoning_text");
    }
  });
  return { edits, droppedFields: [...droppedFields] };
}

/** Whether a message has reasoning that this provider signed, and that the gateway wrapped. */
export function hasOwnSignature(message: JsonObject, provider: string): boolean {
  const isOwn = (signature: ReasoningSignature | undefined) =>
    signature !== undefined && isOwnSignature(signature, "chat", provider);
  const isOwnDetail = (detail: unknown) =>
    isObject(detail) && (isWrapped(detail.signature) || isWrapped(detail.data)) && isOwn(readDetail(detail)?.signature);
  const isOwnCarrier = (owner: unknown) =>
    isObject(owner) && isWrapped(objectOf(objectOf(owner.extra_content)?.google)?.thought_signature) &&
    isOwn(callSignatureOf(owner).signature);
  return listOf(message.reasoning_details).some(isOwnDetail) ||
    [message, ...listOf(message.tool_calls)].some(isOwnCarrier);
}

/** Adds the edits of one message's `reasoning_details`, and returns how many of the details stay. */
function detailsOf(message: JsonObject, path: Path, provider: string, edits: JsonEdit[]): "all" | "some" | "none" {
  const details = listOf(message.reasoning_details);
  const own: JsonEdit[] = [];
  let foreign = 0;
  details.forEach((entry, position) => {
    const detail = objectOf(entry);
    if (detail === null || !(isWrapped(detail.signature) || isWrapped(detail.data))) return;
    const at = [...path, "reasoning_details", position];
    const part = readDetail(detail);
    if (part?.signature !== undefined && isOwnSignature(part.signature, "chat", provider)) {
      const { signature } = part;
      own.push({ path: at, value: writeOwnDetail({ ...part, signature }, position) });
    } else {
      foreign++;
      own.push({ path: at, value: undefined });
    }
  });
  if (foreign > 0 && foreign === details.length) {
    edits.push({ path: [...path, "reasoning_details"], value: undefined });
    return "none";
  }
  appendAll(edits, own);
  return foreign === 0 ? "all" : "some";
}

/** Adds the edit of `extra_content.google.thought_signature`; true when the signature is removed. */
function isCallSignatureDropped(owner: unknown, path: Path, provider: string, edits: JsonEdit[]): boolean {
  const google = isObject(owner) ? objectOf(objectOf(owner.extra_content)?.google) : null;
  if (!isWrapped(google?.thought_signature)) return false;
  const { signature } = callSignatureOf(owner as JsonObject);
  const isOwn = signature !== undefined && isOwnSignature(signature, "chat", provider);
  edits.push({
    path: [...path, "extra_content", "google", "thought_signature"],
    value: isOwn ? signature.value : undefined,
  });
  return !isOwn;
}
