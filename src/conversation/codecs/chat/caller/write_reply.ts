import { isJson } from "../../../../platform/lib/json/json.ts";
import type { ReplyContext } from "../../../contract/caller_format.ts";
import type { WriteResult } from "../../../neutral/write_result.ts";
import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import type { ImagePart, ReasoningPart, ToolCallPart } from "../../../neutral/conversation.ts";
import type { Reply, ReplyPart } from "../../../neutral/reply.ts";
import { writeSignature } from "../../../neutral/reasoning_signature.ts";
import type { ReasoningSignature } from "../../../neutral/reasoning_signature.ts";
import { type TokenLogprob, writeTokenLogprobs } from "../../../neutral/logprobs.ts";
import { writeAnnotations } from "../shared/citations.ts";
import { addressOf } from "../../../parts/request/media_address.ts";
import { REASONING_SEPARATOR, writeDetail } from "../shared/reasoning.ts";
import { refusalOf, writeStop } from "../shared/stop.ts";
import { writeUsage } from "../shared/usage.ts";

/** Writes a whole reply. Reasoning is in `reasoning_content`, the dialect that most clients read. */
export function writeReply(reply: Reply, context: ReplyContext): WriteResult<JsonObject> {
  const droppedFields: string[] = [];
  const parts = withoutPartialCall(reply, droppedFields);
  const message = writeMessage(parts, refusalOf(reply.stop, parts.some((part) => part.kind === "refusal")));
  const body: JsonObject = {
    id: replyId(reply.id, context),
    object: "chat.completion",
    created: reply.createdAt ?? context.createdAt,
    model: context.model,
    choices: [{
      index: 0,
      message,
      logprobs: writeChoiceLogprobs(parts.flatMap((part) => part.kind === "text" ? part.logprobs ?? [] : [])),
      finish_reason: writeStop(reply.stop, message.tool_calls !== undefined, message.refusal !== null),
    }],
  };
  if (parts.filter((part) => part.kind === "text" && part.signature).length > 1) {
    droppedFields.push("reasoning_signature");
  }
  if (reply.usage) body.usage = writeUsage(reply.usage);
  return { body, droppedFields };
}

/** The `logprobs` of a choice; null when none were requested. */
export function writeChoiceLogprobs(tokens: readonly TokenLogprob[]): JsonObject | null {
  return tokens.length === 0 ? null : { content: writeTokenLogprobs(tokens), refusal: null };
}

/** The vendor's id, or one made from the request id. */
export function replyId(id: string, context: ReplyContext): string {
  return id || `chatcmpl-${context.requestId}`;
}

/** Drops a last call that a limit cut off, because it cannot be executed; the caller receives only the limit. */
function withoutPartialCall(reply: Reply, droppedFields: string[]): readonly ReplyPart[] {
  const last = reply.parts.at(-1);
  const isCutOff = reply.stop.reason === "max_tokens" || reply.stop.reason === "context_full";
  if (!isCutOff || last?.kind !== "tool_call" || last.custom || isJson(last.input)) return reply.parts;
  droppedFields.push("tool_call");
  return reply.parts.slice(0, -1);
}

function writeMessage(parts: readonly ReplyPart[], explanation: string): JsonObject {
  const [only] = parts;
  if (parts.length === 1 && only?.kind === "text" && !only.citations && !only.signature) {
    const isEmpty = only.text === "" && explanation !== "";
    return { role: "assistant", content: isEmpty ? null : only.text, refusal: explanation || null };
  }
  const texts = parts.filter((part) => part.kind === "text");
  const calls = parts.filter((part) => part.kind === "tool_call");
  const refusal = parts.filter((part) => part.kind === "refusal").map((part) => part.text).join("") || explanation;
  const text = texts.map((part) => part.text).join("");
  const isEmpty = text === "" && (calls.length > 0 || refusal !== "");
  const message: JsonObject = { role: "assistant", content: isEmpty ? null : text, refusal: refusal || null };
  Object.assign(message, writeReasoning(parts.filter((part) => part.kind === "reasoning")));
  const annotations = annotationsOf(parts);
  if (annotations.length > 0) message.annotations = annotations;
  const images = parts.filter((part) => part.kind === "image");
  if (images.length > 0) message.images = images.map(writeImage);
  if (calls.length > 0) message.tool_calls = calls.map(writeCall);
  const signature = texts.find((part) => part.signature)?.signature;
  if (signature) message.extra_content = signatureContent(signature);
  return message;
}

/** The annotations of all texts. Their offsets count the whole content. */
function annotationsOf(parts: readonly ReplyPart[]): JsonObject[] {
  let before = 0;
  return parts.flatMap((part) => {
    if (part.kind !== "text") return [];
    const annotations = writeAnnotations(part.citations ?? [], before, part.text.length);
    before += part.text.length;
    return annotations;
  });
}

/** Reasoning as `reasoning_content`, and as `reasoning_details` when a part has a signature. */
function writeReasoning(parts: readonly ReasoningPart[]): JsonObject {
  const text = parts.filter((part) => part.text !== "" && !part.redacted).map((part) => part.text);
  const hasSignature = parts.some((part) => part.signature);
  const details = parts.map((part, i) =>
    part.signature
      ? writeDetail({ ...part, signature: part.signature }, i)
      : { type: "reasoning.text", text: part.text, index: i }
  );
  return {
    ...(text.length > 0 && { reasoning_content: text.join(REASONING_SEPARATOR) }),
    ...(hasSignature && { reasoning_details: details }),
  };
}

/** An image in the shape of a dialect, because OpenAI's format has none. */
export function writeImage(image: ImagePart): JsonObject {
  return { type: "image_url", image_url: { url: addressOf(image.source) } };
}

function writeCall(part: ToolCallPart): JsonObject {
  const { callId, tool, input, custom, signature } = part;
  const called = custom ? { type: "custom", custom: { name: tool, input } } : {
    type: "function",
    function: { name: tool, arguments: input },
  };
  return { id: callId, ...called, ...(signature && { extra_content: signatureContent(signature) }) };
}

/** The field of the format for a signature that does not belong to reasoning. */
export function signatureContent(signature: ReasoningSignature): JsonObject {
  return { google: { thought_signature: writeSignature(signature, "chat") } };
}
