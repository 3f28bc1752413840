import type { GatewayError } from "../../../../platform/lib/basics/gateway_error.ts";
import type { EventWriter, ReplyContext } from "../../../contract/caller_format.ts";
import type { Frame } from "../../../../platform/lib/streams/frame.ts";
import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import type { PartOpening, ReplyEvent } from "../../../neutral/events.ts";
import type { ReasoningSignature } from "../../../neutral/reasoning_signature.ts";
import { writeAnnotations } from "../shared/citations.ts";
import { writeDefaultError } from "../../../parts/reply/default_error.ts";
import { failureOf } from "../../../parts/reply/stream_failure.ts";
import { REASONING_SEPARATOR, writeDetail } from "../shared/reasoning.ts";
import { refusalOf, writeStop } from "../shared/stop.ts";
import { writeUsage } from "../shared/usage.ts";
import type { TokenLogprob } from "../../../neutral/logprobs.ts";
import { replyId, signatureContent, writeChoiceLogprobs, writeImage } from "./write_reply.ts";

/** A part that has started and not ended. */
interface OpenPart {
  readonly opening: PartOpening;
  /** Position among the calls; -1 for other parts. */
  readonly call: number;
  /**
   * True until the first chunk of a call is written. It waits for a signature that is the next event, since clients
   * read it only in that chunk.
   */
  isPending: boolean;
  text: string;
  /** UTF-16 units of content before this text. */
  readonly before: number;
  signature: ReasoningSignature | null;
}

interface Writing {
  readonly context: ReplyContext;
  /** The text of a chunk before and after its choice; identical in all chunks. */
  head: string;
  tail: string;
  /** The frame of a piece of text before and after the text as JSON. */
  textHead: string;
  textTail: string;
  readonly open: Map<number, OpenPart>;
  calls: number;
  reasoningParts: number;
  writtenReasoningParts: number;
  contentLength: number;
  hasRefusal: boolean;
}

/**
 * Writes the chunks of one stream as the official client expects them: the same id on all, calls numbered from 0
 * without gaps, id and name only in a call's first chunk, a finish reason before the end. Calls may interleave.
 */
export function eventWriter(context: ReplyContext): EventWriter {
  const writing: Writing = {
    context,
    head: "",
    tail: "",
    textHead: "",
    textTail: "",
    open: new Map(),
    calls: 0,
    reasoningParts: 0,
    writtenReasoningParts: 0,
    contentLength: 0,
    hasRefusal: false,
  };
  setHead(writing, { id: replyId("", context), createdAt: context.createdAt });
  return {
    write: (event) => writeEvent(writing, event),
    writeText: (index, text) => writeText(writing, index, text),
    fail,
  };
}

function fail(error: GatewayError): Frame[] {
  return [frame(JSON.stringify(writeDefaultError(error)))];
}

function writeEvent(writing: Writing, event: ReplyEvent): Frame[] {
  switch (event.type) {
    case "start":
      setHead(writing, { id: replyId(event.id, writing.context), createdAt: event.createdAt });
      return [chunk(writing, { role: "assistant", content: "", refusal: null })];
    case "part-start":
      return startPart(writing, event.index, event.part);
    case "part-delta":
      return writeDelta(writing, event.index, event.text, event.logprobs);
    case "part-signature":
      return signPart(writing, event.index, event.signature);
    case "part-end":
      return endPart(writing, event);
    case "image":
      return [chunk(writing, { images: [writeImage(event.image)] })];
    case "web_search":
      return []; // the format has no searches, only citations
    case "finish":
      return finish(writing, event);
    case "error":
      return fail(failureOf(event));
  }
}

function setHead(writing: Writing, { id, createdAt }: { id: string; createdAt: number | null }): void {
  const { model, includeUsage } = writing.context;
  const created = createdAt ?? writing.context.createdAt;
  const shared = JSON.stringify({ id, object: "chat.completion.chunk", created, model });
  writing.head = `${shared.slice(0, -1)},"choices":[`;
  // With usage requested, every chunk except the last one has `usage: null`.
  writing.tail = includeUsage ? `],"usage":null}` : "]}";
  writing.textHead = `data: ${writing.head}{"index":0,"delta":{"content":`;
  writing.textTail = `},"logprobs":null,"finish_reason":null}${writing.tail}\n\n`;
}

function writeText(writing: Writing, index: number, text: string): string | null {
  const part = writing.open.get(index);
  if (part?.opening.kind !== "text") return null;
  addContent(writing, part, text);
  return writing.textHead + JSON.stringify(text) + writing.textTail;
}

function addContent(writing: Writing, part: OpenPart, text: string): void {
  writing.contentLength += text.length;
  part.text += text;
}

function chunk(
  writing: Writing,
  delta: JsonObject,
  finishReason: string | null = null,
  logprobs: readonly TokenLogprob[] = [],
): Frame {
  const tokens = logprobs.length === 0 ? "null" : JSON.stringify(writeChoiceLogprobs(logprobs));
  const choice = `{"index":0,"delta":${JSON.stringify(delta)},"logprobs":${tokens},"finish_reason":${
    JSON.stringify(finishReason)
  }}`;
  return frame(writing.head + choice + writing.tail);
}

function frame(data: string): Frame {
  return { event: null, data };
}

function startPart(writing: Writing, index: number, opening: PartOpening): Frame[] {
  const isCall = opening.kind === "tool_call";
  const part: OpenPart = {
    opening,
    call: isCall ? writing.calls++ : -1,
    isPending: isCall,
    text: "",
    before: writing.contentLength,
    signature: null,
  };
  writing.open.set(index, part);
  if (opening.kind === "refusal") writing.hasRefusal = true;
  return isCall && opening.isSigned !== true ? startCall(writing, part) : [];
}

function writeDelta(writing: Writing, index: number, text: string, logprobs?: readonly TokenLogprob[]): Frame[] {
  const part = writing.open.get(index);
  if (!part) return [];
  switch (part.opening.kind) {
    case "text":
      addContent(writing, part, text);
      return [chunk(writing, { content: text }, null, logprobs)];
    case "refusal":
      return [chunk(writing, { refusal: text })];
    case "reasoning":
      return writeReasoning(writing, part, text);
    case "tool_call": {
      const first = startCall(writing, part);
      part.text = text;
      return [...first, chunk(writing, { tool_calls: [callDelta(part, text)] })];
    }
  }
}

function writeReasoning(writing: Writing, part: OpenPart, text: string): Frame[] {
  const first = part.text === "";
  part.text += text;
  if (part.opening.kind === "reasoning" && part.opening.redacted) return [];
  const isFollowing = first && writing.writtenReasoningParts++ > 0;
  return [chunk(writing, { reasoning_content: isFollowing ? REASONING_SEPARATOR + text : text })];
}

function callDelta(part: OpenPart, text: string): JsonObject {
  const custom = part.opening.kind === "tool_call" && part.opening.custom;
  return { index: part.call, ...(custom ? { custom: { input: text } } : { function: { arguments: text } }) };
}

function startCall(writing: Writing, part: OpenPart): Frame[] {
  const { opening } = part;
  if (!part.isPending || opening.kind !== "tool_call") return [];
  part.isPending = false;
  const { callId, tool, custom } = opening;
  const called = custom ? { type: "custom", custom: { name: tool, input: "" } } : {
    type: "function",
    function: { name: tool, arguments: "" },
  };
  const signed = part.signature ? { extra_content: signatureContent(part.signature) } : {};
  return [chunk(writing, { tool_calls: [{ index: part.call, id: callId, ...called, ...signed }] })];
}

function signPart(writing: Writing, index: number, signature: ReasoningSignature): Frame[] {
  const part = writing.open.get(index);
  if (!part) return [];
  part.signature = signature;
  if (part.opening.kind === "text") return [chunk(writing, { extra_content: signatureContent(signature) })];
  if (part.opening.kind !== "tool_call") return [];
  const started = !part.isPending;
  const signed = { index: part.call, extra_content: signatureContent(signature) };
  return started ? [chunk(writing, { tool_calls: [signed] })] : startCall(writing, part);
}

function endPart(writing: Writing, event: Extract<ReplyEvent, { type: "part-end" }>): Frame[] {
  const part = writing.open.get(event.index);
  if (!part) return [];
  writing.open.delete(event.index);
  switch (part.opening.kind) {
    case "tool_call": {
      const first = startCall(writing, part);
      // A call without arguments must still be valid JSON.
      const empty = part.text === "" && !part.opening.custom;
      return empty ? [...first, chunk(writing, { tool_calls: [callDelta(part, "{}")] })] : first;
    }
    case "reasoning":
      return endReasoning(writing, part, part.opening);
    case "text": {
      if (!event.citations?.length) return [];
      return [chunk(writing, { annotations: writeAnnotations(event.citations, part.before, part.text.length) })];
    }
    default:
      return [];
  }
}

/**
 * Writes a signature at the end of its reasoning, together with the text, because clients send only the detail back.
 */
function endReasoning(writing: Writing, part: OpenPart, opening: Extract<PartOpening, { kind: "reasoning" }>): Frame[] {
  const index = writing.reasoningParts++;
  if (!part.signature) return [];
  const signed = { ...opening, text: part.text, signature: part.signature };
  return [chunk(writing, { reasoning_details: [writeDetail(signed, index)] })];
}

function finish(writing: Writing, { stop, usage }: Extract<ReplyEvent, { type: "finish" }>): Frame[] {
  const frames: Frame[] = [];
  const explanation = refusalOf(stop, writing.hasRefusal);
  if (explanation !== "") {
    writing.hasRefusal = true;
    frames.push(chunk(writing, { refusal: explanation }));
  }
  frames.push(chunk(writing, {}, writeStop(stop, writing.calls > 0, writing.hasRefusal)));
  if (writing.context.includeUsage && usage) {
    frames.push(frame(`${writing.head}],"usage":${JSON.stringify(writeUsage(usage))}}`));
  }
  frames.push(frame("[DONE]"));
  return frames;
}
