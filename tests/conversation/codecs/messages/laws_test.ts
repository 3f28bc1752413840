import { eventReaderOf } from "../../../support/event_reader.ts";
import { readChecked } from "../../../../src/conversation/contract/caller_format.ts";
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import type { Frame } from "../../../../src/platform/lib/streams/frame.ts";
import type { JsonObject } from "../../../../src/platform/lib/json/json_object.ts";
import { messages } from "../../../../src/conversation/codecs/messages/mod.ts";
import type { Part } from "../../../../src/conversation/neutral/conversation.ts";
import type { ReplyEvent } from "../../../../src/conversation/neutral/events.ts";
import type { Reply } from "../../../../src/conversation/neutral/reply.ts";
import { GatewayError } from "../../../../src/platform/lib/basics/gateway_error.ts";
import { replyOf } from "../../../support/assemble.ts";
import { itemAt } from "../../../support/items.ts";
import { aReply, aSignature, aText, eventsOf, someSettings, someTurns } from "./arbitraries.ts";
import { bodyWith, contextWith, conversationWith, targetWith } from "./samples.ts";
import { RESEMBLING_QUIRKS } from "../../../support/conversations.ts";

const RUNS = { numRuns: 100, seed: 1 };

/** The part of a request that reaches the vendor that signed its reasoning: without issuers and marks beyond four. */
function kept(said: unknown): unknown {
  return JSON.parse(JSON.stringify(said, (key, value) => key === "cache" || key === "issuer" ? undefined : value));
}

Deno.test("messages codec: reading a request is the inverse of writing it", () => {
  fc.assert(
    fc.property(someTurns, someSettings, (turns, settings) => {
      const signed = turns.map((turn) => ({ ...turn, parts: turn.parts.map(ownIssuer) }));
      const conversation = conversationWith({ ...settings, turns: signed, model: "claude" });
      const read = readChecked(messages.caller, messages.upstream.writeRequest(conversation, targetWith()).body);
      assertEquals(kept([read.turns, read.instructions]), kept([signed, conversation.instructions]));
      const { turns: _, instructions: __, ...said } = conversation;
      const { turns: ___, instructions: ____, ...heard } = read;
      assertEquals(heard, said);
    }),
    RUNS,
  );
});

function ownIssuer(part: Part): Part {
  return part.kind === "reasoning" && part.signature
    ? { ...part, signature: { ...part.signature, issuer: "anthropic" } }
    : part;
}

Deno.test("messages codec: a written request passes the check, and reading and writing it again gives the same", () => {
  fc.assert(
    fc.property(someTurns, someSettings, fc.boolean(), (turns, settings, resembles) => {
      const target = targetWith(resembles ? { quirks: RESEMBLING_QUIRKS } : {});
      const { body } = messages.upstream.writeRequest(conversationWith({ ...settings, turns }), target);
      messages.caller.check(body);
      assertEquals(messages.upstream.writeRequest(readChecked(messages.caller, body), target).body, body);
    }),
    RUNS,
  );
});

Deno.test("messages codec: reading a reply is the inverse of writing it", () => {
  fc.assert(
    fc.property(aReply, (reply) => {
      const { body, droppedFields } = messages.caller.writeReply(reply, contextWith());
      assertEquals(messages.upstream.readReply(JSON.parse(JSON.stringify(body))), withoutLastSignatures(reply));
      assertEquals(droppedFields, []);
    }),
    RUNS,
  );
});

/** The reply without signature blocks at its end, which the writer removes. */
function withoutLastSignatures(reply: Reply): Reply {
  const end = reply.parts.findLastIndex(({ kind, ...part }) => kind !== "reasoning" || ("text" in part && !!part.text));
  return { ...reply, parts: reply.parts.slice(0, end + 1) };
}

Deno.test("messages codec: no reply ends with a signature block, whole or streamed", () => {
  fc.assert(
    fc.property(fc.oneof(aReply, aForeignReply.map(replyOfParts)), someOrder, (reply, order) => {
      const { content } = messages.caller.writeReply(reply, REQUEST).body as { content: JsonObject[] };
      for (const block of [content.at(-1), contentIn(framesOf(eventsOf(reply, order), REQUEST)).at(-1)]) {
        assert(block === undefined || (block.type !== "redacted_thinking" && block.thinking !== ""));
      }
    }),
    RUNS,
  );
});

function framesOf(events: readonly ReplyEvent[], context = contextWith()): Frame[] {
  const writer = messages.caller.eventWriter(context);
  return events.flatMap((event) => writer.write(event));
}

function replyIn(frames: readonly Frame[]): Reply {
  const reader = eventReaderOf(messages);
  return replyOf([...frames.flatMap((frame) => reader.read(frame)), ...reader.end()]);
}

/** An order in which the parts of a reply interleave. */
const someOrder = fc.array(fc.nat(7), { minLength: 1, maxLength: 12 });

Deno.test("messages codec: a stream is equivalent to the whole reply, however its parts interleave", () => {
  fc.assert(
    fc.property(aReply, someOrder, (reply, order) => {
      const frames = framesOf(eventsOf(reply, order));
      assertEquals(replyIn(frames), messages.upstream.readReply(messages.caller.writeReply(reply, contextWith()).body));
    }),
    RUNS,
  );
});

Deno.test("messages codec: a stream's blocks are written one after another, by index, each frame named by its type", () => {
  fc.assert(
    fc.property(aReply, someOrder, (reply, order) => {
      let open: unknown = null;
      let next = 0;
      for (const { event, data } of framesOf(eventsOf(reply, order))) {
        const frame = JSON.parse(data);
        assertEquals(event, frame.type);
        if (frame.type === "content_block_start") {
          assertEquals([open, frame.index], [null, next++]);
          open = frame.index;
        } else if (frame.type === "content_block_delta") assertEquals(frame.index, open);
        else if (frame.type === "content_block_stop") {
          assertEquals(frame.index, open);
          open = null;
        }
      }
      assertEquals(open, null);
    }),
    RUNS,
  );
});

/** A reply of another vendor, with signatures on calls and text. */
const aForeignReply = fc.record({
  said: aText,
  signatures: fc.array(fc.option(aSignature("content", "chat")), { minLength: 1, maxLength: 3 }),
  textSignature: fc.option(aSignature("content")),
  thought: fc.option(fc.tuple(aText, fc.option(aSignature("content", "responses", "chat")))),
}).map(({ said, signatures, textSignature, thought }): Reply["parts"] => [
  ...(thought
    ? [{ kind: "reasoning" as const, text: thought[0], ...(thought[1] ? { signature: thought[1] } : {}) }]
    : []),
  { kind: "text", text: said, ...(textSignature ? { signature: textSignature } : {}) },
  ...signatures.map((signature, index) => ({
    kind: "tool_call" as const,
    callId: `call_${index}`,
    tool: "look",
    input: "{}",
    ...(signature ? { signature } : {}),
  })),
]);

Deno.test("messages codec: signatures of other formats return to their parts, by reply and by stream", () => {
  fc.assert(
    fc.property(aForeignReply, someOrder, (parts, order) => {
      const reply = replyOfParts(parts);
      const whole = messages.caller.writeReply(reply, REQUEST).body.content;
      assertEquals(partsIn(whole), parts);
      const streamed = partsIn(contentIn(framesOf(eventsOf(reply, order), REQUEST)));
      // The signature of the last call, if it arrived after the arguments, is stored by the gateway.
      const expected = isSigned(parts.at(-1)) && !isSigned(streamed.at(-1)) ? withoutLastSignature(parts) : parts;
      assertEquals(streamed, expected);
    }),
    RUNS,
  );
});

/** A request for reasoning in the reply. */
const REQUEST = contextWith({
  conversation: conversationWith({ reasoning: { effort: "high", budgetTokens: null, visible: true } }),
});

function replyOfParts(parts: Reply["parts"]): Reply {
  const stop = { reason: "end", raw: "STOP" } as const;
  return { id: "resp_1", model: "gemini", createdAt: 1, parts, stop, usage: null, unsupportedFields: [] };
}

function partsIn(content: unknown): readonly Part[] {
  const body = bodyWith({ messages: [{ role: "user", content: "hi" }, { role: "assistant", content }] });
  return itemAt(readChecked(messages.caller, body).turns, 1).parts;
}

function isSigned(part: Part | undefined): boolean {
  return part !== undefined && "signature" in part && part.signature !== undefined;
}

function withoutLastSignature(parts: Reply["parts"]): Part[] {
  const { signature: _, ...last } = parts.at(-1) as Part & { signature?: unknown };
  return [...parts.slice(0, -1), last];
}

/** The content that a client joins from a stream. */
function contentIn(frames: readonly Frame[]): JsonObject[] {
  const blocks: JsonObject[] = [];
  for (const { data } of frames) {
    const { type, content_block: block, delta } = JSON.parse(data);
    const open = blocks.at(-1)!;
    if (type === "content_block_start") blocks.push(block);
    if (type !== "content_block_delta") continue;
    if (delta.type === "text_delta") open.text += delta.text;
    if (delta.type === "thinking_delta") open.thinking += delta.thinking;
    if (delta.type === "signature_delta") open.signature = delta.signature;
  }
  return blocks;
}

/** A frame with a type of the format and arbitrary other members. */
const anyFrame = fc.tuple(
  fc.constantFrom("message_start", "content_block_start", "content_block_delta", "content_block_stop", "message_delta"),
  fc.record({
    index: fc.constantFrom(0, 1, null, "x"),
    message: fc.jsonValue(),
    content_block: fc.oneof(
      fc.jsonValue(),
      fc.record({
        type: fc.constantFrom("text", "thinking", "tool_use", "x"),
        text: fc.jsonValue(),
        input: fc.jsonValue(),
      }),
    ),
    delta: fc.oneof(
      fc.jsonValue(),
      fc.record({ type: fc.constantFrom("text_delta", "input_json_delta"), text: fc.jsonValue() }),
    ),
    usage: fc.jsonValue(),
  }, { requiredKeys: [] }),
).map(([type, fields]): Frame => ({ event: type, data: JSON.stringify({ type, ...fields }) }));

Deno.test("messages codec: the events of any stream keep the contract", () => {
  fc.assert(
    fc.property(fc.array(anyFrame, { maxLength: 12 }), (frames) => {
      replyIn([...frames, { event: "message_stop", data: '{"type":"message_stop"}' }]);
    }),
    { numRuns: 300, seed: 1 },
  );
});

Deno.test("messages codec: any vendor's body is read, or rejected as not a reply", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.array(fc.jsonValue()), (body, content) => {
      messages.upstream.readReply({ type: "message", content, usage: body, stop_reason: body, stop_details: body });
      messages.upstream.readUsage(body);
      messages.upstream.readError(body);
      messages.passThrough.watch({}).observe(JSON.stringify(body));
    }),
    { numRuns: 300, seed: 1 },
  );
});

Deno.test("messages codec: any caller's body is read, or rejected as an invalid request", () => {
  const anyBlock = fc.record({
    type: fc.constantFrom("text", "image", "document", "tool_use", "tool_result", "thinking", "x"),
    text: fc.jsonValue(),
    source: fc.oneof(fc.jsonValue(), fc.record({ type: fc.constantFrom("url", "base64", "text", "content") })),
    id: fc.jsonValue(),
    content: fc.jsonValue(),
  }, { requiredKeys: ["type"] });
  const aMessage = fc.record({
    role: fc.constantFrom("user", "assistant", "system"),
    content: fc.oneof(fc.string(), fc.jsonValue(), fc.array(anyBlock)),
  });
  const settings = fc.record({
    system: fc.jsonValue(),
    tools: fc.jsonValue(),
    tool_choice: fc.jsonValue(),
    thinking: fc.jsonValue(),
    metadata: fc.jsonValue(),
  }, { requiredKeys: [] });
  fc.assert(
    fc.property(fc.array(aMessage), settings, (sent, fields) => {
      try {
        const conversation = readChecked(messages.caller, bodyWith({ ...fields, messages: sent }));
        messages.caller.check(messages.upstream.writeRequest(conversation, targetWith()).body);
      } catch (error) {
        assert(error instanceof GatewayError && error.code === "invalid_request", String(error));
      }
    }),
    { numRuns: 500, seed: 1 },
  );
});
