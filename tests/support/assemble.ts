import type { Citation } from "../../src/conversation/neutral/conversation.ts";
import { logprobsField, type TokenLogprob } from "../../src/conversation/neutral/logprobs.ts";
import type { ReplyEvent } from "../../src/conversation/neutral/events.ts";
import type { Reply, ReplyPart } from "../../src/conversation/neutral/reply.ts";
import type { PartOpening } from "../../src/conversation/neutral/events.ts";
import type { ReasoningSignature } from "../../src/conversation/neutral/reasoning_signature.ts";

/** The reply with only the usage that its format's own counters report. */
export function asCounted(reply: Reply): Reply {
  if (reply.usage === null) return reply;
  const { imagesMade, webSearches: _, otherModels: __, serviceTier: ___, ...usage } = reply.usage;
  const { imageOutputTokens: ____, ...withoutImages } = usage;
  return { ...reply, usage: imagesMade ? withoutImages : usage };
}

interface OpenPart {
  readonly opening: PartOpening;
  text: string;
  readonly logprobs: TokenLogprob[];
  signature: ReasoningSignature | null;
  citations: readonly Citation[];
  ended: boolean;
}

/**
 * Assembles the reply from a stream of events, and checks every guarantee of `events.ts`.
 *
 * @throws {Error} If a guarantee is broken, or the stream has an `error` or no `finish`.
 */
export function replyOf(events: readonly ReplyEvent[]): Reply {
  const [start, ...rest] = events;
  if (start?.type !== "start") throw new Error(`The first event is "start": got "${start?.type}"`);
  const finish = rest.pop();
  if (finish?.type !== "finish") throw new Error(`The last event is "finish": got "${finish?.type}"`);
  const parts: (OpenPart | ReplyPart)[] = [];
  for (const event of rest) applyTo(parts, event);
  return {
    id: start.id,
    model: start.model,
    createdAt: start.createdAt,
    parts: parts.map((part) => "opening" in part ? closedPart(part) : part),
    stop: finish.stop,
    usage: finish.usage ?? start.usage,
    unsupportedFields: [],
  };
}

/** An opening without what it says about the next event. */
function unsigned(opening: PartOpening): PartOpening {
  if (opening.kind !== "tool_call") return opening;
  const { isSigned: _, ...call } = opening;
  return call;
}

function applyTo(parts: (OpenPart | ReplyPart)[], event: ReplyEvent): void {
  switch (event.type) {
    case "part-start":
      expectNext(parts, event.index);
      parts.push({
        opening: unsigned(event.part),
        text: "",
        logprobs: [],
        signature: null,
        citations: [],
        ended: false,
      });
      return;
    case "part-delta":
      if (event.text === "") throw new Error(`A delta is never empty: part ${event.index}`);
      openPart(parts, event.index).text += event.text;
      openPart(parts, event.index).logprobs.push(...event.logprobs ?? []);
      return;
    case "part-signature":
      openPart(parts, event.index).signature = event.signature;
      return;
    case "part-end":
      endPart(openPart(parts, event.index), event.citations ?? []);
      return;
    case "image":
      expectNext(parts, event.index);
      parts.push(event.image);
      return;
    case "web_search":
      expectNext(parts, event.index);
      parts.push(event.search);
      return;
    default:
      throw new Error(`No "${event.type}" between "start" and "finish"`);
  }
}

function expectNext(parts: readonly unknown[], index: number): void {
  if (index !== parts.length) throw new Error(`Indexes follow the order of opening: got ${index}, not ${parts.length}`);
}

function openPart(parts: readonly (OpenPart | ReplyPart)[], index: number): OpenPart {
  const part = parts[index];
  if (!part || !("opening" in part) || part.ended) throw new Error(`Part ${index} is not open`);
  return part;
}

function endPart(part: OpenPart, citations: readonly Citation[]): void {
  if (citations.length > 0 && part.opening.kind !== "text") throw new Error("Only text has citations");
  part.citations = citations;
  part.ended = true;
}

function closedPart({ opening, text, logprobs, signature, citations, ended }: OpenPart): ReplyPart {
  if (!ended) throw new Error(`A part was left open: "${opening.kind}"`);
  const sealed = signature ? { signature } : {};
  switch (opening.kind) {
    case "text":
      return {
        kind: "text",
        text,
        ...sealed,
        ...(citations.length > 0 ? { citations } : {}),
        ...logprobsField(logprobs),
      };
    case "refusal":
      return { kind: "refusal", text };
    case "reasoning":
      return { ...opening, text, ...sealed };
    case "tool_call":
      return { ...opening, input: text === "" && !opening.custom ? "{}" : text, ...sealed };
  }
}
