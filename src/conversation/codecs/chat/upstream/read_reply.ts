import { appendAll } from "../../../../platform/lib/collections/append_all.ts";
import { createHash } from "node:crypto";
import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import { inputOf } from "../../../parts/request/call_input.ts";
import type { Citation, ImagePart, ReasoningPart, TextPart, ToolCallPart } from "../../../neutral/conversation.ts";
import { FailedReply, unlisted } from "../../../parts/reply/failed_reply.ts";
import type { Reply, ReplyPart } from "../../../neutral/reply.ts";
import { readTokenLogprobs, type TokenLogprob } from "../../../neutral/logprobs.ts";
import { readAnnotations, readSources } from "../shared/citations.ts";
import { baseFailureIn, errorEventOf } from "./error.ts";
import { listOf, numberOrNull, objectOf, textOf } from "../../../neutral/wire_value.ts";
import { hasValue } from "../shared/fields.ts";
import { callSignatureOf, legacyCallOf, withMessageSignature } from "../shared/read_messages.ts";
import { readSource, readThinking } from "../shared/read_parts.ts";
import { readReasoning } from "../shared/reasoning.ts";
import { isFailure, readStop } from "../shared/stop.ts";
import { readUsage } from "../shared/usage.ts";

/** Fields of a message that are read, or that carry no information of their own. */
const KNOWN_FIELDS = new Set([
  ...["role", "content", "refusal", "annotations", "tool_calls", "function_call", "images", "name", "prefix"],
  ...["reasoning_content", "reasoning", "reasoning_details", "extra_content", "thought_signature"],
]);

/**
 * Reads a whole reply of OpenAI or of a dialect.
 *
 * @throws {TypeError} If it is not a reply of this format, or a reply that reports a failure.
 */
export function readReply(body: unknown): Reply {
  const reply = objectOf(unlisted(body));
  const choices = listOf(reply?.choices);
  const choice = objectOf(choices[0]);
  const message = objectOf(choice?.message) ?? objectOf(choice?.delta) ?? filteredMessage(choice);
  // Vendors that learn of a failure too late for its status report it in place of choices.
  if (reply && choices.length === 0 && (hasValue(reply.error) || baseFailureIn(reply) !== null)) {
    throw new FailedReply(errorEventOf(reply));
  }
  if (!reply || !choice || !message) throw new TypeError("Cannot read the reply: expected choices with a message");
  if (hasValue(choice.error)) throw new FailedReply(errorEventOf(choice));
  if (isFailure(choice.finish_reason)) {
    throw new FailedReply(errorEventOf({ error: { code: choice.finish_reason } }));
  }
  const unsupportedFields = new Set<string>();
  const parts = readMessageParts(message, replyIdOf(reply), unsupportedFields);
  const cited = citedParts(parts, [...readAnnotations(message.annotations), ...readSources(reply)]);
  if (choices.length > 1) unsupportedFields.add("choices[1]");
  const logprobs = objectOf(choice.logprobs);
  if (listOf(logprobs?.refusal).length > 0) unsupportedFields.add("choices[0].logprobs.refusal");
  if (hasValue(reply.moderation)) unsupportedFields.add("moderation");
  return {
    id: textOf(reply.id),
    model: textOf(reply.model),
    createdAt: numberOrNull(reply.created),
    parts: withLogprobs(cited, readTokenLogprobs(logprobs?.content)),
    stop: readStop(choice.finish_reason, {
      text: parts.some((part) => part.kind === "text"),
      refusal: parts.some((part) => part.kind === "refusal"),
      call: parts.some((part) => part.kind === "tool_call"),
    }),
    usage: readUsage(reply),
    unsupportedFields: [...unsupportedFields],
  };
}

/** The message of a choice that the vendor's filter withheld: Azure sends none. Null for any other choice. */
function filteredMessage(choice: JsonObject | null): JsonObject | null {
  const { reason } = readStop(choice?.finish_reason, { text: false, refusal: false, call: false });
  return reason === "content_filter" ? {} : null;
}

/** The value from which ids of calls without one are made; unique to the reply. */
function replyIdOf(reply: JsonObject): string {
  return `${textOf(reply.id)}/${numberOrNull(reply.created) ?? ""}`;
}

function readMessageParts(message: JsonObject, replyId: string, unsupportedFields: Set<string>): ReplyPart[] {
  const parts: ReplyPart[] = [...readReasoning(message), ...readReplyContent(message.content, unsupportedFields)];
  if (textOf(message.refusal) !== "") parts.push({ kind: "refusal", text: textOf(message.refusal) });
  const transcript = textOf(objectOf(message.audio)?.transcript);
  if (transcript !== "" && !parts.some((part) => part.kind === "text")) parts.push({ kind: "text", text: transcript });
  appendAll(parts, readImages(message.images));
  const calls = listOf(message.tool_calls).map((entry) => objectOf(entry) ?? {});
  const legacy = legacyCallOf(message);
  if (legacy) calls.push({ function: legacy });
  if (calls.length > 0) appendAll(parts, readCalls(calls, replyId, unsupportedFields));
  for (const name of Object.keys(message)) {
    if (!KNOWN_FIELDS.has(name) && hasValue(message[name])) unsupportedFields.add(`message.${name}`);
  }
  return withMessageSignature(parts, message);
}

function readCalls(calls: readonly JsonObject[], replyId: string, unsupportedFields: Set<string>): ReplyPart[] {
  const callIds = new Set<string>();
  return calls.flatMap((fields, k) => {
    const call = readCall(fields, callIdOf(fields, replyId, k, callIds));
    if (call === null) unsupportedFields.add(`message.tool_calls.${textOf(fields.type)}`);
    return call ?? [];
  });
}

/** Reads text, or one vendor's list of `text` and `thinking` parts. */
function readReplyContent(content: unknown, unsupportedFields: Set<string>): ReplyPart[] {
  if (typeof content === "string") return content === "" ? [] : [{ kind: "text", text: content }];
  const parts: ReplyPart[] = [];
  for (const entry of listOf(content)) {
    const fields = objectOf(entry) ?? {};
    const reasoning = fields.type === "thinking" ? readThinking(fields) : null;
    if (reasoning) append(parts, reasoning);
    else if (textOf(fields.text) !== "") append(parts, { kind: "text", text: textOf(fields.text) });
    else if (fields.type === "image_url") appendAll(parts, readImages([fields]));
    else if (fields.type !== "text" && fields.type !== "thinking") {
      unsupportedFields.add(`message.content.${textOf(fields.type)}`);
    }
  }
  return parts;
}

/** Appends a part. Adjacent pieces of text or of reasoning form one part, as in a stream. */
function append(parts: ReplyPart[], part: TextPart | ReasoningPart): void {
  const last = parts.at(-1);
  if (last?.kind === part.kind) parts[parts.length - 1] = { ...part, text: last.text + part.text };
  else parts.push(part);
}

/** Reads images as some vendors return them: `images: [{type: "image_url", image_url: {url}}]`. */
export function readImages(images: unknown): ImagePart[] {
  const parts: ImagePart[] = [];
  for (const entry of listOf(images)) {
    const image = objectOf(entry)?.image_url;
    const url = textOf(image) || textOf(objectOf(image)?.url);
    if (url !== "") parts.push({ kind: "image", source: readSource(url) });
  }
  return parts;
}

function readCall(fields: JsonObject, callId: string): ToolCallPart | null {
  const custom = fields.type === "custom";
  const called = objectOf(custom ? fields.custom : fields.function);
  const tool = textOf(called?.name);
  if (!called || tool === "") return null;
  const input = custom ? textOf(called.input) : inputOf(called.arguments);
  return { kind: "tool_call", callId, tool, input, ...(custom && { custom }), ...callSignatureOf(fields) };
}

function callIdOf(fields: JsonObject, replyId: string, k: number, taken: Set<string>): string {
  const id = textOf(fields.id);
  const callId = id !== "" && !taken.has(id) ? id : newCallId(replyId, k);
  taken.add(callId);
  return callId;
}

/** An id for a call without an id or with a repeated one; the same whenever the same reply is read. */
export function newCallId(replyId: string, k: number): string {
  return `call_${createHash("sha256").update(`${replyId}/${k}`).digest("base64url").slice(0, 24)}`;
}

/** Attaches tokens to the first text, because this format reports them for a whole choice. */
function withLogprobs(parts: readonly ReplyPart[], logprobs: readonly TokenLogprob[]): readonly ReplyPart[] {
  const at = logprobs.length > 0 ? parts.findIndex((part) => part.kind === "text") : -1;
  return at < 0 ? parts : parts.map((part, i) => i === at ? { ...part, logprobs } as ReplyPart : part);
}

/** Attaches citations to the first text, because their offsets refer to it. */
function citedParts(parts: readonly ReplyPart[], citations: readonly Citation[]): ReplyPart[] {
  const at = citations.length > 0 ? parts.findIndex((part) => part.kind === "text") : -1;
  return parts.map((part, i) => i === at ? { ...part, citations } : part);
}
