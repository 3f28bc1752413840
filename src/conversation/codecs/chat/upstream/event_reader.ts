import { appendAll } from "../../../../platform/lib/collections/append_all.ts";
import type { EventReader } from "../../../contract/upstream_format.ts";
import type { Frame } from "../../../../platform/lib/streams/frame.ts";
import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import { parseWithExactValues } from "../../../neutral/exact_values.ts";
import type { Citation, ReasoningPart } from "../../../neutral/conversation.ts";
import type { PartOpening, ReplyEvent } from "../../../neutral/events.ts";
import type { ReasoningSignature } from "../../../neutral/reasoning_signature.ts";
import { type ContentCounters, laterReport, type Usage, withAtLeast, withImageTokens } from "../../../neutral/usage.ts";
import { callsClosed, newCalls, readCallDelta, signFirstCall } from "./call_deltas.ts";
import type { Calls } from "./call_deltas.ts";
import { unlisted } from "../../../parts/reply/failed_reply.ts";
import { RepeatedText } from "../../../parts/reply/repeated_text.ts";
import { logprobsField, readTokenLogprobs, type TokenLogprob } from "../../../neutral/logprobs.ts";
import { readAnnotations, readSources } from "../shared/citations.ts";
import { baseFailureIn, errorEventOf } from "./error.ts";
import { listOf, numberOrNull, objectOf, textOf } from "../../../neutral/wire_value.ts";
import { hasValue } from "../shared/fields.ts";
import { callSignatureOf, legacyCallOf } from "../shared/read_messages.ts";
import { readThinking } from "../shared/read_parts.ts";
import { readImages } from "./read_reply.ts";
import { plainReasoningOf, readDetail, REASONING_SEPARATOR } from "../shared/reasoning.ts";
import { finishReasonIn, isFailure, readStop } from "../shared/stop.ts";
import { noteExtras, readUsage } from "../shared/usage.ts";

/** A text, refusal or reasoning part that is being streamed. Calls are tracked separately, because they may overlap. */
interface OpenPart {
  readonly index: number;
  readonly kind: "text" | "refusal" | "reasoning";
  /** The key of the entry of `reasoning_details`; null for plain reasoning. */
  readonly detail: string | null;
  /** The reasoning so far, to recognise a detail that repeats it. */
  reasoning: string;
  signed: boolean;
}

/**
 * The state of one stream. It starts with the first chunk that has a choice, because some vendors send a chunk about
 * the prompt first. At most one text, refusal or reasoning part is open, beside any number of calls. The finish reason
 * is recorded, and the reply finishes at `[DONE]`, so that the usage chunk between the two is counted.
 */
interface Reading {
  started: boolean;
  finished: boolean;
  /** Index of the next part. */
  next: number;
  open: OpenPart | null;
  readonly calls: Calls;
  finishReason: string | null;
  usage: Usage | null;
  readonly extras: ContentCounters;
  citations: Citation[];
  /** Tokens with no text so far. */
  logprobs: TokenLogprob[];
  readonly content: { text: boolean; refusal: boolean; call: boolean };
  /** The last chunk, if it had nothing but a piece of the open text. */
  readonly repeated: RepeatedText;
  events: ReplyEvent[];
}

/** Reads the chunks of OpenAI and of dialects. */
export function eventReader(): EventReader {
  const reading: Reading = {
    started: false,
    finished: false,
    next: 0,
    open: null,
    calls: newCalls(),
    finishReason: null,
    usage: null,
    extras: { webSearches: 0, imagesMade: 0 },
    citations: [],
    logprobs: [],
    content: { text: false, refusal: false, call: false },
    repeated: new RepeatedText(),
    events: [],
  };
  return {
    read(frame) {
      if (reading.finished) return [];
      const text = reading.repeated.textIn(frame);
      if (text === null) readFrame(reading, frame);
      else addDelta(reading, text);
      return takeEvents(reading);
    },
    end() {
      // Some vendors send no `[DONE]`: a finish reason also marks a complete reply.
      if (!reading.finished && reading.finishReason !== null) finish(reading);
      return takeEvents(reading);
    },
  };
}

function takeEvents(reading: Reading): ReplyEvent[] {
  const { events } = reading;
  reading.events = [];
  return events;
}

function readFrame(reading: Reading, frame: Frame): void {
  reading.repeated.forget();
  if (frame.data.startsWith("[DONE]")) {
    // A mark after nothing ends no reply: an empty success is not made from it.
    if (reading.finishReason !== null || reading.next > 0) finish(reading);
    return;
  }
  // Some vendors send the arguments of a call as an object, whose numbers have digits that matter.
  const isObjectCall = frame.data.includes('"arguments":{') || frame.data.includes('"arguments": {');
  const chunk = objectOf(unlisted(isObjectCall ? parseWithExactValues(frame.data) : JSON.parse(frame.data)));
  if (!chunk) return;
  if (hasValue(chunk.error) || frame.event === "error" || baseFailureIn(chunk) !== null) return fail(reading, chunk);
  reading.usage = laterReport(reading.usage, readUsage(chunk));
  noteExtras(reading.extras, chunk);
  const choices = listOf(chunk.choices);
  const choice = choices.map(objectOf).find((one) => one && (numberOrNull(one.index) ?? 0) === 0);
  if (!choice) return;
  readChoice(reading, chunk, choice);
  if (choices.length === 1 && reading.open?.kind === "text") learnText(reading, frame, choice);
}

/**
 * Makes a chunk the pattern of the next ones if its choice has only a piece of the open text. The members outside of
 * the choice have no effect when they are repeated.
 */
function learnText({ repeated }: Reading, frame: Frame, choice: JsonObject): void {
  const delta = objectOf(choice.delta);
  if (delta === null || typeof delta.content !== "string") return;
  const isOther = (fields: JsonObject, read: readonly string[]) =>
    Object.keys(fields).some((name) => !read.includes(name) && hasValue(fields[name]));
  if (isOther(choice, ["index", "delta"]) || isOther(delta, ["role", "content"])) return;
  repeated.learn(frame, "content", delta.content);
}

function readChoice(reading: Reading, chunk: JsonObject, choice: JsonObject): void {
  start(reading, chunk);
  if (reading.citations.length === 0) reading.citations = readSources(chunk);
  const delta = objectOf(choice.delta) ?? objectOf(choice.message);
  const logprobs = objectOf(choice.logprobs);
  if (logprobs) appendAll(reading.logprobs, readTokenLogprobs(logprobs.content));
  if (delta) readDelta(reading, delta);
  if (hasValue(choice.error)) return fail(reading, choice);
  if (isFailure(choice.finish_reason)) return fail(reading, { error: { code: choice.finish_reason } });
  reading.finishReason = finishReasonIn(choice) ?? reading.finishReason;
}

function start(reading: Reading, chunk: JsonObject): void {
  if (reading.started) return;
  reading.started = true;
  reading.events.push({
    type: "start",
    id: textOf(chunk.id),
    model: textOf(chunk.model),
    createdAt: numberOrNull(chunk.created),
    usage: reading.usage,
  });
  reading.calls.replyId = `${textOf(chunk.id)}/${numberOrNull(chunk.created) ?? ""}`;
}

function readDelta(reading: Reading, delta: JsonObject): void {
  readReasoning(reading, delta);
  readContent(reading, delta.content);
  appendAll(reading.citations, readAnnotations(delta.annotations));
  addText(reading, "refusal", textOf(delta.refusal));
  for (const image of readImages(delta.images)) {
    close(reading);
    reading.events.push({ type: "image", index: reading.next++, image });
  }
  const legacy = legacyCallOf(delta);
  const calls = legacy ? [{ index: "function_call", function: legacy }] : listOf(delta.tool_calls);
  for (const call of calls) readCall(reading, objectOf(call) ?? {});
  const { signature } = callSignatureOf(delta);
  if (signature) signByMessage(reading, signature);
}

function readCall(reading: Reading, fields: JsonObject): void {
  const events = readCallDelta(reading.calls, fields, () => {
    close(reading);
    reading.content.call = true;
    return reading.next++;
  });
  appendAll(reading.events, events);
}

/** Reads text, or one vendor's list of `text` and `thinking` parts. */
function readContent(reading: Reading, content: unknown): void {
  if (typeof content === "string") return addText(reading, "text", content);
  for (const entry of listOf(content)) {
    const fields = objectOf(entry) ?? {};
    const reasoning = fields.type === "thinking" ? readThinking(fields) : null;
    if (reasoning) addReasoning(reading, reasoning.text, null);
    else addText(reading, "text", textOf(fields.text));
  }
}

function readReasoning(reading: Reading, delta: JsonObject): void {
  const plain = plainReasoningOf(delta);
  const details = listOf(delta.reasoning_details).map((entry) => objectOf(entry) ?? {});
  const haveText = details.some((detail) => textOf(detail.text) !== "" || textOf(detail.summary) !== "");
  // The plain field repeats the reasoning of the details.
  if (!haveText) addReasoning(reading, plain, null);
  for (const detail of details) {
    const part = readDetail(detail);
    if (part) readDetailPart(reading, part, detailKeyOf(detail));
  }
}

/** Deltas of one detail share its index and kind. */
function detailKeyOf(detail: JsonObject): string {
  return `${textOf(detail.type)}:${numberOrNull(detail.index) ?? ""}`;
}

function readDetailPart(reading: Reading, part: ReasoningPart, key: string): void {
  const { open } = reading;
  const isRepeated = open?.kind === "reasoning" && open.detail === null && !open.signed && !part.redacted &&
    (part.text === "" || part.text === open.reasoning || open.reasoning.endsWith(REASONING_SEPARATOR + part.text));
  if (!isRepeated) {
    const isSame = open?.kind === "reasoning" && open.detail === key && !open.signed;
    if (!isSame) openPart(reading, openingOf(part), key);
    if (part.text !== "") addDelta(reading, part.text);
  }
  if (part.signature) signOpenPart(reading, part.signature);
}

function openingOf(part: ReasoningPart): PartOpening {
  return {
    kind: "reasoning",
    ...(part.redacted && { redacted: true }),
    ...(part.id !== undefined && { id: part.id }),
  };
}

function addReasoning(reading: Reading, reasoning: string, detail: string | null): void {
  const followsSigned = reading.open?.kind === "reasoning" && reading.open.signed;
  // The break between two reasoning parts does not belong to the second.
  const text = followsSigned && reasoning.startsWith(REASONING_SEPARATOR)
    ? reasoning.slice(REASONING_SEPARATOR.length)
    : reasoning;
  if (text === "") return;
  if (reading.open?.kind !== "reasoning" || followsSigned) openPart(reading, { kind: "reasoning" }, detail);
  addDelta(reading, text);
}

function addText(reading: Reading, kind: "text" | "refusal", text: string): void {
  if (text === "") return;
  reading.content[kind] = true;
  if (reading.open?.kind !== kind) openPart(reading, { kind }, null);
  addDelta(reading, text);
}

function openPart(reading: Reading, part: PartOpening, detail: string | null): void {
  close(reading);
  const index = reading.next++;
  reading.open = { index, kind: part.kind as OpenPart["kind"], detail, reasoning: "", signed: false };
  reading.events.push({ type: "part-start", index, part });
}

function addDelta(reading: Reading, text: string): void {
  const open = reading.open!;
  if (open.kind === "reasoning") open.reasoning += text;
  if (open.kind === "text" && reading.logprobs.length > 0) {
    reading.events.push({ type: "part-delta", index: open.index, text, ...logprobsField(reading.logprobs.splice(0)) });
  } else reading.events.push({ type: "part-delta", index: open.index, text });
}

function signOpenPart(reading: Reading, signature: ReasoningSignature): void {
  reading.open!.signed = true;
  reading.events.push({ type: "part-signature", index: reading.open!.index, signature });
}

/** Attaches the signature of a whole message to the open text, or else to the first call without one. */
function signByMessage(reading: Reading, signature: ReasoningSignature): void {
  if (reading.open?.kind === "text") return signOpenPart(reading, signature);
  const event = signFirstCall(reading.calls, signature);
  if (event) reading.events.push(event);
}

function close(reading: Reading): void {
  const { open } = reading;
  if (!open) return;
  reading.open = null;
  const citations = open.kind === "text" && reading.citations.length > 0 ? { citations: reading.citations } : {};
  if (open.kind === "text") reading.citations = [];
  reading.events.push({ type: "part-end", index: open.index, ...citations });
}

function finish(reading: Reading): void {
  reading.finished = true;
  close(reading);
  appendAll(reading.events, callsClosed(reading.calls));
  const usage = withImageTokens(withAtLeast(reading.usage, reading.extras));
  reading.events.push({ type: "finish", stop: readStop(reading.finishReason, reading.content), usage });
}

function fail(reading: Reading, body: unknown): void {
  reading.finished = true;
  reading.events.push(errorEventOf(body));
}
