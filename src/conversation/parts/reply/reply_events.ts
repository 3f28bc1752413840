import type { PartOpening, ReplyEvent } from "../../neutral/events.ts";
import { FailedReply } from "./failed_reply.ts";
import { logprobsField } from "../../neutral/logprobs.ts";
import type { Reply, ReplyPart } from "../../neutral/reply.ts";

/** A part of a reply that is text, in pieces where it is streamed. */
type WrittenPart = Exclude<ReplyPart, { kind: "image" | "web_search" }>;

/** The events of a whole reply, for a caller that asked for a stream. */
export function eventsOfReply({ id, model, createdAt, parts, stop, usage }: Reply): ReplyEvent[] {
  return [
    { type: "start", id, model, createdAt, usage: null },
    ...parts.flatMap(eventsOfPart),
    { type: "finish", stop, usage },
  ];
}

function eventsOfPart(part: ReplyPart, index: number): ReplyEvent[] {
  if (part.kind === "image") return [{ type: "image", index, image: part }];
  if (part.kind === "web_search") return [{ type: "web_search", index, search: part }];
  const text = part.kind === "tool_call" ? part.input : part.text;
  const tokens = part.kind === "text" ? logprobsField(part.logprobs ?? []) : {};
  const signature: ReplyEvent[] = "signature" in part && part.signature
    ? [{ type: "part-signature", index, signature: part.signature }]
    : [];
  const isCall = part.kind === "tool_call";
  return [
    { type: "part-start", index, part: openingOf(part) },
    ...(isCall ? signature : []),
    ...(text === "" ? [] : [{ type: "part-delta" as const, index, text, ...tokens }]),
    ...(isCall ? [] : signature),
    { type: "part-end", index, ...(part.kind === "text" && part.citations ? { citations: part.citations } : {}) },
  ];
}

function openingOf(part: WrittenPart): PartOpening {
  switch (part.kind) {
    case "reasoning":
      return {
        kind: part.kind,
        ...(part.redacted && { redacted: true }),
        ...(part.id !== undefined && { id: part.id }),
      };
    case "tool_call":
      return {
        kind: part.kind,
        callId: part.callId,
        tool: part.tool,
        ...(part.custom && { custom: true }),
        ...(part.signature && { isSigned: true }),
      };
    default:
      return { kind: part.kind };
  }
}

/**
 * The whole reply that a stream of events makes, for a caller that asked for no stream.
 *
 * @throws {FailedReply} If the stream reports a failure.
 * @throws {TypeError} If it was cut off.
 */
export function replyOfEvents(events: readonly ReplyEvent[]): Reply {
  const start = events.find((event) => event.type === "start");
  const finish = events.find((event) => event.type === "finish");
  const failure = events.find((event) => event.type === "error");
  if (failure !== undefined) throw new FailedReply(failure);
  if (start === undefined || finish === undefined) throw new TypeError("Cannot read the reply: its stream was cut off");
  const parts = new Map<number, ReplyPart>();
  for (const event of events) addTo(parts, event);
  return {
    id: start.id,
    model: start.model,
    createdAt: start.createdAt,
    parts: [...parts.values()],
    stop: finish.stop,
    usage: finish.usage ?? start.usage,
    unsupportedFields: [],
  };
}

function addTo(parts: Map<number, ReplyPart>, event: ReplyEvent): void {
  switch (event.type) {
    case "part-start":
      parts.set(event.index, emptyPart(event.part));
      return;
    case "image":
      parts.set(event.index, event.image);
      return;
    case "web_search":
      parts.set(event.index, event.search);
      return;
  }
  const part = "index" in event ? parts.get(event.index) : undefined;
  if (part === undefined || part.kind === "image" || part.kind === "web_search") return;
  if (event.type === "part-delta") parts.set(event.index, withText(part, event));
  else if (event.type === "part-signature") {
    parts.set(event.index, { ...part, signature: event.signature } as ReplyPart);
  } else if (event.type === "part-end" && part.kind === "tool_call" && part.input === "" && !part.custom) {
    parts.set(event.index, { ...part, input: "{}" });
  } else if (event.type === "part-end" && part.kind === "text" && event.citations) {
    parts.set(event.index, { ...part, citations: event.citations });
  }
}

/** The part that an opening begins, without text. */
export function emptyPart(opening: PartOpening): ReplyPart {
  if (opening.kind !== "tool_call") return { ...opening, text: "" };
  const { isSigned: _, ...call } = opening;
  return { ...call, input: "" };
}

function withText(part: WrittenPart, { text, logprobs }: Extract<ReplyEvent, { type: "part-delta" }>): ReplyPart {
  if (part.kind === "tool_call") return { ...part, input: part.input + text };
  if (part.kind !== "text") return { ...part, text: part.text + text };
  return { ...part, text: part.text + text, ...logprobsField([...part.logprobs ?? [], ...logprobs ?? []]) };
}
