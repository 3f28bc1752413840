import { appendAll } from "../../../../platform/lib/collections/append_all.ts";
import type { GatewayError } from "../../../../platform/lib/basics/gateway_error.ts";
import type { EventWriter, ReplyContext } from "../../../contract/caller_format.ts";
import type { Frame } from "../../../../platform/lib/streams/frame.ts";
import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import { CUSTOM_INPUT, RAW_INPUT } from "../../../parts/request/call_input.ts";
import type { Citation } from "../../../neutral/conversation.ts";
import type { PartOpening, ReplyEvent } from "../../../neutral/events.ts";
import { withSearchesFirst } from "../../../parts/reply/search_order.ts";
import type { ReasoningSignature } from "../../../neutral/reasoning_signature.ts";
import { failureOf } from "../../../parts/reply/stream_failure.ts";
import type { Usage } from "../../../neutral/usage.ts";
import type { WebSearchPart } from "../../../neutral/web_search.ts";
import { writeError } from "./error.ts";
import {
  callSignatureBlock,
  messageIdFor,
  reasoningBlocks,
  returnsTextSignatures,
  signatureOf,
  textSignatureBlock,
} from "./write_reply.ts";
import { searchBlocks, writeCitations } from "../shared/search_blocks.ts";
import { writeStop } from "../shared/stop.ts";
import { writeUsage } from "../shared/usage.ts";

/** A part that has started and is not written completely. */
interface HeldPart {
  readonly index: number;
  readonly opening: PartOpening | WebSearchPart;
  /** Text not written yet, because earlier parts or the block's start must be written first. */
  bufferedText: string;
  signature: ReasoningSignature | null;
  citations: readonly Citation[];
  /** True after the block's start was written. */
  isBegun: boolean;
  /** The name under which the arguments of a call are wrapped, because they are no object; null for an object. */
  wrapper: string | null;
  /** True after the first of its arguments were written. */
  hasInput: boolean;
  isEnded: boolean;
  /** The part that was opened after it. */
  next: HeldPart | null;
}

/**
 * The state of one stream. Blocks of this format never overlap: of the open parts only the first is written at once,
 * and the others are buffered until it ends.
 */
interface WritingState {
  readonly context: ReplyContext;
  /** The parts that are not completely written, by index: a vendor may open tens of thousands before it ends one. */
  readonly held: Map<number, HeldPart>;
  /** Of them the one being written, which was opened first. */
  first: HeldPart | null;
  last: HeldPart | null;
  /** Blocks with only a signature. They are written before the next block, because a reply must not end with one. */
  readonly signatures: JsonObject[];
  nextBlock: number;
  hasToolCall: boolean;
  hasRefusal: boolean;
  usage: Usage | null;
}

/** Writes a caller's stream of this form. Source: Messages API reference, "Streaming messages", "Web search tool". */
export function eventWriter(context: ReplyContext): EventWriter {
  const state: WritingState = {
    context,
    held: new Map(),
    first: null,
    last: null,
    signatures: [],
    nextBlock: 0,
    hasToolCall: false,
    hasRefusal: false,
    usage: null,
  };
  const fail = (error: GatewayError) => [frame({ ...writeError(error, context.requestId) })];
  const write = (event: ReplyEvent) => event.type === "error" ? fail(failureOf(event)) : writeEvent(state, event);
  const writeText = (index: number, text: string) => writeTextOf(state, index, text);
  return withSearchesFirst({ write, writeText, fail }, context);
}

/** The frame of more text of the block that is being written; null for any other part. */
function writeTextOf(state: WritingState, index: number, text: string): string | null {
  const part = state.first;
  if (part?.index !== index || part.opening.kind !== "text" || !part.isBegun || part.bufferedText !== "") return null;
  const head = 'event: content_block_delta\ndata: {"type":"content_block_delta","index":';
  return `${head}${state.nextBlock},"delta":{"type":"text_delta","text":${JSON.stringify(text)}}}\n\n`;
}

function writeEvent(state: WritingState, event: Exclude<ReplyEvent, { type: "error" }>): Frame[] {
  switch (event.type) {
    case "start":
      return writeStart(state, event);
    case "part-start":
      return hold(state, heldPart(event.index, event.part));
    case "part-delta":
      return update(state, event.index, (part) => part.bufferedText += event.text);
    case "part-signature":
      return update(state, event.index, (part) => part.signature = event.signature);
    case "part-end":
      return update(state, event.index, (part) => {
        part.isEnded = true;
        part.citations = event.citations ?? [];
      });
    case "image":
      return []; // replies of this format contain no images
    case "web_search":
      return writeSearch(state, event.index, event.search);
    case "finish":
      return writeFinish(state, event);
  }
}

function heldPart(index: number, opening: HeldPart["opening"]): HeldPart {
  return {
    index,
    opening,
    bufferedText: "",
    signature: null,
    citations: [],
    isBegun: false,
    wrapper: null,
    hasInput: false,
    isEnded: false,
    next: null,
  };
}

function hold(state: WritingState, part: HeldPart): Frame[] {
  state.held.set(part.index, part);
  if (state.last !== null) state.last.next = part;
  state.last = part;
  state.first ??= part;
  return part === state.first ? advance(state) : [];
}

function writeSearch(state: WritingState, index: number, search: WebSearchPart): Frame[] {
  return hold(state, { ...heldPart(index, search), isEnded: true });
}

function writeStart(state: WritingState, event: ReplyEvent & { type: "start" }): Frame[] {
  state.usage = event.usage;
  const message = {
    id: messageIdFor(event.id, state.context),
    type: "message",
    role: "assistant",
    model: state.context.model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: writeUsage(event.usage),
  };
  return [frame({ type: "message_start", message })];
}

function update(state: WritingState, index: number, change: (part: HeldPart) => void): Frame[] {
  const part = state.held.get(index);
  if (part === undefined) return [];
  change(part);
  return part === state.first ? advance(state) : [];
}

/** Writes what can be written: all buffered text of the first part and, if it has ended, the parts after it. */
function advance(state: WritingState): Frame[] {
  const frames: Frame[] = [];
  for (let part = state.first; part !== null; part = state.first) {
    appendAll(frames, writeBuffered(state, part));
    if (!part.isEnded) break;
    appendAll(frames, closePart(state, part));
    state.held.delete(part.index);
    state.first = part.next;
    if (state.first === null) state.last = null;
  }
  return frames;
}

function writeBuffered(state: WritingState, part: HeldPart): Frame[] {
  const { opening, bufferedText: text } = part;
  // A call begins with its name, unless its signature, which is the next event, must be before it.
  const isAwaited = opening.kind === "tool_call" && opening.isSigned === true && part.signature === null;
  const begin = opening.kind === "tool_call" && !isAwaited ? beginPart(state, part) : [];
  if (text === "" || isRedacted(part)) return begin;
  part.bufferedText = "";
  const before = [...begin, ...beginPart(state, part)];
  if (opening.kind === "tool_call") appendAll(before, beginInput(state, part, wrapperOf(opening, text)));
  return [...before, blockDelta(state, deltaOf(part, text))];
}

/** The start of the arguments of a call that are wrapped. */
function beginInput(state: WritingState, part: HeldPart, wrapper: string | null): Frame[] {
  if (part.hasInput) return [];
  part.hasInput = true;
  part.wrapper = wrapper;
  if (wrapper === null) return [];
  return [blockDelta(state, { type: "input_json_delta", partial_json: `{"${wrapper}":"` })];
}

function isRedacted({ opening }: HeldPart): boolean {
  return opening.kind === "reasoning" && opening.redacted === true;
}

/** The name that wraps the arguments of a call: clients read them as an object. @param text Their beginning. */
function wrapperOf({ custom }: { readonly custom?: boolean }, text: string): string | null {
  if (custom) return CUSTOM_INPUT;
  return text.trimStart().startsWith("{") ? null : RAW_INPUT;
}

function deltaOf({ opening, wrapper }: HeldPart, text: string): JsonObject {
  switch (opening.kind) {
    case "text":
    case "refusal":
      return { type: "text_delta", text };
    case "reasoning":
      return { type: "thinking_delta", thinking: text };
    case "tool_call":
      return { type: "input_json_delta", partial_json: wrapper === null ? text : JSON.stringify(text).slice(1, -1) };
    case "web_search":
      return {}; // a search has no deltas
  }
}

/** The start of a part's block. A call's signature precedes it, in a thinking block without text. */
function beginPart(state: WritingState, part: HeldPart): Frame[] {
  if (part.isBegun) return [];
  part.isBegun = true;
  const { opening } = part;
  switch (opening.kind) {
    case "text":
    case "refusal":
      if (opening.kind === "refusal") state.hasRefusal = true;
      return [...bufferedSignatures(state), beginBlock(state, { type: "text", text: "" })];
    case "reasoning":
      return [...bufferedSignatures(state), beginBlock(state, { type: "thinking", thinking: "", signature: "" })];
    case "tool_call": {
      state.hasToolCall = true;
      const { signature } = part;
      part.signature = null;
      if (signature) state.signatures.push(callSignatureBlock(signature, opening.callId, true));
      const signatures = bufferedSignatures(state);
      return [
        ...signatures,
        beginBlock(state, { type: "tool_use", id: opening.callId, name: opening.tool, input: {} }),
      ];
    }
    case "web_search":
      return [];
  }
}

function beginBlock(state: WritingState, block: JsonObject): Frame {
  return frame({ type: "content_block_start", index: state.nextBlock, content_block: block });
}

/** The frames of the buffered signature blocks, to be followed by a block with content. */
function bufferedSignatures(state: WritingState): Frame[] {
  return state.signatures.splice(0).flatMap((block) => {
    if (block.type === "redacted_thinking") return [beginBlock(state, block), endBlock(state)];
    return [
      beginBlock(state, { ...block, signature: "" }),
      blockDelta(state, { type: "signature_delta", signature: block.signature }),
      endBlock(state),
    ];
  });
}

function blockDelta(state: WritingState, delta: JsonObject): Frame {
  return frame({ type: "content_block_delta", index: state.nextBlock, delta });
}

function endBlock(state: WritingState): Frame {
  return frame({ type: "content_block_stop", index: state.nextBlock++ });
}

/** The end of a part's block. Empty parts have no block: vendors reject empty blocks when clients send them back. */
function closePart(state: WritingState, part: HeldPart): Frame[] {
  const { opening, signature } = part;
  switch (opening.kind) {
    case "tool_call":
      return closeCall(state, part, opening);
    case "reasoning":
      return closeThinking(state, part);
    case "text":
    case "refusal": {
      const cited = part.isBegun ? writeCitations(part.citations) : [];
      const deltas = cited.map((citation) => blockDelta(state, { type: "citations_delta", citation }));
      if (signature && returnsTextSignatures(state.context)) state.signatures.push(textSignatureBlock(signature));
      return part.isBegun ? [...deltas, endBlock(state)] : [];
    }
    case "web_search":
      return searchBlocks(opening).flatMap((block) => wholeSearchBlock(state, block));
  }
}

/** The input of a call is sent as a delta; results are sent with the start of their block. */
function wholeSearchBlock(state: WritingState, block: JsonObject): Frame[] {
  if (block.type !== "server_tool_use") return [beginBlock(state, block), endBlock(state)];
  const delta = { type: "input_json_delta", partial_json: JSON.stringify(block.input) };
  return [beginBlock(state, { ...block, input: {} }), blockDelta(state, delta), endBlock(state)];
}

function closeCall(state: WritingState, part: HeldPart, opening: PartOpening & { kind: "tool_call" }): Frame[] {
  const begin = [...beginPart(state, part), ...beginInput(state, part, opening.custom ? CUSTOM_INPUT : null)];
  const end = part.wrapper === null ? [] : [blockDelta(state, { type: "input_json_delta", partial_json: '"}' })];
  // A signature that arrived after the first arguments could not be placed before the call.
  if (part.signature) state.signatures.push(callSignatureBlock(part.signature, opening.callId, false));
  return [...begin, ...end, endBlock(state)];
}

function closeThinking(state: WritingState, part: HeldPart): Frame[] {
  if (!part.isBegun) {
    const signature = part.signature ? { signature: part.signature } : {};
    appendAll(state.signatures, reasoningBlocks({ text: "", ...signature, redacted: isRedacted(part) }));
    return [];
  }
  const signature = signatureOf(part.signature ?? undefined);
  return [blockDelta(state, { type: "signature_delta", signature }), endBlock(state)];
}

function writeFinish(state: WritingState, event: ReplyEvent & { type: "finish" }): Frame[] {
  for (const part of state.held.values()) part.isEnded = true;
  const frames = advance(state);
  const delta = writeStop(event.stop, state);
  const usage = writeUsage(event.usage ?? state.usage);
  return [...frames, frame({ type: "message_delta", delta, usage }), frame({ type: "message_stop" })];
}

/** A frame, with the type of its data as event name: the official clients ignore frames without one. */
function frame(data: JsonObject): Frame {
  return { event: String(data.type), data: JSON.stringify(data) };
}
