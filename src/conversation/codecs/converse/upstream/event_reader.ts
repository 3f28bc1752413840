import type { Frame } from "../../../../platform/lib/streams/frame.ts";
import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import type { Citation } from "../../../neutral/conversation.ts";
import type { PartOpening, ReplyEvent } from "../../../neutral/events.ts";
import type { Stop } from "../../../neutral/reply.ts";
import type { EventReader } from "../../../contract/upstream_format.ts";
import type { Usage } from "../../../neutral/usage.ts";
import { isObject, objectOf, textOf, textOrNull } from "../../../neutral/wire_value.ts";
import { readError, statusOf } from "./error.ts";
import { isOwnCall, readCitation } from "./read_reply.ts";
import { signatureOf } from "./signatures.ts";
import { readStop } from "./stop.ts";
import { readUsage } from "./usage.ts";

/** A block that is being streamed, as a part of the reply. */
interface OpenBlock {
  readonly index: number;
  readonly opening: PartOpening;
  readonly citations: JsonObject[];
  /** UTF-16 units of its text so far. */
  length: number;
}

interface ReadingState {
  isStarted: boolean;
  isDone: boolean;
  nextIndex: number;
  /** By the vendor's index; null for a block that is skipped. Several parts can come from one block. */
  readonly blocks: Map<unknown, OpenBlock | null>;
  stop: Stop | null;
  usage: Usage | null;
  hasMetadata: boolean;
}

/**
 * Reads a stream. Only the blocks of calls are announced by a start. The usage follows the stop. Source: Amazon Bedrock
 * API reference, "ConverseStream".
 */
export function eventReader(): EventReader {
  const state: ReadingState = {
    isStarted: false,
    isDone: false,
    nextIndex: 0,
    blocks: new Map(),
    stop: null,
    usage: null,
    hasMetadata: false,
  };
  return {
    read: (frame) => state.isDone ? [] : readFrame(state, frame),
    end: () => state.isDone ? [] : state.stop === null ? closeAll(state) : finish(state, state.stop),
  };
}

function readFrame(state: ReadingState, { event, data }: Frame): ReplyEvent[] {
  const body: unknown = JSON.parse(data);
  if (!isObject(body) || event === null) return [];
  const name: string = event;
  if (name.endsWith("Exception") || name === "exception") return readFailure(state, name, body);
  switch (name) {
    case "messageStart":
      return started(state);
    case "contentBlockStart":
      return [...started(state), ...readStart(state, body)];
    case "contentBlockDelta":
      return [...started(state), ...readDelta(state, body)];
    case "contentBlockStop":
      return close(state, body.contentBlockIndex);
    case "messageStop":
      state.stop = readStop(body.stopReason);
      return state.hasMetadata ? finish(state, state.stop) : [];
    case "metadata":
      state.hasMetadata = true;
      state.usage = readUsage(body);
      return state.stop === null ? [] : finish(state, state.stop);
    default:
      return [];
  }
}

function started(state: ReadingState): ReplyEvent[] {
  if (state.isStarted) return [];
  state.isStarted = true;
  return [{ type: "start", id: "", model: "", createdAt: null, usage: null }];
}

function readStart(state: ReadingState, { contentBlockIndex, start }: JsonObject): ReplyEvent[] {
  const before = close(state, contentBlockIndex); // a reused index ends the previous block
  const call = objectOf(objectOf(start)?.toolUse);
  if (call === null || !isOwnCall(call)) {
    if (isObject(start) && Object.keys(start).length > 0) state.blocks.set(contentBlockIndex, null);
    return before;
  }
  const callId = textOrNull(call.toolUseId) ?? `call_${state.nextIndex}`;
  const opening: PartOpening = { kind: "tool_call", callId, tool: textOf(call.name) };
  return [...before, ...open(state, contentBlockIndex, opening)];
}

function open(state: ReadingState, vendorIndex: unknown, opening: PartOpening): ReplyEvent[] {
  const index = state.nextIndex++;
  state.blocks.set(vendorIndex, { index, opening, citations: [], length: 0 });
  return [{ type: "part-start", index, part: opening }];
}

function readDelta(state: ReadingState, { contentBlockIndex: at, delta }: JsonObject): ReplyEvent[] {
  if (!isObject(delta) || state.blocks.get(at) === null) return [];
  if (typeof delta.text === "string") return textEvents(state, at, { kind: "text" }, delta.text);
  if (isObject(delta.reasoningContent)) return reasoningEvents(state, at, delta.reasoningContent);
  if (isObject(delta.toolUse)) {
    const block = state.blocks.get(at);
    return block?.opening.kind === "tool_call" ? textOfPart(block, textOf(delta.toolUse.input)) : [];
  }
  if (isObject(delta.citation)) state.blocks.get(at)?.citations.push(delta.citation);
  return [];
}

function reasoningEvents(state: ReadingState, at: unknown, reasoning: JsonObject): ReplyEvent[] {
  const redacted = textOrNull(reasoning.redactedContent);
  if (redacted !== null) return signatureEvents(state, at, { kind: "reasoning", redacted: true }, redacted);
  const signature = textOrNull(reasoning.signature);
  if (signature !== null) return signatureEvents(state, at, { kind: "reasoning" }, signature);
  return textEvents(state, at, { kind: "reasoning" }, textOf(reasoning.text));
}

/** The events of more text. A part of another kind in the same block ends before. */
function textEvents(state: ReadingState, at: unknown, opening: PartOpening, text: string): ReplyEvent[] {
  if (text === "") return [];
  const before = opened(state, at, opening);
  const block = state.blocks.get(at);
  return block ? [...before, ...textOfPart(block, text)] : before;
}

function signatureEvents(state: ReadingState, at: unknown, opening: PartOpening, value: string): ReplyEvent[] {
  const before = opened(state, at, opening);
  const block = state.blocks.get(at);
  if (!block) return before;
  return [...before, { type: "part-signature", index: block.index, signature: signatureOf(value) }];
}

/** Opens a part of this kind, unless one is open. */
function opened(state: ReadingState, at: unknown, opening: PartOpening): ReplyEvent[] {
  const isOpen = state.blocks.get(at)?.opening.kind === opening.kind;
  return isOpen ? [] : [...close(state, at), ...open(state, at, opening)];
}

function textOfPart(block: OpenBlock, text: string): ReplyEvent[] {
  if (text === "") return [];
  block.length += text.length;
  return [{ type: "part-delta", index: block.index, text }];
}

function close(state: ReadingState, at: unknown): ReplyEvent[] {
  const block = state.blocks.get(at);
  state.blocks.delete(at);
  if (!block) return [];
  const citations = citationsOf(block);
  return [{ type: "part-end", index: block.index, ...(citations.length > 0 && { citations }) }];
}

function citationsOf({ opening, citations, length }: OpenBlock): Citation[] {
  if (opening.kind !== "text") return [];
  return citations.map((citation) => readCitation(citation, length)).filter((citation) => citation !== null);
}

function closeAll(state: ReadingState): ReplyEvent[] {
  return [...state.blocks.keys()].flatMap((at) => close(state, at));
}

function finish(state: ReadingState, stop: Stop): ReplyEvent[] {
  state.isDone = true;
  return [...started(state), ...closeAll(state), { type: "finish", stop, usage: state.usage }];
}

function readFailure(state: ReadingState, exception: string, body: JsonObject): ReplyEvent[] {
  const { message } = readError(body);
  const before = [...started(state), ...closeAll(state)];
  state.isDone = true;
  return [...before, { type: "error", message, vendorCode: exception, status: statusOf(exception) }];
}
