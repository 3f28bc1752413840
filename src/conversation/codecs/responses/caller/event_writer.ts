import { appendAll } from "../../../../platform/lib/collections/append_all.ts";
import type { EventWriter, ReplyContext } from "../../../contract/caller_format.ts";
import type { Frame } from "../../../../platform/lib/streams/frame.ts";
import type { Citation, ImagePart } from "../../../neutral/conversation.ts";
import type { PartOpening, ReplyEvent } from "../../../neutral/events.ts";
import { type Stop, stopFor } from "../../../neutral/reply.ts";
import { withSearchesFirst } from "../../../parts/reply/search_order.ts";
import type { ReasoningSignature } from "../../../neutral/reasoning_signature.ts";
import type { Usage } from "../../../neutral/usage.ts";
import type { WebSearchPart } from "../../../neutral/web_search.ts";
import type { GatewayError } from "../../../../platform/lib/basics/gateway_error.ts";
import { type SignatureOwner, writeCarriedSignature } from "../shared/carried_signature.ts";
import { defaultErrorFields } from "../../../parts/reply/default_error.ts";
import { failureOf } from "../../../parts/reply/stream_failure.ts";
import { responseErrorOf } from "../upstream/error.ts";
import {
  closeFrames,
  deltaFrames,
  type Item,
  openFrames,
  prefixOf,
  searchFrames,
  textFrame,
  wireItem,
} from "./item_frames.ts";
import { searchItem } from "../shared/search_items.ts";
import { annotationsOf } from "../shared/parts.ts";
import { callIdFor, imageItem, isWholeInput, itemIdOf, responseIdOf } from "./output_items.ts";
import { type Ending, endingOf, progressFields } from "./response_object.ts";
import { writeUsage } from "../shared/usage.ts";
import { refusalTextOf, withoutTrailingSignatures } from "./write_reply.ts";
import { newWriting, type OpenPart, type Writing } from "./writing.ts";

/**
 * Writes the events of a response stream. Every part is an item of its own, so that parts may overlap. An item opens
 * and closes with all events that the official client requires, and the last event repeats the items with their ids.
 * Source: Responses API reference, "Streaming events".
 */
export function eventWriter(context: ReplyContext): EventWriter {
  const writing = newWriting(context);
  const writer: EventWriter = {
    write: (event) => writing.ended ? [] : writeEvent(event, writing),
    writeText: (index, text) => writing.ended ? null : writeText(index, text, writing),
    fail: (error) => writing.ended ? [] : fail(error, writing),
    // OpenAI sends it too. Its clients fail on any event before `response.created`.
    keepalive: () => writing.isBegun && !writing.ended ? writing.emit("keepalive", {}) : null,
  };
  return withSearchesFirst(writer, context);
}

/** The frame of more text of an item that is open; null for any other part. */
function writeText(index: number, text: string, writing: Writing): string | null {
  const item = writing.parts.get(index)?.item ?? null;
  return item?.opening.kind === "text" ? textFrame(item, text, writing.sequence++) : null;
}

function writeEvent(event: ReplyEvent, writing: Writing): Frame[] {
  switch (event.type) {
    case "start":
      writing.isBegun = true;
      writing.id = responseIdOf(event.id, writing.context.requestId);
      writing.createdAt = event.createdAt ?? writing.createdAt;
      return [
        responseFrame("response.created", null, null, writing),
        responseFrame("response.in_progress", null, null, writing),
      ];
    case "part-start":
      return startPart(event.index, event.part, writing);
    case "part-delta": {
      const part = writing.parts.get(event.index);
      return part
        ? [...openItem(part, writing), ...deltaFrames(part.item!, event.text, writing.emit, event.logprobs)]
        : [];
    }
    case "part-signature":
      return signPart(event.index, event.signature, writing);
    case "part-end":
      return endPart(event.index, event.citations, writing);
    case "image":
      return writePicture(event.image, writing);
    case "web_search":
      return writeSearch(event.search, writing);
    case "finish":
      return finish(event.stop, event.usage, writing);
    case "error":
      return fail(failureOf(event), writing);
  }
}

/** A frame with the response object in its current state. */
function responseFrame(type: string, ending: Ending | null, usage: Usage | null, writing: Writing): Frame {
  const progress = {
    id: writing.id,
    createdAt: writing.createdAt,
    model: writing.context.model,
    output: ending === null ? [] : withoutTrailingSignatures(writing.output.filter((item) => item !== null)),
    usage: usage === null ? null : writeUsage(usage),
  };
  const response = `${JSON.stringify(progressFields(progress, ending)).slice(0, -1)},${writing.settings}}`;
  return { event: type, data: `{"type":"${type}","sequence_number":${writing.sequence++},"response":${response}}` };
}

function startPart(index: number, opening: PartOpening, writing: Writing): Frame[] {
  if (opening.kind === "refusal") writing.hasRefusal = true;
  if (opening.kind !== "tool_call") {
    const part: OpenPart = { opening, item: null, signature: null };
    writing.parts.set(index, part);
    // After other items, reasoning may turn out to hold only a signature.
    const mayBeSignature = opening.kind === "reasoning" && writing.output.length > 0;
    return mayBeSignature ? [] : openItem(part, writing);
  }
  writing.hasCall = true;
  const callId = callIdFor(opening.callId, writing.callIds, writing.context.requestId);
  const part: OpenPart = { opening: { ...opening, callId }, item: null, signature: null };
  writing.parts.set(index, part);
  // A signature is an item before its call.
  return opening.isSigned === true ? [] : openItem(part, writing);
}

function openItem(part: OpenPart, writing: Writing): Frame[] {
  if (part.item !== null) return [];
  const before = signatureItems(writing);
  const outputIndex = writing.output.push(null) - 1;
  const id = itemIdOf(prefixOf(part.opening), writing.context.requestId, outputIndex);
  part.item = { opening: part.opening, id, outputIndex, text: "", signature: null, annotations: [], logprobs: [] };
  if (part.opening.kind === "reasoning" && part.signature) setSignature(part, part.signature);
  return [...before, ...openFrames(part.item, writing.emit)];
}

function closeItem(item: Item, writing: Writing): Frame[] {
  const frames = closeFrames(item, writing.emit);
  writing.output[item.outputIndex] = wireItem(item, "completed");
  return frames;
}

function signPart(index: number, signature: ReasoningSignature, writing: Writing): Frame[] {
  const part = writing.parts.get(index);
  switch (part?.opening.kind) {
    case "reasoning":
      part.signature = signature;
      if (part.item) setSignature(part, signature);
      return [];
    case "tool_call":
      writing.pendingSignatures.push({ signature, owner: { kind: "call", callId: part.opening.callId } });
      return openItem(part, writing);
    case "text":
      part.signature = signature;
      return [];
    default:
      return [];
  }
}

function setSignature({ item, opening }: OpenPart, signature: ReasoningSignature): void {
  item!.signature = writeCarriedSignature({ signature, owner: reasoningOwner(opening) });
}

function reasoningOwner(opening: PartOpening): SignatureOwner {
  return { kind: "reasoning", redacted: opening.kind === "reasoning" && opening.redacted === true };
}

/** The items of pending signatures, to be followed by an item with content. */
function signatureItems(writing: Writing): Frame[] {
  return writing.pendingSignatures.splice(0).flatMap(({ signature, owner }) => {
    const carrier: OpenPart = { opening: { kind: "reasoning" }, item: null, signature: null };
    const opened = openItem(carrier, writing);
    carrier.item!.signature = writeCarriedSignature({ signature, owner });
    return [...opened, ...closeItem(carrier.item!, writing)];
  });
}

function endPart(index: number, citations: readonly Citation[] | undefined, writing: Writing): Frame[] {
  const part = writing.parts.get(index);
  if (!part) return [];
  writing.parts.delete(index);
  const { opening, signature } = part;
  if (opening.kind === "reasoning" && part.item === null) {
    if (signature) writing.pendingSignatures.push({ signature, owner: reasoningOwner(opening) });
    return [];
  }
  const opened = openItem(part, writing);
  const item = part.item!;
  item.annotations = annotationsOf(item.text, citations);
  if (opening.kind === "text" && signature) writing.pendingSignatures.push({ signature, owner: { kind: "text" } });
  if (opening.kind === "tool_call" && !opening.custom && item.text !== "" && !isWholeInput(item.text)) {
    writing.suspended.push(item);
    return opened;
  }
  return [...opened, ...closeItem(item, writing)];
}

function writePicture(image: ImagePart, writing: Writing): Frame[] {
  if (image.source.kind === "url") return []; // the item can only hold base64
  const before = signatureItems(writing);
  const outputIndex = writing.output.length;
  const item = imageItem(itemIdOf("ig", writing.context.requestId, outputIndex), image)!;
  writing.output.push(item);
  const { id, type } = item;
  const at = { output_index: outputIndex };
  return [
    ...before,
    writing.emit("response.output_item.added", { ...at, item: { id, type, status: "in_progress", result: null } }),
    writing.emit("response.image_generation_call.completed", { ...at, item_id: id }),
    writing.emit("response.output_item.done", { ...at, item }),
  ];
}

/** Writes a search, which is complete from the start. */
function writeSearch(search: WebSearchPart, writing: Writing): Frame[] {
  const outputIndex = writing.output.length;
  const item = searchItem(itemIdOf("ws", writing.context.requestId, outputIndex), search);
  writing.output.push(item);
  return searchFrames(item, outputIndex, writing.emit);
}

function finish(raw: Stop, usage: Usage | null, writing: Writing): Frame[] {
  const stop = stopFor(raw, writing.hasCall);
  const ending = endingOf(stop);
  const frames = [...writing.parts.keys()].flatMap((index) => endPart(index, undefined, writing));
  // A call that a limit cut off is never closed, so that clients do not execute it.
  if (ending.status !== "incomplete") appendAll(frames, writing.suspended.flatMap((item) => closeItem(item, writing)));
  if (stop.reason === "refusal" && !writing.hasRefusal) appendAll(frames, writeRefusal(refusalTextOf(stop), writing));
  writing.ended = true;
  if (ending.error) {
    const { code, message, type } = ending.error;
    frames.push(writing.emit("error", { code, message, param: null, error: { type, code, message, param: null } }));
  }
  return [...frames, responseFrame(`response.${ending.status}`, ending, usage, writing)];
}

function writeRefusal(text: string, writing: Writing): Frame[] {
  const part: OpenPart = { opening: { kind: "refusal" }, item: null, signature: null };
  const opened = openItem(part, writing);
  const deltas = deltaFrames(part.item!, text, writing.emit);
  return [...opened, ...deltas, ...closeItem(part.item!, writing)];
}

/**
 * Writes `error` with its fields both at the top (as documented) and nested (as OpenAI sends it), then
 * `response.failed`: clients differ in which of them they read.
 */
function fail(error: GatewayError, writing: Writing): Frame[] {
  writing.ended = true;
  for (const { item } of writing.parts.values()) {
    if (item && item.opening.kind !== "tool_call") writing.output[item.outputIndex] = wireItem(item, "incomplete");
  }
  const { message, type, code, param } = defaultErrorFields(error);
  const ending: Ending = { status: "failed", incomplete_details: null, error: responseErrorOf(error) };
  return [
    writing.emit("error", { code, message, param, error: { type, code, message, param } }),
    responseFrame("response.failed", ending, null, writing),
  ];
}
