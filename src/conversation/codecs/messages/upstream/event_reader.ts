import { appendAll } from "../../../../platform/lib/collections/append_all.ts";
import type { EventReader } from "../../../contract/upstream_format.ts";
import type { Frame } from "../../../../platform/lib/streams/frame.ts";
import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import type { Citation } from "../../../neutral/conversation.ts";
import type { PartOpening, ReplyEvent } from "../../../neutral/events.ts";
import type { Stop } from "../../../neutral/reply.ts";
import { inputOf } from "../../../parts/request/call_input.ts";
import { parseWithExactValues } from "../../../neutral/exact_values.ts";
import { RepeatedText } from "../../../parts/reply/repeated_text.ts";
import { isObject, textOrNull } from "../../../neutral/wire_value.ts";
import { readError, statusOf } from "./error.ts";
import type { WebSearchPart } from "../../../neutral/web_search.ts";
import { readCitations } from "../shared/search_blocks.ts";
import { addSearchInput, type OpenSearch, readSearchBlock, unfinishedSearches } from "./open_searches.ts";
import { readVendorSignature, signatureField } from "../shared/signatures.ts";
import { readStop } from "../shared/stop.ts";
import { laterUsage, usageOf } from "../shared/usage.ts";

/** A block that is being streamed. Its part index is set once it has content; an empty text gets none. */
interface OpenBlock {
  readonly opening: PartOpening;
  index: number | null;
  /** Arguments received with the block's start, used when no delta follows. */
  readonly wholeInput: string | null;
  hasDelta: boolean;
  readonly citations: Citation[];
  /** True for a block in `message_start`, which is complete unless deltas follow. */
  readonly isGiven: boolean;
  /** UTF-16 units of its text so far. */
  length: number;
}

interface ReadingState {
  isStarted: boolean;
  isDone: boolean;
  nextIndex: number;
  /** By the vendor's index; null for a block of a tool run by the vendor, which is skipped. */
  blocks: Map<unknown, OpenBlock | null>;
  /** Searches without results so far, in order. */
  readonly searches: OpenSearch[];
  usage: JsonObject;
  stop: Stop | null;
  /** The last frame, if it was a delta of text, and its block. */
  readonly repeated: RepeatedText;
  repeatedBlock: OpenBlock | null;
}

/** Reads a vendor's stream. Source: Messages API reference, "Streaming messages". */
export function eventReader(): EventReader {
  const state: ReadingState = {
    isStarted: false,
    isDone: false,
    nextIndex: 0,
    blocks: new Map(),
    searches: [],
    usage: {},
    stop: null,
    repeated: new RepeatedText(),
    repeatedBlock: null,
  };
  return {
    read: (frame) => state.isDone ? [] : readRepeated(state, frame) ?? readFrame(state, frame),
    // Without `message_stop` the stream was cut off, so no `finish` is given.
    end: () => state.isDone ? [] : closeAll(state),
  };
}

/** The delta of a frame that differs from the last one only in its text; null for any other frame. */
function readRepeated(state: ReadingState, frame: Frame): ReplyEvent[] | null {
  const text = state.repeated.textIn(frame);
  return text === null || state.repeatedBlock === null ? null : deltaOf(state, state.repeatedBlock, text);
}

function readFrame(state: ReadingState, sent: Frame): ReplyEvent[] {
  const { event, data } = sent;
  state.repeated.forget();
  if (data === "" || data === "[DONE]") return [];
  // Only a call that arrives whole has numbers whose digits matter.
  const frame: unknown = data.includes('"tool_use"') ? parseWithExactValues(data) : JSON.parse(data);
  if (!isObject(frame)) return [];
  switch (frame.type ?? event) {
    case "message_start":
      return readStart(state, frame);
    case "content_block_start":
      return [...ensureStarted(state), ...readBlockStart(state, frame)];
    case "content_block_delta":
      return [...ensureStarted(state), ...readBlockDelta(state, frame, sent)];
    case "content_block_stop":
      return readBlockStop(state, frame.index);
    case "message_delta":
      return readMessageDelta(state, frame);
    case "message_stop":
      return [...ensureStarted(state), ...readMessageStop(state)];
    case "error":
      return readFailure(state, frame);
    default:
      return [];
  }
}

/**
 * Reads `message_start`. A second one, which some vendors send, starts again: its usage replaces the first, and block
 * indexes are reused. Some vendors include the first blocks, or the whole message.
 */
function readStart(state: ReadingState, frame: JsonObject): ReplyEvent[] {
  const message = isObject(frame.message) ? frame.message : {};
  state.usage = laterUsage({}, message.usage);
  if (textOrNull(message.stop_reason) !== null) state.stop = readStop(message);
  const start = state.isStarted ? closeAll(state) : [startEvent(state, message)];
  const blocks = Array.isArray(message.content) ? message.content : [];
  return [...start, ...blocks.flatMap((block, index) => readBlockStart(state, { index, content_block: block }, true))];
}

function startEvent(state: ReadingState, message: JsonObject): ReplyEvent {
  state.isStarted = true;
  return {
    type: "start",
    id: textOrNull(message.id) ?? "",
    model: textOrNull(message.model) ?? "",
    createdAt: null,
    usage: usageOf(state.usage),
  };
}

/** Starts a stream whose vendor sent no `message_start`. */
function ensureStarted(state: ReadingState): ReplyEvent[] {
  return state.isStarted ? [] : readStart(state, {});
}

function readBlockStart(state: ReadingState, frame: JsonObject, isGiven = false): ReplyEvent[] {
  const block = isObject(frame.content_block) ? frame.content_block : {};
  // A reused index ends the previous block.
  const before = [...closeGiven(state), ...readBlockStop(state, frame.index)];
  const opening = openingOf(block, state.nextIndex);
  if (opening === null) {
    state.blocks.set(frame.index, null);
    return [...before, ...searchEvents(state, readSearchBlock(state.searches, block))];
  }
  const whole = opening.kind === "tool_call" && hasInput(block.input);
  const open: OpenBlock = {
    opening,
    index: null,
    wholeInput: whole ? inputOf(block.input) : null,
    hasDelta: false,
    length: 0,
    citations: readCitations(block.citations, null, readVendorSignature),
    isGiven,
  };
  state.blocks.set(frame.index, open);
  return [
    ...before,
    ...(opening.kind === "tool_call" ? startOf(state, open) : []),
    ...deltaOf(state, open, block.text ?? block.thinking),
    ...signatureEvents(state, open, block.signature ?? block.data),
  ];
}

/** Whether a call has its input in its start: the format has an empty object there, and deltas follow. */
function hasInput(input: unknown): boolean {
  return isObject(input) ? Object.keys(input).length > 0 : textOrNull(input) !== null;
}

function openingOf(block: JsonObject, index: number): PartOpening | null {
  switch (block.type) {
    case "text":
      return { kind: "text" };
    case "thinking":
      return { kind: "reasoning" };
    case "redacted_thinking":
      return { kind: "reasoning", redacted: true };
    case "tool_use":
      return {
        kind: "tool_call",
        callId: textOrNull(block.id) || `call_${index}`,
        tool: textOrNull(block.name) ?? "",
      };
    default:
      return null;
  }
}

function startOf(state: ReadingState, block: OpenBlock): ReplyEvent[] {
  if (block.index !== null) return [];
  block.index = state.nextIndex++;
  return [{ type: "part-start", index: block.index, part: block.opening }];
}

function deltaOf(state: ReadingState, block: OpenBlock, text: unknown): ReplyEvent[] {
  if (typeof text !== "string" || text === "") return [];
  const start = startOf(state, block);
  block.hasDelta = true;
  block.length += text.length;
  return [...start, { type: "part-delta", index: block.index!, text }];
}

function signatureEvents(state: ReadingState, block: OpenBlock, value: unknown): ReplyEvent[] {
  const { signature } = signatureField(value, readVendorSignature);
  if (!signature || block.opening.kind !== "reasoning") return [];
  const start = startOf(state, block);
  return [...start, { type: "part-signature", index: block.index!, signature }];
}

function readBlockDelta(state: ReadingState, frame: JsonObject, sent: Frame): ReplyEvent[] {
  const delta = isObject(frame.delta) ? frame.delta : {};
  if (state.blocks.get(frame.index) === null) addSearchInput(state.searches, delta);
  const block = state.blocks.get(frame.index) ?? unstartedText(state, frame.index, delta);
  if (!block) return [];
  switch (delta.type) {
    case "text_delta":
      learnText(state, block, sent, "text", delta.text);
      return deltaOf(state, block, delta.text);
    case "thinking_delta":
      learnText(state, block, sent, "thinking", delta.thinking);
      return deltaOf(state, block, delta.thinking);
    case "input_json_delta":
      return deltaOf(state, block, delta.partial_json);
    case "signature_delta":
      return signatureEvents(state, block, delta.signature);
    case "citations_delta":
      appendAll(block.citations, readCitations([delta.citation], null, readVendorSignature));
      return [];
    default:
      return [];
  }
}

/** Makes a delta the pattern of the next ones. */
function learnText(state: ReadingState, block: OpenBlock, sent: Frame, member: string, text: unknown): void {
  if (typeof text !== "string") return;
  state.repeated.learn(sent, member, text);
  state.repeatedBlock = block;
}

/** Text of a block that was never started is still read. */
function unstartedText(state: ReadingState, index: unknown, delta: JsonObject): OpenBlock | null {
  if (state.blocks.has(index) || delta.type !== "text_delta") return null;
  const block: OpenBlock = {
    opening: { kind: "text" },
    index: null,
    wholeInput: null,
    hasDelta: false,
    length: 0,
    citations: [],
    isGiven: false,
  };
  state.blocks.set(index, block);
  return block;
}

/** Ends the blocks of `message_start` when the next block starts. */
function closeGiven(state: ReadingState): ReplyEvent[] {
  return [...state.blocks].flatMap(([index, block]) => block?.isGiven ? readBlockStop(state, index) : []);
}

function readBlockStop(state: ReadingState, index: unknown): ReplyEvent[] {
  const block = state.blocks.get(index);
  state.blocks.delete(index);
  return block ? close(state, block) : [];
}

function close(state: ReadingState, block: OpenBlock): ReplyEvent[] {
  const rest = block.hasDelta ? [] : deltaOf(state, block, block.wholeInput);
  if (block.index === null) return [];
  const cited = block.opening.kind === "text" && block.citations.length > 0 ? { citations: wholeCitations(block) } : {};
  return [...rest, { type: "part-end", index: block.index, ...cited }];
}

/** Citations with the offsets of the whole block, whose length is known at its end. */
function wholeCitations({ citations, length }: OpenBlock): Citation[] {
  return citations.map((citation) => citation.end === null ? { ...citation, start: 0, end: length } : citation);
}

/** Ends all blocks. A search without results, as in a paused turn, is reported without them. */
function closeAll(state: ReadingState): ReplyEvent[] {
  const blocks = [...state.blocks.values()];
  state.blocks.clear();
  const ends = blocks.flatMap((block) => block ? close(state, block) : []);
  return [...ends, ...searchEvents(state, unfinishedSearches(state.searches))];
}

function searchEvents(state: ReadingState, searches: readonly WebSearchPart[]): ReplyEvent[] {
  return searches.map((search) => ({ type: "web_search", index: state.nextIndex++, search }));
}

function readMessageDelta(state: ReadingState, frame: JsonObject): ReplyEvent[] {
  state.usage = laterUsage(state.usage, frame.usage);
  if (isObject(frame.delta) && textOrNull(frame.delta.stop_reason) !== null) state.stop = readStop(frame.delta);
  return [];
}

function readMessageStop(state: ReadingState): ReplyEvent[] {
  state.isDone = true;
  const stop = state.stop ?? { reason: "end", raw: null };
  return [...closeAll(state), { type: "finish", stop, usage: usageOf(state.usage) }];
}

function readFailure(state: ReadingState, frame: JsonObject): ReplyEvent[] {
  const { message, code } = readError(frame);
  const start = ensureStarted(state);
  const ends = closeAll(state);
  state.isDone = true;
  return [...start, ...ends, { type: "error", message, vendorCode: code, status: statusOf(code) }];
}
