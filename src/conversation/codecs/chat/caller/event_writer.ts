import type { GatewayError } from "../../../../lib/gateway_error.ts";
import type { EventWriter, ReplyContext } from "../../../caller_format.ts";
import type { Frame } from "../../../../lib/frame.ts";
import type { JsonObject } from "../../../../lib/json_object.ts";
import type { PartOpening, ReplyEvent } from "../../../events.ts";
import type { Seal } from "../../../seal.ts";
import { writeAnnotations } from "../shared/citations.ts";
import { writeDefaultError } from "../../../default_error.ts";
import { failureOf } from "../../../stream_failure.ts";
import { THOUGHT_BREAK, writeDetail } from "../shared/reasoning.ts";
import { refusalOf, writeStop } from "../shared/stop.ts";
import { writeUsage } from "../shared/usage.ts";
import type { TokenLogprob } from "../../../logprobs.ts";
import { replyId, sealContent, writeChoiceLogprobs, writeImage } from "./write_reply.ts";

/** A part that has started and not ended. */
interface OpenPart {
  readonly opening: PartOpening;
  /** Place among the calls; -1 for other parts. */
  readonly call: number;
  /** True while the first chunk of a call waits for a proof that may follow at once: clients read it only there. */
  waiting: boolean;
  text: string;
  /** UTF-16 units of content that stand before this text. */
  readonly before: number;
  seal: Seal | null;
}

interface Writing {
  readonly context: ReplyContext;
  /** A chunk's text before and after its delta, the same on all chunks. */
  head: string;
  tail: string;
  readonly open: Map<number, OpenPart>;
  calls: number;
  thoughts: number;
  shownThoughts: number;
  contentLength: number;
  refused: boolean;
}

/**
 * Writes chunks as the official client wants them: one id on all, calls numbered from 0 without gaps, id and name in
 * a call's first chunk alone, a finish reason before the end. Parts may interleave, as this form's calls may.
 */
export function eventWriter(context: ReplyContext): EventWriter {
  const writing: Writing = {
    context,
    head: "",
    tail: "",
    open: new Map(),
    calls: 0,
    thoughts: 0,
    shownThoughts: 0,
    contentLength: 0,
    refused: false,
  };
  setHead(writing, { id: replyId("", context), createdAt: context.createdAt });
  return { write: (event) => writeEvent(writing, event), fail };
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
    case "part-seal":
      return sealPart(writing, event.index, event.seal);
    case "part-end":
      return endPart(writing, event);
    case "image":
      return [chunk(writing, { images: [writeImage(event.image)] })];
    case "web_search":
      return []; // this form tells what a text rests on alone
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
  // With usage asked for, every chunk but the last one says that it has none.
  writing.tail = includeUsage ? `],"usage":null}` : "]}";
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
  const calling = opening.kind === "tool_call";
  writing.open.set(index, {
    opening,
    call: calling ? writing.calls++ : -1,
    waiting: calling,
    text: "",
    before: writing.contentLength,
    seal: null,
  });
  if (opening.kind === "refusal") writing.refused = true;
  return [];
}

function writeDelta(writing: Writing, index: number, text: string, logprobs?: readonly TokenLogprob[]): Frame[] {
  const part = writing.open.get(index);
  if (!part) return [];
  switch (part.opening.kind) {
    case "text":
      writing.contentLength += text.length;
      part.text += text;
      return [chunk(writing, { content: text }, null, logprobs)];
    case "refusal":
      return [chunk(writing, { refusal: text })];
    case "reasoning":
      return writeThought(writing, part, text);
    case "tool_call": {
      const first = startCall(writing, part);
      part.text = "said";
      return [...first, chunk(writing, { tool_calls: [callPiece(part, text)] })];
    }
  }
}

function writeThought(writing: Writing, part: OpenPart, text: string): Frame[] {
  const first = part.text === "";
  part.text += text;
  if (part.opening.kind === "reasoning" && part.opening.redacted) return [];
  const again = first && writing.shownThoughts++ > 0;
  return [chunk(writing, { reasoning_content: again ? THOUGHT_BREAK + text : text })];
}

function callPiece(part: OpenPart, text: string): JsonObject {
  const custom = part.opening.kind === "tool_call" && part.opening.custom;
  return { index: part.call, ...(custom ? { custom: { input: text } } : { function: { arguments: text } }) };
}

function startCall(writing: Writing, part: OpenPart): Frame[] {
  const { opening } = part;
  if (!part.waiting || opening.kind !== "tool_call") return [];
  part.waiting = false;
  const { callId, tool, custom } = opening;
  const called = custom ? { type: "custom", custom: { name: tool, input: "" } } : {
    type: "function",
    function: { name: tool, arguments: "" },
  };
  const sealed = part.seal ? { extra_content: sealContent(part.seal) } : {};
  return [chunk(writing, { tool_calls: [{ index: part.call, id: callId, ...called, ...sealed }] })];
}

function sealPart(writing: Writing, index: number, seal: Seal): Frame[] {
  const part = writing.open.get(index);
  if (!part) return [];
  part.seal = seal;
  if (part.opening.kind === "text") return [chunk(writing, { extra_content: sealContent(seal) })];
  if (part.opening.kind !== "tool_call") return [];
  const started = !part.waiting;
  const sealed = { index: part.call, extra_content: sealContent(seal) };
  return started ? [chunk(writing, { tool_calls: [sealed] })] : startCall(writing, part);
}

function endPart(writing: Writing, event: Extract<ReplyEvent, { type: "part-end" }>): Frame[] {
  const part = writing.open.get(event.index);
  if (!part) return [];
  writing.open.delete(event.index);
  switch (part.opening.kind) {
    case "tool_call": {
      const first = startCall(writing, part);
      // A call without arguments still has to be JSON for who parses it.
      const empty = part.text === "" && !part.opening.custom;
      return empty ? [...first, chunk(writing, { tool_calls: [callPiece(part, "{}")] })] : first;
    }
    case "reasoning":
      return endThought(writing, part, part.opening);
    case "text": {
      if (!event.citations?.length) return [];
      return [chunk(writing, { annotations: writeAnnotations(event.citations, part.before, part.text.length) })];
    }
    default:
      return [];
  }
}

/** A proof comes when its thought has ended, and carries the thought, as clients replay the detail alone. */
function endThought(writing: Writing, part: OpenPart, opening: Extract<PartOpening, { kind: "reasoning" }>): Frame[] {
  const index = writing.thoughts++;
  if (!part.seal) return [];
  const sealed = { ...opening, text: part.text, seal: part.seal };
  return [chunk(writing, { reasoning_details: [writeDetail(sealed, index)] })];
}

function finish(writing: Writing, { stop, usage }: Extract<ReplyEvent, { type: "finish" }>): Frame[] {
  const frames: Frame[] = [];
  const explanation = refusalOf(stop, writing.refused);
  if (explanation !== "") {
    writing.refused = true;
    frames.push(chunk(writing, { refusal: explanation }));
  }
  frames.push(chunk(writing, {}, writeStop(stop, writing.calls > 0, writing.refused)));
  if (writing.context.includeUsage && usage) {
    frames.push(frame(`${writing.head}],"usage":${JSON.stringify(writeUsage(usage))}}`));
  }
  frames.push(frame("[DONE]"));
  return frames;
}
