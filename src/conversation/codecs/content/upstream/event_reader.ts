import { appendAll } from "../../../../platform/lib/collections/append_all.ts";
import type { EventReader } from "../../../contract/upstream_format.ts";
import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import type { Citation } from "../../../neutral/conversation.ts";
import type { ReplyEvent } from "../../../neutral/events.ts";
import { stopFor } from "../../../neutral/reply.ts";
import type { ReasoningSignature } from "../../../neutral/reasoning_signature.ts";
import { laterReport, withAtLeast, withImageTokens } from "../../../neutral/usage.ts";
import { inputOf } from "../../../parts/request/call_input.ts";
import { parseWithExactValues } from "../../../neutral/exact_values.ts";
import { newCallId, newReplyId } from "../shared/calls.ts";
import { logprobsField } from "../../../neutral/logprobs.ts";
import { RepeatedText } from "../../../parts/reply/repeated_text.ts";
import { readLogprobsResult } from "../shared/logprobs.ts";
import { readCitations } from "../shared/citations.ts";
import { readError } from "./error.ts";
import type { ReportedFailure } from "../../../parts/reply/failed_reply.ts";
import { isObject, listOf, numberOrNull, textOrNull } from "../../../neutral/wire_value.ts";
import type { WebSearchPart } from "../../../neutral/web_search.ts";
import { objectsIn } from "../shared/fields.ts";
import { addPieces, openCall } from "./partial_arguments.ts";
import { newProgress, type Progress } from "./progress.ts";
import { readMedia } from "../shared/parts.ts";
import { readGrounding, readToolCall } from "../shared/search.ts";
import { readReplySignature } from "../shared/signatures.ts";
import { readStop, stopOfContents, wasCutOff } from "../shared/stop.ts";
import { extrasOf, noteShown, readUsage } from "../shared/usage.ts";

/** Reads a stream. Signatures of images, and spans of citations in texts before the last one, are lost. */
export function eventReader(): EventReader {
  const progress = newProgress();
  const repeated = new RepeatedText();
  return {
    read(frame) {
      // Some vendors of this format send the end marker of another one.
      if (frame.data === "" || frame.data === "[DONE]") return [];
      const text = repeated.textIn(frame);
      if (text !== null && progress.open !== null) return [moreText(progress, progress.open, text)];
      repeated.forget();
      // Only calls have numbers whose digits matter.
      const body = frame.data.includes('"functionCall"') ? parseWithExactValues(frame.data) : JSON.parse(frame.data);
      if (Array.isArray(body)) return body.flatMap((chunk) => readChunk(progress, chunk));
      const events = readChunk(progress, body);
      const onlyText = progress.isOver || progress.open?.signed !== false ? null : onlyTextIn(body);
      if (onlyText !== null) repeated.learn(frame, "text", onlyText);
      return events;
    },
    end: () => endReply(progress),
  };
}

/** The text of a chunk that has nothing but one piece of text; null for any other chunk. */
function onlyTextIn(chunk: unknown): string | null {
  const candidates = isObject(chunk) ? listOf(chunk.candidates) : [];
  const candidate = candidates.length === 1 && isObject(candidates[0]) ? candidates[0] : {};
  const parts = isObject(candidate.content) ? listOf(candidate.content.parts) : [];
  const part = parts.length === 1 && isObject(parts[0]) ? parts[0] : {};
  const isCandidateOther = Object.keys(candidate).some((name) => name !== "content" && name !== "index");
  const isPartOther = Object.keys(part).some((name) => name !== "text" && name !== "thought");
  return isCandidateOther || isPartOther ? null : textOrNull(part.text);
}

/** More text of the open part. */
function moreText(progress: Progress, { index, kind }: NonNullable<Progress["open"]>, text: string): ReplyEvent {
  if (kind === "text") progress.texts.set(index, (progress.texts.get(index) ?? "") + text);
  return { type: "part-delta", index, text };
}

/** The events of one chunk or of a whole reply. */
export function readChunk(progress: Progress, chunk: unknown): ReplyEvent[] {
  if (!isObject(chunk) || progress.isOver) return [];
  if (chunk.error !== undefined && chunk.error !== null) return readFailure(progress, chunk);
  if (!isReply(chunk)) return [];
  noteShown(progress.shown, chunk);
  const usage = withAtLeast(laterReport(progress.usage, readUsage(chunk)), extrasOf(progress.shown));
  progress.usage = withImageTokens(usage);
  const events: ReplyEvent[] = [];
  if (progress.id === null) events.push(startOf(progress, chunk));
  const candidates = objectsIn(chunk.candidates);
  if (candidates.length > 1) progress.unsupportedFields.add("candidates");
  const candidate = candidates[0];
  if (candidate) readCandidate(progress, candidate, events);
  progress.stop = readStop(chunk) ?? progress.stop;
  return events;
}

/** True for an object with one of the members that every reply and chunk has. */
export function isReply(body: JsonObject): boolean {
  return Array.isArray(body.candidates) || isObject(body.promptFeedback) || isObject(body.usageMetadata);
}

function readFailure(progress: Progress, chunk: JsonObject): ReplyEvent[] {
  progress.isOver = true;
  return [failureInChunk(chunk)];
}

/** The failure that a vendor reports in place of a reply or in a stream. */
export function failureInChunk(chunk: JsonObject): ReportedFailure {
  const { message, code } = readError(chunk);
  const status = isObject(chunk.error) ? numberOrNull(chunk.error.code) : null;
  return { type: "error", message, vendorCode: code, status };
}

function startOf(progress: Progress, chunk: JsonObject): ReplyEvent {
  progress.id = textOrNull(chunk.responseId) ?? newReplyId();
  const createdMs = Date.parse(textOrNull(chunk.createTime) ?? "");
  return {
    type: "start",
    id: progress.id,
    model: textOrNull(chunk.modelVersion) ?? "",
    createdAt: Number.isNaN(createdMs) ? null : Math.floor(createdMs / 1000),
    usage: progress.usage,
    reportsSearchesLast: true,
  };
}

function readCandidate(progress: Progress, candidate: JsonObject, events: ReplyEvent[]): void {
  const content = isObject(candidate.content) ? candidate.content : {};
  appendAll(progress.logprobs, readLogprobsResult(candidate.logprobsResult));
  for (const part of objectsIn(content.parts)) readPart(progress, part, events);
  const grounding = candidate.groundingMetadata;
  if (hasGrounding(grounding) || isObject(candidate.citationMetadata)) progress.cited = candidate;
}

function hasGrounding(grounding: unknown): boolean {
  return isObject(grounding) &&
    (objectsIn(grounding.groundingChunks).length > 0 || listOf(grounding.webSearchQueries).length > 0);
}

/** Reads a search in a part of its own, which is sent if the request asks for it. */
function readToolPart(progress: Progress, call: JsonObject, events: ReplyEvent[]): void {
  const search = readToolCall(call, nextSearchId(progress));
  if (search === null) return void progress.unsupportedFields.add("candidates.content.parts.toolCall");
  closeOpen(progress, events);
  addSearch(progress, search, events);
}

function nextSearchId(progress: Progress): string {
  return newCallId(`${progress.id}.search.${progress.searches++}`);
}

function addSearch(progress: Progress, search: WebSearchPart, events: ReplyEvent[]): void {
  for (const query of search.queries) progress.queries.add(query);
  events.push({ type: "web_search", index: progress.next++, search });
}

function readPart(progress: Progress, part: JsonObject, events: ReplyEvent[]): void {
  const signature = readReplySignature(part);
  if (typeof part.text === "string") return readText(progress, part.text, part.thought === true, signature, events);
  if (isObject(part.functionCall)) return readCall(progress, part.functionCall, signature, events);
  if (isObject(part.toolCall)) return readToolPart(progress, part.toolCall, events);
  if (isObject(part.toolResponse)) return; // the results of a search are in the grounding metadata
  // Drafts of an image are reasoning; only the image itself is returned.
  if (part.thought === true && isObject(part.inlineData)) return;
  closeOpen(progress, events);
  const media = readMedia(part);
  if (media?.kind === "image") {
    events.push({ type: "image", index: progress.next++, image: media });
    return;
  }
  for (const key of Object.keys(part)) {
    if (key !== "thoughtSignature" && key !== "thought") {
      progress.unsupportedFields.add(`candidates.content.parts.${key}`);
    }
  }
}

function readText(
  progress: Progress,
  text: string,
  isThought: boolean,
  signature: ReasoningSignature | null,
  events: ReplyEvent[],
): void {
  if (text === "" && signature === null) return;
  const kind = isThought ? "reasoning" : "text";
  if (progress.open === null || progress.open.kind !== kind || progress.open.signed) {
    closeOpen(progress, events);
    progress.open = { index: progress.next++, kind, signed: false };
    events.push({ type: "part-start", index: progress.open.index, part: { kind } });
  }
  const { index } = progress.open;
  if (kind === "text") progress.texts.set(index, (progress.texts.get(index) ?? "") + text);
  const tokens = kind === "text" && progress.logprobs.length > 0 ? logprobsField(progress.logprobs.splice(0)) : {};
  if (text !== "") events.push({ type: "part-delta", index, text, ...tokens });
  if (signature !== null) {
    progress.open.signed = true;
    events.push({ type: "part-signature", index, signature });
  }
}

/** Reads a call, which arrives complete or in deltas. */
function readCall(
  progress: Progress,
  call: JsonObject,
  signature: ReasoningSignature | null,
  events: ReplyEvent[],
): void {
  const name = textOrNull(call.name);
  if (name !== null) {
    closePartial(progress, events);
    progress.partial = openCall(call, name, signature);
  } else if (progress.partial !== null) {
    addPieces(progress.partial, call);
  }
  if (call.willContinue !== true) closePartial(progress, events);
}

function closePartial(progress: Progress, events: ReplyEvent[]): void {
  if (progress.partial === null) return;
  const { id, name, args, signature } = progress.partial;
  progress.partial = null;
  closeOpen(progress, events);
  const index = progress.next++;
  const callId = textOrNull(id) ?? newCallId(`${progress.id}.${progress.calls}`);
  progress.calls++;
  const signed = signature === null ? {} : { isSigned: true };
  events.push({ type: "part-start", index, part: { kind: "tool_call", callId, tool: name, ...signed } });
  if (signature !== null) events.push({ type: "part-signature", index, signature });
  events.push({ type: "part-delta", index, text: inputOf(args) });
  events.push({ type: "part-end", index });
}

function closeOpen(progress: Progress, events: ReplyEvent[], citations: readonly Citation[] = []): void {
  if (progress.open === null) return;
  const { index } = progress.open;
  progress.open = null;
  events.push(citations.length === 0 ? { type: "part-end", index } : { type: "part-end", index, citations });
}

/** The events at the end: closes open parts, and gives `finish` if a stop reason was received. */
export function endReply(progress: Progress): ReplyEvent[] {
  if (progress.isOver || progress.id === null) return [];
  progress.isOver = true;
  const events: ReplyEvent[] = [];
  const { stop, usage } = progress;
  // A call that was cut off by a limit or a lost connection is dropped.
  if (stop !== null && !wasCutOff(stop)) closePartial(progress, events);
  if (progress.cited !== null) closeCited(progress, events);
  closeOpen(progress, events);
  if (progress.cited !== null) {
    const search = readGrounding(progress.cited.groundingMetadata, progress.queries, nextSearchId(progress));
    if (search !== null) addSearch(progress, search, events);
  }
  if (stop !== null) {
    const ending = stopOfContents(stopFor(stop, progress.calls > 0), progress.next === 0);
    events.push({ type: "finish", stop: ending, usage });
  }
  return events;
}

/**
 * Adds the citations, which arrive in the last chunk. Those of texts that have ended are attached to the last text
 * without spans. If that has ended too, or there is none (as after an image), they are attached to an empty text.
 */
function closeCited(progress: Progress, events: ReplyEvent[]): void {
  const last = progress.open?.kind === "text" ? progress.open.index : null;
  const byPart = citationsByPart(progress);
  const own = last === null ? [] : byPart.get(last) ?? [];
  const others = [...byPart].flatMap(([index, citations]) => index === last ? [] : citations);
  const links = linksOf(byPart.size === 0 ? bareCitations(progress) : others);
  const citations = [...own, ...links.filter(({ url }) => own.every((citation) => citation.url !== url))];
  if (citations.length === 0) return;
  if (last === null) {
    closeOpen(progress, events);
    progress.open = { index: progress.next++, kind: "text", signed: false };
    events.push({ type: "part-start", index: progress.open.index, part: { kind: "text" } });
  }
  closeOpen(progress, events, citations);
}

/** Each address once, without a span. */
function linksOf(citations: readonly Citation[]): Citation[] {
  const titles = new Map(citations.map(({ url, title }) => [url, title]));
  return [...titles].map(([url, title]) => ({ url, title, start: null, end: null }));
}

/** The citations of a reply without text, such as a single image. */
function bareCitations({ cited }: Progress): readonly Citation[] {
  return cited === null ? [] : readCitations([""], cited)[0]!;
}

const NO_CITATIONS: ReadonlyMap<number, Citation[]> = new Map();

/** The citations of each text part, by index. */
export function citationsByPart({ cited, texts }: Progress): ReadonlyMap<number, Citation[]> {
  if (cited === null) return NO_CITATIONS;
  const found = readCitations([...texts.values()], cited);
  return new Map([...texts.keys()].map((index, at) => [index, found[at]!]));
}
