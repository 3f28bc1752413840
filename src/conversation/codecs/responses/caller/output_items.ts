import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import type { ImagePart, ToolCallPart } from "../../../neutral/conversation.ts";
import { type TokenLogprob, writeTokenLogprobs } from "../../../neutral/logprobs.ts";
import { callerNameOf } from "../shared/tools.ts";

/** The state of an item: being written, complete, or cut off by a limit. */
export type ItemStatus = "in_progress" | "completed" | "incomplete";

/** The prefix of an item's id, which tells its kind. */
export type ItemPrefix = "msg" | "rs" | "fc" | "ctc" | "ig" | "ws";

/** The id of an output item, made from the gateway's request id, so that writing a reply twice gives the same ids. */
export function itemIdOf(prefix: ItemPrefix, requestId: string, outputIndex: number): string {
  return `${prefix}_${idBodyOf(requestId)}${outputIndex.toString(16).padStart(4, "0")}`;
}

/** The id of the response: the vendor's if it has this format, otherwise one made from the request id. */
export function responseIdOf(vendorId: string, requestId: string): string {
  return vendorId.startsWith("resp_") ? vendorId : `resp_${idBodyOf(requestId)}`;
}

function idBodyOf(requestId: string): string {
  return requestId.startsWith("req_") ? requestId.slice("req_".length) : requestId;
}

/**
 * The id of a call in a reply: the vendor's, unless it is missing or used by an earlier call of the reply, which
 * clients reject. Takes constant time per call, even when all calls have the same id.
 *
 * @param used The ids of the reply's earlier calls, each with the number for its next repetition; the new id is added.
 */
export function callIdFor(callId: string, used: Map<string, number>, requestId: string): string {
  const preferred = callId || `call_${idBodyOf(requestId)}`;
  let next = used.get(preferred);
  let id = preferred;
  for (; used.has(id); next = (next ?? 2) + 1) id = `${preferred}_${next ?? 2}`;
  if (next !== undefined) used.set(preferred, next);
  used.set(id, 2);
  return id;
}

/** A content part with a text. */
export function outputText(
  text: string,
  annotations: readonly JsonObject[] = [],
  logprobs: readonly TokenLogprob[] = [],
): JsonObject {
  return { type: "output_text", text, annotations, logprobs: writeTokenLogprobs(logprobs) };
}

/** A content part with a refusal. */
export function refusalPart(refusal: string): JsonObject {
  return { type: "refusal", refusal };
}

/** A message item. `content` has one part, or none when the item opens. */
export function messageItem(id: string, content: readonly JsonObject[], status: ItemStatus): JsonObject {
  return { id, type: "message", status, role: "assistant", content };
}

/** A reasoning item. Its text is sent as a summary, which every client displays. */
export function reasoningItem(id: string, text: string, proof: string | null): JsonObject {
  const summary = text === "" ? [] : [{ type: "summary_text", text }];
  return { id, type: "reasoning", summary, ...(proof === null ? {} : { encrypted_content: proof }) };
}

/** A call item. */
export function callItem(id: string, call: Omit<ToolCallPart, "kind">, status: ItemStatus): JsonObject {
  const { name, ...namespace } = callerNameOf(call.tool);
  return call.custom
    ? { id, type: "custom_tool_call", status, call_id: call.callId, name, input: call.input }
    : { id, type: "function_call", status, call_id: call.callId, name, ...namespace, arguments: call.input };
}

/** An image item; null for an image at a URL, because the item holds base64. */
export function imageItem(id: string, { source }: ImagePart): JsonObject | null {
  if (source.kind === "url") return null;
  const format = source.mediaType.replace(/^image\//, "");
  return { id, type: "image_generation_call", status: "completed", result: source.data, output_format: format };
}

/** True when the arguments of a call are complete JSON: a call that was cut off must not be executed. */
export function isWholeInput(input: string): boolean {
  try {
    JSON.parse(input);
    return true;
  } catch {
    return false;
  }
}
