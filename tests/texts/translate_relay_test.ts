import { eventReaderOf } from "../support/event_reader.ts";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import fc from "fast-check";
import type { ReplyEvent } from "../../src/conversation/neutral/events.ts";
import type { Reply } from "../../src/conversation/neutral/reply.ts";
import type { CallerFormatName, ReasoningSignature } from "../../src/conversation/neutral/reasoning_signature.ts";
import { readSignature } from "../../src/conversation/neutral/reasoning_signature.ts";
import { createFrameReader } from "../../src/platform/lib/streams/sse.ts";
import { emulationFor } from "../../src/services/texts/relay/emulation.ts";
import { BoundedMemory } from "../../src/services/texts/memory/bounded_memory.ts";
import { itemMemoryOver } from "../../src/services/texts/memory/item_memory.ts";
import { reasoningMemoryOver } from "../../src/services/texts/memory/reasoning_memory.ts";
import type { TextParts } from "../../src/services/texts/plan/attempt.ts";
import type { Bytes } from "../../src/services/calls/stream_relay.ts";
import { TranslateRelay } from "../../src/services/texts/relay/translate_relay.ts";
import type { Translation } from "../../src/services/texts/relay/translation.ts";
import { replyOf } from "../support/assemble.ts";
import { conversationOf, replyContextOf } from "../support/conversations.ts";
import { itemAt } from "../support/items.ts";
import { ManualClock } from "../support/manual_clock.ts";
import { CODECS, FORMATS } from "../support/formats.ts";
import {
  admissionRecorder,
  attemptOf,
  cutAt,
  PROVIDER_KEY,
  relayAll,
  REPLY,
  textOf,
  USAGE,
  wireOf,
} from "./support.ts";
import { untilSo } from "../support/patience.ts";

const PAIRS = FORMATS.flatMap((caller) =>
  FORMATS.filter((vendor) => vendor !== caller).map((vendor) => ({ caller, vendor }))
);
const cuts = fc.array(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), { maxLength: 12 });

function relayFor(caller: CallerFormatName, vendor: CallerFormatName, translation: Partial<Translation> = {}) {
  const recorder = admissionRecorder();
  const clock = new ManualClock();
  const memory = reasoningMemoryOver(new BoundedMemory(clock));
  const items = itemMemoryOver(new BoundedMemory(clock));
  const context = replyContextOf({
    model: "acme/m",
    includeUsage: true,
    conversation: conversationOf({ stream: true }),
  });
  const whole: Translation = {
    caching: { marks: [], hasKey: false },
    body: {},
    headers: {},
    droppedFields: [],
    emulation: emulationFor(conversationOf(), []).emulation,
    names: { issuer: "acme", tools: new Map(), properties: new Map(), customTools: new Set() },
    context,
    ...translation,
  };
  const parts = { reasoning: memory, items } as unknown as TextParts;
  return {
    recorder,
    memory,
    items,
    relay: new TranslateRelay(attemptOf(caller, { vendor, recorder }), whole, parts),
  };
}

/** Returns the events that a caller of a format reads. */
function eventsIn(form: CallerFormatName, text: string): ReplyEvent[] {
  const frames = createFrameReader();
  const reader = eventReaderOf(CODECS[form]);
  const all = [...frames.push(new TextEncoder().encode(text)), ...frames.end()];
  return [...all.flatMap((frame) => reader.read(frame)), ...reader.end()];
}

function replyIn(form: CallerFormatName, text: string): Reply {
  return replyOf(eventsIn(form, text));
}

/** Returns what every translation must preserve: text, calls and arguments, stop reason and usage. */
function gistOf({ parts, stop, usage }: Reply) {
  return {
    text: parts.flatMap((part) => part.kind === "text" ? [part.text] : []).join(""),
    thoughts: parts.flatMap((part) => part.kind === "reasoning" ? [part.text] : []).join(""),
    calls: parts.flatMap((part) => part.kind === "tool_call" ? [[part.tool, JSON.parse(part.input)]] : []),
    reason: stop.reason,
    usage: { ...usage, reasoningTokens: 0 },
  };
}

const GIST = gistOf(replyOf(REPLY));

for (const { caller, vendor } of PAIRS) {
  const wire = wireOf(vendor, REPLY);

  Deno.test(`TranslateRelay sends a ${caller} caller the reply of a ${vendor} vendor, wherever reads are split`, async () => {
    await fc.assert(
      fc.asyncProperty(cuts, async (places) => {
        const { relay, recorder } = relayFor(caller, vendor);
        assertEquals(gistOf(replyIn(caller, await relayAll(relay, cutAt(wire, places)))), GIST);
        assertEquals(recorder.charges.map(({ usage }) => usage), [USAGE]);
        assertEquals(relay.finished, true);
      }),
      { numRuns: 30 },
    );
  });

  Deno.test(`TranslateRelay withholds a ${caller} caller's end marker until the charge of a ${vendor} reply is durable`, async () => {
    const { relay, recorder } = relayFor(caller, vendor);
    let makeDurable = () => {};
    recorder.durable = () => new Promise((resolve) => makeDurable = resolve);
    const sent: Bytes[] = [];
    const pieces = wire.split(/(?<=\n\n)/).map((frame) => new TextEncoder().encode(frame));
    let held: Promise<Bytes> | null = null;
    for (const piece of pieces) {
      const taken: Bytes | Promise<Bytes> = held ? null : relay.take(piece);
      if (taken instanceof Promise) held = taken;
      else sent.push(taken);
    }
    held ??= relay.end();
    assertEquals(await Promise.race([held, Promise.resolve("pending")]), "pending");
    assertEquals(relay.finished, false);
    assert(!eventsIn(caller, textOf(sent)).some(({ type }) => type === "finish"));
    await untilSo(() => recorder.charges.length !== 0);
    makeDurable();
    assertEquals(gistOf(replyIn(caller, textOf([...sent, await held]))), GIST);
  });

  Deno.test(`TranslateRelay ends a ${caller} caller's stream with an error if the ${vendor} vendor's breaks`, async () => {
    const shown = new TextEncoder().encode(wireOf(vendor, REPLY.slice(0, -1)));
    for (let at = 0; at < shown.length; at += 97) {
      const { relay, recorder } = relayFor(caller, vendor);
      const events = eventsIn(caller, await relayAll(relay, at === 0 ? [] : [shown.slice(0, at)]));
      assertEquals(events.at(-1)?.type, "error");
      assertStringIncludes((events.at(-1) as { message: string }).message, "ended the stream before");
      assertEquals(recorder.charges.map(({ usage }) => usage?.estimated), [true]);
    }
  });

  Deno.test(`TranslateRelay sends a ${caller} caller a failure that a ${vendor} vendor reports, after the text before it`, async () => {
    const error = { type: "error", message: `Overloaded for ${PROVIDER_KEY}`, vendorCode: null, status: null } as const;
    const { relay, recorder } = relayFor(caller, vendor);
    const events = eventsIn(caller, await relayAll(relay, cutAt(wireOf(vendor, [...REPLY.slice(0, 7), error]), [])));
    const said = events.map((event) => event.type === "part-delta" ? event.text : "").join("");
    assertStringIncludes(said, "Zwei\nZeilen");
    assertEquals((events.at(-1) as { message: string }).message, "Overloaded for [redacted]");
    assertEquals(recorder.charges.length, 1);
  });

  Deno.test(`TranslateRelay charges the output if a ${caller} caller disconnects during a ${vendor} reply`, async () => {
    const { relay, recorder } = relayFor(caller, vendor);
    await relay.take(new TextEncoder().encode(wireOf(vendor, REPLY.slice(0, 7))));
    relay.onDisconnect();
    await untilSo(() => recorder.charges.length !== 0);
    const { outputTokens = 0, freshTokens = 0, estimated } = itemAt(recorder.charges, 0).usage!;
    assertEquals(estimated, true);
    assert(outputTokens > 10 && outputTokens < 40 && freshTokens > 5, `${freshTokens} in, ${outputTokens} out`);
  });

  Deno.test(`TranslateRelay restores tool names for a ${caller} caller of a ${vendor} vendor, and unwraps free text`, async () => {
    const events: ReplyEvent[] = [
      itemAt(REPLY, 0),
      { type: "part-start", index: 0, part: { kind: "tool_call", callId: "call_1", tool: "look_wire" } },
      { type: "part-delta", index: 0, text: '{"input":' },
      { type: "part-delta", index: 0, text: '"free text"}' },
      { type: "part-end", index: 0 },
      REPLY.at(-1)!,
    ];
    const tools = new Map([["look_wire", "look.up"]]);
    const names = { issuer: "acme", tools, properties: new Map(), customTools: new Set(["look.up"]) };
    const { relay } = relayFor(caller, vendor, { names });
    const { parts } = replyIn(caller, await relayAll(relay, cutAt(wireOf(vendor, events), [])));
    const [call] = parts.filter((part) => part.kind === "tool_call");
    assertEquals(call?.tool, "look.up");
    // Formats without such tools return the text as they received it.
    assertEquals(call?.custom ? call.input : JSON.parse(call!.input).input, "free text");
  });
}

Deno.test("TranslateRelay adds the issuer to every signature", async () => {
  const signature: ReasoningSignature = { format: "messages", issuer: null, value: "proof" };
  const events: ReplyEvent[] = [
    ...REPLY.slice(0, 3),
    { type: "part-signature", index: 0, signature },
    ...REPLY.slice(3),
  ];
  const { relay } = relayFor("responses", "messages");
  const text = await relayAll(relay, cutAt(wireOf("messages", events), []));
  const carried = itemAt(/"encrypted_content":"([^"]+)"/.exec(text)!, 1);
  assertEquals(readSignature(carried, "responses"), { ...signature, issuer: "acme" });
});

Deno.test("TranslateRelay keeps the signatures of a chat caller's tool calls", async () => {
  const signature: ReasoningSignature = { format: "messages", issuer: null, value: "proof" };
  const { relay, memory } = relayFor("chat", "messages");
  const events: ReplyEvent[] = [
    ...REPLY.slice(0, 3),
    { type: "part-signature", index: 0, signature },
    ...REPLY.slice(3),
  ];
  await relayAll(relay, cutAt(wireOf("messages", events), [0.5]));
  const call = { kind: "tool_call", callId: "call_1", tool: "look", input: "{}" } as const;
  const { turns } = memory.restore("demo", conversationOf({ turns: [{ role: "assistant", parts: [call] }] }));
  const [thought] = itemAt(turns, 0).parts;
  assertEquals(thought, {
    kind: "reasoning",
    text: "Überlegung — 考える",
    signature: { ...signature, issuer: "acme" },
  });
});

Deno.test("TranslateRelay keeps every item of a responses caller's reply", async () => {
  const { relay, items } = relayFor("responses", "chat");
  const broken: ReplyEvent[] = REPLY.map((event) =>
    event.type === "part-delta" && event.index === 2 && event.text.startsWith('"')
      ? { ...event, text: "no JSON" }
      : event
  );
  const text = await relayAll(relay, cutAt(wireOf("chat", broken), []));
  const ids = [...text.matchAll(/"type":"response.output_item.done".*?"item":\{"id":"([^"]+)"/g)].map(([, id]) => id);
  assert(ids.length >= 2, text);
  for (const id of ids) {
    const { input } = items.resolve("demo", { input: [{ type: "item_reference", id }] });
    assertEquals(itemAt(input as { id: string; type: string }[], 0).id, id);
    assert(itemAt(input as { type: string }[], 0).type !== "item_reference", `${id} is not remembered`);
  }
});

Deno.test("TranslateRelay ends the text at a stop sequence that the vendor does not support, and reads no further", async () => {
  const conversation = conversationOf({ sampling: { ...conversationOf().sampling, stop: ["Zeilen"] } });
  const { emulation } = emulationFor(conversation, ["stop"]);
  const { relay, recorder } = relayFor("messages", "responses", { emulation });
  const reply = replyIn("messages", await relayAll(relay, cutAt(wireOf("responses", REPLY), [0.2, 0.5, 0.7])));
  assertEquals(reply.parts.at(-1), { kind: "text", text: "Grüße, 世界! Zwei\n" });
  assertEquals([reply.stop.reason, reply.stop.sequence], ["stop_sequence", "Zeilen"]);
  assertEquals(itemAt(recorder.charges, 0).usage!.estimated, true);
});

Deno.test("TranslateRelay sends the text before a frame that is not JSON, then reports an unreadable response", async () => {
  const { relay, recorder } = relayFor("messages", "chat");
  const text = await relayAll(relay, cutAt(`${wireOf("chat", REPLY.slice(0, 7))}data: <html>\n\n`, []));
  assertStringIncludes(text, "Grüße");
  assertEquals(
    (eventsIn("messages", text).at(-1) as { message: string }).message,
    'Provider "acme" returned an invalid response',
  );
  assertEquals([relay.finished, recorder.charges.length], [true, 1]);
});

Deno.test("TranslateRelay sends the caller an error in place of the end marker if the charge is lost", async () => {
  for (const { caller, vendor } of PAIRS) {
    const { relay, recorder } = relayFor(caller, vendor);
    recorder.durable = () => Promise.reject(new Error("store is gone"));
    const text = await relayAll(relay, cutAt(wireOf(vendor, REPLY), []));
    assertStringIncludes(text, "世界");
    assertEquals((eventsIn(caller, text).at(-1) as { message: string }).message, "Unexpected internal error");
  }
});

Deno.test("TranslateRelay ends at a frame above 1 MB", async () => {
  const { relay, recorder } = relayFor("messages", "chat");
  const piece = new TextEncoder().encode(`data: {"x":"${"y".repeat(600_000)}`);
  const events = eventsIn("messages", await relayAll(relay, [piece, piece, piece]));
  assertEquals(events.at(-1)?.type, "error");
  assertEquals(recorder.charges.length, 1);
});

Deno.test("TranslateRelay ends a stream with an error event if a frame has too many values", async () => {
  const { relay } = relayFor("messages", "chat");
  const frame = `data: {"id":"c","choices":[],"junk":[${"[],".repeat(60_000)}0]}\n\n`;
  const text = new TextDecoder().decode(await relay.take(new TextEncoder().encode(frame)) ?? undefined);
  assertEquals([relay.finished, text.includes('"type":"error"')], [true, true]);
});
