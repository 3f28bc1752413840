import { appendAll } from "../../../../platform/lib/collections/append_all.ts";
import type { EventWriter, ReplyContext } from "../../../contract/caller_format.ts";
import type { Frame } from "../../../../platform/lib/streams/frame.ts";
import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import type { Citation, ImagePart } from "../../../neutral/conversation.ts";
import type { PartOpening, ReplyEvent } from "../../../neutral/events.ts";
import type { Stop } from "../../../neutral/reply.ts";
import type { ReasoningSignature } from "../../../neutral/reasoning_signature.ts";
import { failureOf } from "../../../parts/reply/stream_failure.ts";
import type { Usage } from "../../../neutral/usage.ts";
import type { WebSearchPart } from "../../../neutral/web_search.ts";
import { argumentsOf, objectIn } from "../../../parts/request/call_input.ts";
import type { TokenLogprob } from "../../../neutral/logprobs.ts";
import { writeLogprobs } from "../shared/logprobs.ts";
import { writeGrounding } from "../shared/citations.ts";
import { failureFrame } from "./error.ts";
import { writeReplyImage } from "../shared/parts.ts";
import { writeReplySignature } from "../shared/signatures.ts";
import { finishReasonOf, promptFeedbackOf, wasCutOff } from "../shared/stop.ts";
import { writeUsage } from "../shared/usage.ts";

/** A part that is being written. */
interface OutgoingPart {
  readonly opening: PartOpening | { readonly kind: "image"; readonly image: ImagePart };
  /** Text not written yet. */
  bufferedText: string;
  /** The whole text so far, for offsets. */
  text: string;
  signature: ReasoningSignature | null;
  citations: readonly Citation[];
  /** Tokens of the text not written yet. */
  logprobs: TokenLogprob[];
  ended: boolean;
}

/**
 * The state of writing a stream. Chunks do not mark the start or end of parts, and clients join adjacent parts of one
 * kind. So parts are written one after the other, in order of opening; parts after the first open one are buffered. A
 * call is written when it is complete.
 */
interface Progress {
  readonly context: ReplyContext;
  id: string;
  createdAt: number | null;
  usage: Usage | null;
  readonly parts: OutgoingPart[];
  /** The index of the first part that is not completely written. */
  head: number;
  readonly searches: WebSearchPart[];
  hasContent: boolean;
  /** The end of every frame: the members of a chunk that are the same in all. */
  frameTail: string;
}

/** Writes a stream. The format has no event names and no end marker: the last chunk has the finish reason. */
export function eventWriter(context: ReplyContext): EventWriter {
  const progress: Progress = {
    context,
    id: context.requestId,
    createdAt: null,
    usage: null,
    parts: [],
    head: 0,
    searches: [],
    hasContent: false,
    frameTail: "",
  };
  setFrameTail(progress);
  return {
    write: (event) => writeEvent(progress, event),
    writeText: (index, text) => writeText(progress, index, text),
    fail: (error) => [failureFrame(error)],
  };
}

function writeEvent(progress: Progress, event: ReplyEvent): Frame[] {
  switch (event.type) {
    case "start":
      if (event.id !== "") progress.id = event.id;
      progress.createdAt = event.createdAt;
      progress.usage = event.usage;
      setFrameTail(progress);
      return [];
    case "part-start":
      progress.parts[event.index] = newPart(event.part, false);
      return [];
    case "image":
      progress.parts[event.index] = newPart({ kind: "image", image: event.image }, true);
      return flush(progress, null);
    case "web_search":
      progress.searches.push(event.search);
      progress.parts[event.index] = newPart({ kind: "text" }, true);
      return flush(progress, null);
    case "finish":
      return finish(progress, event.stop, event.usage);
    case "error":
      return [failureFrame(failureOf(event))];
    default:
      return changePart(progress, event);
  }
}

/** The frame of more text of the part that is being written; null for any other part. */
function writeText(progress: Progress, index: number, text: string): string | null {
  const part = progress.parts[index];
  if (index !== progress.head || part?.opening.kind !== "text" || part.ended) return null;
  if (part.bufferedText !== "" || part.logprobs.length > 0) return null;
  part.text += text;
  progress.hasContent = true;
  const candidate = `{"content":{"parts":[{"text":${JSON.stringify(text)}}],"role":"model"},"index":0}`;
  return `data: {"candidates":[${candidate}],${progress.frameTail}\n\n`;
}

function setFrameTail(progress: Progress): void {
  progress.frameTail = JSON.stringify(headOf(progress.id, progress.createdAt, progress.context)).slice(1);
}

function newPart(opening: OutgoingPart["opening"], ended: boolean): OutgoingPart {
  return { opening, bufferedText: "", text: "", signature: null, citations: [], logprobs: [], ended };
}

function changePart(
  progress: Progress,
  event: Extract<ReplyEvent, { type: "part-delta" | "part-signature" | "part-end" }>,
): Frame[] {
  const part = progress.parts[event.index];
  if (!part) return [];
  if (event.type === "part-delta") {
    part.bufferedText += event.text;
    part.text += event.text;
    if (event.logprobs) appendAll(part.logprobs, event.logprobs);
  } else if (event.type === "part-signature") part.signature = event.signature;
  else {
    part.ended = true;
    part.citations = event.citations ?? [];
  }
  return flush(progress, null);
}

/** Writes what can be written now; with a stop, everything. */
function flush(progress: Progress, stop: Stop | null): Frame[] {
  const frames: Frame[] = [];
  for (; progress.head < progress.parts.length; progress.head++) {
    const part = progress.parts[progress.head]!;
    const written = part.opening.kind === "tool_call" ? flushCall(part, stop) : flushPart(part, stop !== null);
    for (const wirePart of written.parts) frames.push(chunkOf(progress, wirePart, part.logprobs.splice(0)));
    if (!written.done) break;
  }
  return frames;
}

interface Flushed {
  readonly parts: JsonObject[];
  readonly done: boolean;
}

function flushPart(part: OutgoingPart, isFinal: boolean): Flushed {
  const { opening } = part;
  if (opening.kind === "image") return { parts: [writeReplyImage(opening.image)], done: true };
  const done = part.ended || isFinal;
  const thoughtField = opening.kind === "reasoning" ? { thought: true } : {};
  const parts: JsonObject[] = [];
  if (part.bufferedText !== "") parts.push({ text: part.bufferedText, ...thoughtField });
  part.bufferedText = "";
  if (done && part.signature !== null) {
    const isRedacted = opening.kind === "reasoning" && opening.redacted === true;
    parts.push({ text: "", ...thoughtField, thoughtSignature: writeReplySignature(part.signature, isRedacted) });
  }
  return { parts, done };
}

/** A call with invalid JSON as input is buffered until the stop shows whether it was cut off. */
function flushCall(part: OutgoingPart, stop: Stop | null): Flushed {
  if (!part.ended && stop === null) return { parts: [], done: false };
  const call = part.opening as Extract<PartOpening, { kind: "tool_call" }>;
  const input = part.text === "" && !call.custom ? "{}" : part.text;
  const isWhole = call.custom === true || objectIn(input) !== null;
  if (!isWhole && stop === null) return { parts: [], done: false };
  if (!isWhole && stop !== null && wasCutOff(stop)) return { parts: [], done: true };
  return { parts: [writeReplyCall({ ...call, input, signature: part.signature })], done: true };
}

/** Writes a call in a reply. */
export function writeReplyCall(
  call: { callId: string; tool: string; input: string; custom?: boolean; signature?: ReasoningSignature | null },
): JsonObject {
  const functionCall = { id: call.callId, name: call.tool, args: argumentsOf(call) };
  return call.signature
    ? { functionCall, thoughtSignature: writeReplySignature(call.signature, false) }
    : { functionCall };
}

function finish(progress: Progress, stop: Stop, usage: Usage | null): Frame[] {
  const frames = flush(progress, stop);
  const known = usage ?? progress.usage;
  const isBlocked = stop.reason === "prompt_blocked" && !progress.hasContent;
  const last: JsonObject = isBlocked
    ? { promptFeedback: promptFeedbackOf(stop) }
    // Clients join the texts of all chunks, so an empty text is sent instead of no part.
    : { candidates: [candidateOf([{ text: "" }], stop, citedTexts(progress), progress.searches)] };
  if (known !== null) last.usageMetadata = writeUsage(known);
  frames.push(frameOf(progress, last));
  return frames;
}

function citedTexts(progress: Progress): { text: string; citations: readonly Citation[] }[] {
  return progress.parts.filter(({ opening }) => opening.kind === "text" || opening.kind === "refusal");
}

/** The candidate that ends a reply. */
export function candidateOf(
  parts: JsonObject[],
  stop: Stop,
  texts: readonly { text: string; citations?: readonly Citation[]; logprobs?: readonly TokenLogprob[] }[],
  searches: readonly WebSearchPart[],
): JsonObject {
  const candidate: JsonObject = {
    content: parts.length === 0 ? { role: "model" } : { parts, role: "model" },
    finishReason: finishReasonOf(stop),
    index: 0,
  };
  if (stop.explanation !== undefined) candidate.finishMessage = stop.explanation;
  Object.assign(candidate, writeLogprobs(texts.flatMap(({ logprobs }) => logprobs ?? [])));
  const grounding = writeGrounding(texts, searches);
  if (grounding !== null) candidate.groundingMetadata = grounding;
  return candidate;
}

function chunkOf(progress: Progress, part: JsonObject, logprobs: readonly TokenLogprob[]): Frame {
  progress.hasContent = true;
  const candidate = { content: { parts: [part], role: "model" }, index: 0, ...writeLogprobs(logprobs) };
  return frameOf(progress, { candidates: [candidate] });
}

function frameOf(progress: Progress, body: JsonObject): Frame {
  return { event: null, data: `${JSON.stringify(body).slice(0, -1)},${progress.frameTail}` };
}

/** The fields that every chunk and a whole reply have. */
export function headOf(id: string, createdAt: number | null, context: ReplyContext): JsonObject {
  const head = { modelVersion: context.model, responseId: id === "" ? context.requestId : id };
  const created = createdAt === null ? null : new Date(createdAt * 1000);
  return created === null || Number.isNaN(created.getTime()) ? head : { ...head, createTime: created.toISOString() };
}
