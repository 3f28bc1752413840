import { eventReaderOf } from "./event_reader.ts";
import { readChecked } from "../../src/conversation/contract/caller_format.ts";
import type { ReplyContext } from "../../src/conversation/contract/caller_format.ts";
import type { WireFormat } from "../../src/conversation/contract/format.ts";
import type { RequestTarget, UpstreamFormat } from "../../src/conversation/contract/upstream_format.ts";
import type { Frame } from "../../src/platform/lib/streams/frame.ts";
import type { JsonObject } from "../../src/platform/lib/json/json_object.ts";
import { chat } from "../../src/conversation/codecs/chat/mod.ts";
import { content } from "../../src/conversation/codecs/content/mod.ts";
import { converse } from "../../src/conversation/codecs/converse/mod.ts";
import { messages } from "../../src/conversation/codecs/messages/mod.ts";
import { responses } from "../../src/conversation/codecs/responses/mod.ts";
import type { Conversation } from "../../src/conversation/neutral/conversation.ts";
import type { ReplyEvent } from "../../src/conversation/neutral/events.ts";
import type { Reply } from "../../src/conversation/neutral/reply.ts";
import type { CallerFormatName, WireFormatName } from "../../src/conversation/neutral/reasoning_signature.ts";
import { replyOf } from "./assemble.ts";
import { targetOf } from "./conversations.ts";

/** Every codec of callers, by its format. */
export const CODECS: Readonly<Record<CallerFormatName, WireFormat>> = { chat, responses, messages, content };

/** The formats, and every ordered pair of two of them. */
export const FORMATS: readonly CallerFormatName[] = ["chat", "responses", "messages", "content"];
export const PAIRS: readonly (readonly [from: CallerFormatName, to: CallerFormatName])[] = FORMATS.flatMap((from) =>
  FORMATS.filter((to) => to !== from).map((to) => [from, to] as const)
);

/** The formats of vendors: those of callers, and one that vendors alone use. */
export const VENDOR_FORMATS: readonly WireFormatName[] = [...FORMATS, "converse"];

/** Every codec of vendors, by its format. */
export const UPSTREAMS: Readonly<Record<WireFormatName, UpstreamFormat>> = {
  chat: chat.upstream,
  responses: responses.upstream,
  messages: messages.upstream,
  content: content.upstream,
  converse: converse.upstream,
};

/** A recent model of each format's author. */
export const TARGETS: Readonly<Record<WireFormatName, RequestTarget>> = {
  chat: targetOf({ model: "gpt-4.1", provider: "chat-vendor", maxOutputTokens: 32_000 }),
  responses: targetOf({ model: "gpt-5", provider: "responses-vendor", maxOutputTokens: 128_000 }),
  messages: targetOf({ model: "claude-opus-4-5", provider: "messages-vendor", maxOutputTokens: 64_000 }),
  content: targetOf({ model: "gemini-3-flash", provider: "content-vendor", maxOutputTokens: 65_536 }),
  converse: targetOf({ model: "us.amazon.nova-2-lite-v1:0", provider: "converse-vendor", maxOutputTokens: 64_000 }),
};

/** The value after it was serialised and parsed. */
export function serialized(body: unknown): JsonObject {
  return JSON.parse(JSON.stringify(body));
}

/** A written request as its format's reader gets it: one format has model and streaming in the path. */
export function asRead(form: CallerFormatName, body: JsonObject, stream: boolean): JsonObject {
  return form === "content" ? { model: TARGETS.content.model, stream, ...serialized(body) } : serialized(body);
}

/** A conversation after it was written and read in a format. */
export function throughFormat(form: CallerFormatName, conversation: Conversation, target = TARGETS[form]) {
  const { body, droppedFields, toolNames } = CODECS[form].upstream.writeRequest(conversation, target);
  const read = readChecked(CODECS[form].caller, asRead(form, body, conversation.stream));
  return { read, body: serialized(body), droppedFields, toolNames };
}

/** The events that a format's reader returns for frames. */
export function eventsIn(form: CallerFormatName, frames: readonly Frame[]): ReplyEvent[] {
  const reader = eventReaderOf(CODECS[form]);
  return [...frames.flatMap((frame) => reader.read(frame)), ...reader.end()];
}

/** The frames that a format writes for events. */
export function framesOf(form: CallerFormatName, events: readonly ReplyEvent[], context: ReplyContext): Frame[] {
  const writer = CODECS[form].caller.eventWriter(context);
  return events.flatMap((event) => writer.write(event));
}

/** A reply after it was streamed and read in a format. */
export function writtenAsStream(form: CallerFormatName, events: readonly ReplyEvent[], context: ReplyContext): Reply {
  return replyOf(eventsIn(form, framesOf(form, events, context)));
}

/** A reply after it was written whole and read in a format. */
export function writtenWhole(form: CallerFormatName, reply: Reply, context: ReplyContext): Reply {
  return CODECS[form].upstream.readReply(serialized(CODECS[form].caller.writeReply(reply, context).body));
}
