import { appendAll } from "../../../../platform/lib/collections/append_all.ts";
import type { EventReader } from "../../../contract/upstream_format.ts";
import type { Frame } from "../../../../platform/lib/streams/frame.ts";
import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import type { PartOpening, ReplyEvent } from "../../../neutral/events.ts";
import {
  closeAll,
  completePart,
  continuePart,
  endPart,
  ensurePart,
  itemAt,
  newReading,
  positionsOf,
  type Reading,
  type ReadItem,
} from "./open_parts.ts";
import { readTokenLogprobs } from "../../../neutral/logprobs.ts";
import { citationsOf } from "../shared/parts.ts";
import { readSearchItem } from "../shared/search_items.ts";
import { imageOf } from "../shared/read_items.ts";
import { callNames, readStop } from "./read_reply.ts";
import { noteHosted, readUsage, withHosted } from "../shared/usage.ts";
import { isObject, numberOrNull, objectsOf, textOf, textOrNull } from "../../../neutral/wire_value.ts";
import { CANCELLED, failureIn } from "./reported_failure.ts";
import { REASONING_SEPARATOR, reasoningTextOf } from "../shared/wire.ts";

type Read = (event: JsonObject, reading: Reading) => ReplyEvent[];

/** The reader of each kind of event; other kinds are ignored. */
const READERS: ReadonlyMap<unknown, Read> = new Map<unknown, Read>([
  ["response.created", () => []],
  ["response.in_progress", () => []],
  ["response.queued", () => []],
  ["response.output_item.added", openOutputItem],
  ["response.content_part.added", openContent],
  ["response.content_part.done", closeContent],
  ["response.output_text.annotation.added", addCitation],
  ["response.output_text.delta", (event, reading) => textDelta(event, "text", reading)],
  ["response.output_text.done", (event, reading) => textDone(event, "text", textOf(event.text), reading)],
  ["response.refusal.delta", (event, reading) => textDelta(event, "refusal", reading)],
  ["response.refusal.done", (event, reading) => textDone(event, "refusal", textOf(event.refusal), reading)],
  ["response.reasoning_summary_text.delta", (event, reading) => reasoningDelta(event, "summary", reading)],
  ["response.reasoning_text.delta", (event, reading) => reasoningDelta(event, "content", reading)],
  ["response.function_call_arguments.delta", inputDelta],
  ["response.custom_tool_call_input.delta", inputDelta],
  ["response.output_item.done", (event, reading) => {
    noteHosted(reading.hosted, event.item);
    return closeOutputItem(event, reading);
  }],
  ["response.completed", finish],
  ["response.incomplete", finish],
  ["response.failed", (event) => [failureIn(isObject(event.response) ? event.response : event)]],
  ["response.cancelled", () => [CANCELLED]],
  ["error", (event) => [failureIn(event)]],
]);

/** Reads a response stream. Source: Responses API reference, "Streaming events". */
export function eventReader(): EventReader {
  const reading = newReading();
  return {
    read: (frame) => reading.ended ? [] : readFrame(frame, reading),
    // The format has an end marker: a stream without it was cut off.
    end: () => reading.ended ? [] : closeAll(reading),
  };
}

function readFrame(frame: Frame, reading: Reading): ReplyEvent[] {
  if (frame.data === "" || frame.data === "[DONE]") return [];
  const event: unknown = JSON.parse(frame.data);
  if (!isObject(event)) return [];
  const type = event.type ?? (isObject(event.error) ? "error" : frame.event);
  const read = READERS.get(type);
  if (!read) return [];
  const events = read(event, reading);
  const failed = events.some((one) => one.type === "error");
  if (failed) reading.ended = true;
  return reading.started || failed ? events : [...start(event, reading), ...events];
}

/** The `start` event, from whatever event comes first: some vendors do not send `response.created`. */
function start(event: JsonObject, reading: Reading): ReplyEvent[] {
  reading.started = true;
  const response = isObject(event.response) ? event.response : {};
  return [{
    type: "start",
    id: textOf(response.id),
    model: textOf(response.model),
    createdAt: numberOrNull(response.created_at),
    usage: null,
  }];
}

function openOutputItem(event: JsonObject, reading: Reading): ReplyEvent[] {
  const item = itemAt(event, reading);
  const wire = isObject(event.item) ? event.item : {};
  const opening = callOpening(wire);
  // Without id and name it is opened by its last event, which has both.
  return opening?.callId && opening.tool ? ensurePart(item, 0, opening, reading).events : [];
}

function callOpening(wire: JsonObject): Extract<PartOpening, { kind: "tool_call" }> | null {
  if (wire.type === "function_call") return { kind: "tool_call", ...callNames(wire) };
  if (wire.type === "custom_tool_call") return { kind: "tool_call", ...callNames(wire), custom: true };
  return null;
}

function openContent(event: JsonObject, reading: Reading): ReplyEvent[] {
  const kind = isObject(event.part) ? event.part.type : null;
  const opening = kind === "output_text" ? "text" : kind === "refusal" ? "refusal" : null;
  if (opening === null) return [];
  return ensurePart(itemAt(event, reading), numberOrNull(event.content_index) ?? 0, { kind: opening }, reading).events;
}

function textDelta(event: JsonObject, kind: "text" | "refusal", reading: Reading): ReplyEvent[] {
  const at = numberOrNull(event.content_index) ?? 0;
  const { part, events } = ensurePart(itemAt(event, reading), at, { kind }, reading);
  return [...events, ...continuePart(part, textOf(event.delta), readTokenLogprobs(event.logprobs))];
}

/** The part stays open, because its citations may follow. */
function textDone(event: JsonObject, kind: "text" | "refusal", whole: string, reading: Reading): ReplyEvent[] {
  const at = numberOrNull(event.content_index) ?? 0;
  const { part, events } = ensurePart(itemAt(event, reading), at, { kind }, reading);
  return [...events, ...completePart(part, whole)];
}

function addCitation(event: JsonObject, reading: Reading): ReplyEvent[] {
  const part = itemAt(event, reading).parts.get(numberOrNull(event.content_index) ?? 0);
  if (part) appendAll(part.citations, citationsOf([event.annotation]));
  return [];
}

function closeContent(event: JsonObject, reading: Reading): ReplyEvent[] {
  const content = isObject(event.part) ? event.part : {};
  return closePart(itemAt(event, reading), numberOrNull(event.content_index) ?? 0, content, reading);
}

/** Ends a part of a message, given its whole content. */
function closePart(item: ReadItem, at: number, content: JsonObject, reading: Reading): ReplyEvent[] {
  const kind = content.type === "output_text" ? "text" : content.type === "refusal" ? "refusal" : null;
  if (kind === null) return [];
  const { part, events } = ensurePart(item, at, { kind }, reading);
  if (part.citations.length === 0) appendAll(part.citations, citationsOf(content.annotations));
  return [...events, ...completePart(part, textIn(content)), ...endPart(part)];
}

/** The whole text of a part of a message. */
function textIn(content: JsonObject): string {
  return textOf(content.type === "refusal" ? content.refusal : content.text);
}

function reasoningDelta(event: JsonObject, source: "summary" | "content", reading: Reading): ReplyEvent[] {
  const item = itemAt(event, reading);
  const at = numberOrNull(source === "summary" ? event.summary_index : event.content_index) ?? 0;
  item.reasoning ??= { source, index: at };
  if (item.reasoning.source !== source) return [];
  const { part, events } = ensurePart(item, 0, reasoningOpening(textOrNull(event.item_id)), reading);
  const isNext = item.reasoning.index !== at && part.text !== "";
  item.reasoning.index = at;
  return [...events, ...continuePart(part, (isNext ? REASONING_SEPARATOR : "") + textOf(event.delta))];
}

function reasoningOpening(id: string | null): PartOpening {
  return { kind: "reasoning", ...(id ? { id } : {}) };
}

function inputDelta(event: JsonObject, reading: Reading): ReplyEvent[] {
  const part = itemAt(event, reading).parts.get(0);
  return part ? continuePart(part, textOf(event.delta)) : [];
}

/** Reads the last event of an item. It has the whole item, so that anything missing from earlier events is added. */
function closeOutputItem(event: JsonObject, reading: Reading): ReplyEvent[] {
  const item = itemAt(event, reading);
  const wire = isObject(event.item) ? event.item : {};
  switch (wire.type) {
    case "message":
      return closeMessage(item, wire, reading);
    case "reasoning":
      return closeReasoning(item, wire, reading);
    case "function_call":
    case "custom_tool_call":
      return closeCall(item, wire, reading);
    case "web_search_call": {
      const search = readSearchItem(wire);
      return search ? [{ type: "web_search", index: reading.nextIndex++, search }] : [];
    }
    case "image_generation_call": {
      const image = imageOf(wire);
      return image ? [{ type: "image", index: reading.nextIndex++, image }] : [];
    }
    default:
      return [...item.parts.values()].flatMap(endPart);
  }
}

function closeMessage(item: ReadItem, wire: JsonObject, reading: Reading): ReplyEvent[] {
  const contents = objectsOf(wire.content);
  const positions = positionsOf(contents.map(textIn), item);
  const events = contents.flatMap((content, index) => closePart(item, positions[index]!, content, reading));
  return [...events, ...[...item.parts.values()].flatMap(endPart)];
}

function closeReasoning(item: ReadItem, wire: JsonObject, reading: Reading): ReplyEvent[] {
  const value = textOrNull(wire.encrypted_content);
  const whole = item.reasoning?.source === "summary"
    ? reasoningTextOf({ summary: wire.summary })
    : reasoningTextOf(wire);
  if (!item.parts.has(0) && whole === "" && value === null) return [];
  const { part, events } = ensurePart(item, 0, reasoningOpening(textOrNull(wire.id)), reading);
  const signature: ReplyEvent[] = value === null || part.ended
    ? []
    : [{ type: "part-signature", index: part.index, signature: { format: "responses", issuer: null, value } }];
  return [...events, ...completePart(part, whole), ...signature, ...endPart(part)];
}

function closeCall(item: ReadItem, wire: JsonObject, reading: Reading): ReplyEvent[] {
  const { part, events } = ensurePart(item, 0, callOpening(wire)!, reading);
  const whole = textOf(wire.type === "custom_tool_call" ? wire.input : wire.arguments);
  return [...events, ...completePart(part, whole), ...endPart(part)];
}

function finish(event: JsonObject, reading: Reading): ReplyEvent[] {
  const response = isObject(event.response) ? event.response : {};
  const unseen = reading.items.size > 0
    ? []
    : objectsOf(response.output).flatMap((item, index) => closeOutputItem({ output_index: index, item }, reading));
  const events = [...unseen, ...closeAll(reading)];
  const status = event.type === "response.incomplete" ? "incomplete" : response.status;
  const stop = readStop({ ...response, status }, reading.hasCall, reading.hasRefusal);
  reading.ended = true;
  return [...events, { type: "finish", stop, usage: withHosted(readUsage(response), reading.hosted, response) }];
}
