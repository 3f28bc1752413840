import type { JsonObject } from "../../../../lib/json_object.ts";
import type { ImagePart, ToolCallPart } from "../../../conversation.ts";
import { type TokenLogprob, writeTokenLogprobs } from "../../../logprobs.ts";
import { callerNameOf } from "../shared/tools.ts";

/** How an item stands: still being written, whole, or cut short by a limit. */
export type ItemStatus = "in_progress" | "completed" | "incomplete";

/** What kind of item an id names: the letters that clients know it by. */
export type ItemPrefix = "msg" | "rs" | "fc" | "ctc" | "ig" | "ws";

/** The id of an output item, made from the gateway's id of the request so that a reply can be written twice alike. */
export function itemIdOf(prefix: ItemPrefix, requestId: string, outputIndex: number): string {
  return `${prefix}_${tailOf(requestId)}${outputIndex.toString(16).padStart(4, "0")}`;
}

/** The id of the response: the vendor's own where it is one of this form, else made from the request's. */
export function responseIdOf(vendorId: string, requestId: string): string {
  return vendorId.startsWith("resp_") ? vendorId : `resp_${tailOf(requestId)}`;
}

function tailOf(requestId: string): string {
  return requestId.startsWith("req_") ? requestId.slice("req_".length) : requestId;
}

/**
 * The id of a call in a reply: the vendor's, unless it gave none or one that an earlier call of the reply has, which
 * clients refuse. A thousand calls of one id take no longer than a thousand calls of their own ids.
 *
 * @param used The ids of the reply's earlier calls, each with the number that its next repeat gets; the new one is
 * added.
 */
export function callIdFor(callId: string, used: Map<string, number>, requestId: string): string {
  const wanted = callId || `call_${tailOf(requestId)}`;
  let next = used.get(wanted);
  let id = wanted;
  for (; used.has(id); next = (next ?? 2) + 1) id = `${wanted}_${next ?? 2}`;
  if (next !== undefined) used.set(wanted, next);
  used.set(id, 2);
  return id;
}

/** A content part of a message with a text. */
export function outputText(
  text: string,
  annotations: readonly JsonObject[] = [],
  logprobs: readonly TokenLogprob[] = [],
): JsonObject {
  return { type: "output_text", text, annotations, logprobs: writeTokenLogprobs(logprobs) };
}

/** A content part of a message with a refusal. */
export function refusalPart(refusal: string): JsonObject {
  return { type: "refusal", refusal };
}

/** An item of one message; `content` holds one part, or none while it opens. */
export function messageItem(id: string, content: readonly JsonObject[], status: ItemStatus): JsonObject {
  return { id, type: "message", status, role: "assistant", content };
}

/** An item of reasoning. Its text is shown as a summary, which every client renders. */
export function reasoningItem(id: string, text: string, proof: string | null): JsonObject {
  const summary = text === "" ? [] : [{ type: "summary_text", text }];
  return { id, type: "reasoning", summary, ...(proof === null ? {} : { encrypted_content: proof }) };
}

/** An item of a call. */
export function callItem(id: string, call: Omit<ToolCallPart, "kind">, status: ItemStatus): JsonObject {
  const { name, ...namespace } = callerNameOf(call.tool);
  return call.custom
    ? { id, type: "custom_tool_call", status, call_id: call.callId, name, input: call.input }
    : { id, type: "function_call", status, call_id: call.callId, name, ...namespace, arguments: call.input };
}

/** An item of a picture; null for one at an address, since the item holds base64. */
export function pictureItem(id: string, { source }: ImagePart): JsonObject | null {
  if (source.kind === "url") return null;
  const format = source.mediaType.replace(/^image\//, "");
  return { id, type: "image_generation_call", status: "completed", result: source.data, output_format: format };
}

/** True when the arguments of a call are whole: a call that a limit cut must not be acted upon. */
export function isWholeInput(input: string): boolean {
  try {
    JSON.parse(input);
    return true;
  } catch {
    return false;
  }
}
