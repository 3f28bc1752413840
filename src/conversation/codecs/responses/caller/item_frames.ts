import { appendAll } from "../../../../platform/lib/collections/append_all.ts";
import type { Frame } from "../../../../platform/lib/streams/frame.ts";
import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import type { PartOpening } from "../../../neutral/events.ts";
import {
  callItem,
  type ItemPrefix,
  type ItemStatus,
  messageItem,
  outputText,
  reasoningItem,
  refusalPart,
} from "./output_items.ts";
import { type TokenLogprob, writeTokenLogprobs } from "../../../neutral/logprobs.ts";
import { callerNameOf } from "../shared/tools.ts";

/** Makes a frame with the given event type and the next sequence number, so call it in the order of the stream. */
export type Emit = (type: string, fields: JsonObject) => Frame;

/** An output item that is being streamed. */
export interface Item {
  readonly opening: PartOpening;
  readonly id: string;
  readonly outputIndex: number;
  /** All deltas so far. */
  text: string;
  /** `encrypted_content`; only of reasoning. */
  signature: string | null;
  /** Annotations of a text, set when it closes. */
  annotations: readonly JsonObject[];
  /** The tokens of a text so far, if requested. */
  readonly logprobs: TokenLogprob[];
}

/** The prefix of an item's id. */
export function prefixOf(opening: PartOpening): ItemPrefix {
  switch (opening.kind) {
    case "reasoning":
      return "rs";
    case "tool_call":
      return opening.custom ? "ctc" : "fc";
    default:
      return "msg";
  }
}

/** The item with its text so far. */
export function wireItem(item: Item, status: ItemStatus): JsonObject {
  const { opening, id, text } = item;
  switch (opening.kind) {
    case "reasoning":
      return reasoningItem(id, text, item.signature);
    case "tool_call":
      return callItem(id, { ...opening, input: text }, status);
    default:
      return messageItem(id, [contentPart(item)], status);
  }
}

function contentPart({ opening, text, annotations, logprobs }: Item): JsonObject {
  return opening.kind === "refusal" ? refusalPart(text) : outputText(text, annotations, logprobs);
}

function position({ id, outputIndex }: Item): JsonObject {
  return { item_id: id, output_index: outputIndex };
}

/** The events that open an item: the empty item and, for a message, its empty content part. */
export function openFrames(item: Item, emit: Emit): Frame[] {
  const { opening, id, outputIndex } = item;
  const added = (empty: JsonObject) => emit("response.output_item.added", { output_index: outputIndex, item: empty });
  if (opening.kind === "reasoning" || opening.kind === "tool_call") return [added(wireItem(item, "in_progress"))];
  const at = { ...position(item), content_index: 0 };
  return [
    added(messageItem(id, [], "in_progress")),
    emit("response.content_part.added", { ...at, part: contentPart(item) }),
  ];
}

/** The events of more text, with the tokens of a text if requested. */
export function deltaFrames(item: Item, delta: string, emit: Emit, logprobs: readonly TokenLogprob[] = []): Frame[] {
  appendAll(item.logprobs, logprobs);
  const isFirst = item.text === "";
  item.text += delta;
  const at = position(item);
  switch (item.opening.kind) {
    case "text":
      return [
        emit(TEXT_DELTA, { ...at, content_index: 0, delta, logprobs: writeTokenLogprobs(logprobs) }),
      ];
    case "refusal":
      return [emit("response.refusal.delta", { ...at, content_index: 0, delta })];
    case "tool_call":
      return [emit(`response.${inputEvent(item.opening)}.delta`, { ...at, delta })];
    case "reasoning": {
      const part = { type: "summary_text", text: "" };
      const opened = isFirst ? [emit("response.reasoning_summary_part.added", { ...at, summary_index: 0, part })] : [];
      return [...opened, emit("response.reasoning_summary_text.delta", { ...at, summary_index: 0, delta })];
    }
  }
}

/** The same as {@linkcode deltaFrames} for a text without tokens, as the frame is sent. */
export function textFrame(item: Item, delta: string, sequence: number): string {
  item.text += delta;
  const at = `"item_id":${JSON.stringify(item.id)},"output_index":${item.outputIndex},"content_index":0`;
  const fields = `${at},"delta":${JSON.stringify(delta)},"logprobs":[],"sequence_number":${sequence}`;
  return `event: ${TEXT_DELTA}\ndata: {"type":"${TEXT_DELTA}",${fields}}\n\n`;
}

const TEXT_DELTA = "response.output_text.delta";

function inputEvent(opening: Extract<PartOpening, { kind: "tool_call" }>): string {
  return opening.custom ? "custom_tool_call_input" : "function_call_arguments";
}

/** The events that close an item; the last has the whole item. */
export function closeFrames(item: Item, emit: Emit): Frame[] {
  const inner = closeContent(item, emit);
  const whole = wireItem(item, "completed");
  return [...inner, emit("response.output_item.done", { output_index: item.outputIndex, item: whole })];
}

function closeContent(item: Item, emit: Emit): Frame[] {
  const at = position(item);
  switch (item.opening.kind) {
    case "text":
      return [
        ...item.annotations.map((annotation, index) =>
          emit("response.output_text.annotation.added", {
            ...at,
            content_index: 0,
            annotation_index: index,
            annotation,
          })
        ),
        emit("response.output_text.done", {
          ...at,
          content_index: 0,
          text: item.text,
          logprobs: writeTokenLogprobs(item.logprobs),
        }),
        emit("response.content_part.done", { ...at, content_index: 0, part: contentPart(item) }),
      ];
    case "refusal":
      return [
        emit("response.refusal.done", { ...at, content_index: 0, refusal: item.text }),
        emit("response.content_part.done", { ...at, content_index: 0, part: contentPart(item) }),
      ];
    case "tool_call":
      return closeCall(item, item.opening, emit);
    case "reasoning": {
      if (item.text === "") return [];
      const part = { type: "summary_text", text: item.text };
      return [
        emit("response.reasoning_summary_text.done", { ...at, summary_index: 0, text: item.text }),
        emit("response.reasoning_summary_part.done", { ...at, summary_index: 0, part }),
      ];
    }
  }
}

function closeCall(item: Item, opening: Extract<PartOpening, { kind: "tool_call" }>, emit: Emit): Frame[] {
  // Clients that collect deltas expect valid JSON, also when the model gave no arguments.
  const delta = item.text === "" && !opening.custom ? deltaFrames(item, "{}", emit) : [];
  const done = opening.custom ? { input: item.text } : { name: callerNameOf(opening.tool).name, arguments: item.text };
  return [...delta, emit(`response.${inputEvent(opening)}.done`, { ...position(item), ...done })];
}

/**
 * The events of a web search item, in order. Source: Responses API reference, "Streaming events",
 * `response.web_search_call`.
 */
export function searchFrames(item: JsonObject, outputIndex: number, emit: Emit): Frame[] {
  const { id, type, action } = item;
  const at = { output_index: outputIndex };
  const step = (name: string) => emit(`response.web_search_call.${name}`, { ...at, item_id: id });
  return [
    emit("response.output_item.added", { ...at, item: { id, type, status: "in_progress", action } }),
    step("in_progress"),
    step("searching"),
    step("completed"),
    emit("response.output_item.done", { ...at, item }),
  ];
}
