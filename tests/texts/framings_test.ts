import { assertEquals } from "@std/assert";
import fc from "fast-check";
import type { Bytes, StreamTransform } from "../../src/services/calls/stream_relay.ts";
import { isToolCall } from "../../src/conversation/neutral/reply.ts";
import type { CallerFormatName } from "../../src/conversation/neutral/reasoning_signature.ts";
import { createFrameReader } from "../../src/platform/lib/streams/sse.ts";
import type { StateReference } from "../../src/services/ownership/records.ts";
import { ArrayRelay } from "../../src/services/texts/relay/array_relay.ts";
import { withIssuedIds } from "../../src/services/texts/relay/issued_ids_relay.ts";
import { eventsOf } from "../support/event_reader.ts";
import { replyOf } from "../support/assemble.ts";
import { FRAMED_IDS, FRAMED_REPLIES, FRAMED_TEXT, FRAMED_TOKENS } from "../support/framed_replies.ts";
import { FRAMINGS } from "../support/framings.ts";
import { CODECS, FORMATS } from "../support/formats.ts";
import { valueAt } from "../support/items.ts";
import { admissionRecorder, attemptOf, bodyOf, cutAt, passRelayOf, relayAll } from "./support.ts";

/** The result of a stream: the caller's bytes, the charge, and the kept ids. */
interface Passed {
  readonly sent: string;
  readonly tokens: readonly number[][];
  readonly ids: readonly string[];
}

interface Options {
  readonly asksForUsage?: boolean;
  readonly isArray?: boolean;
}

async function passed(
  form: CallerFormatName,
  pieces: readonly Uint8Array<ArrayBuffer>[],
  options: Options = {},
): Promise<Passed> {
  const recorder = admissionRecorder();
  const asked = form === "chat" && options.asksForUsage ? { stream_options: { include_usage: true } } : {};
  const attempt = attemptOf(form, { recorder, request: { body: bodyOf(form, { stream: true, ...asked }) } });
  const ids: string[] = [];
  const vendorState = {
    keep: (_owner: unknown, states: readonly StateReference[]) =>
      Promise.resolve(void ids.push(...states.map(({ kind, id }) => `${kind} ${id}`))),
    owners: () => Promise.resolve([]),
  };
  const events: StreamTransform = withIssuedIds(passRelayOf(attempt), attempt, { vendorState });
  const sent = await relayAll(options.isArray ? new ArrayRelay(events) : events, pieces);
  const tokens = recorder.charges.map(({ usage }) => [usage!.freshTokens ?? 0, usage!.outputTokens ?? 0]);
  return { sent, tokens, ids };
}

/** Returns what a client reads of a stream. */
function readBack(form: CallerFormatName, sent: string) {
  const frames = createFrameReader();
  const data = frames.push(new TextEncoder().encode(sent)).map((frame) => frame.data).filter((text) => text !== "");
  const reply = replyOf(eventsOf(CODECS[form], new TextEncoder().encode(sent)));
  const text = reply.parts.map((part) => isToolCall(part) ? "" : "text" in part ? part.text : "").join("");
  const values = data.filter((one) => one !== "[DONE]").map((one) => JSON.parse(one));
  return { text, stop: reply.stop.reason, values };
}

function assertSame(form: CallerFormatName, { sent, tokens, ids }: Passed, hidesUsage: boolean, name: string): void {
  const key = `${form} ${hidesUsage} ${JSON.stringify([tokens, ids])} ${sent}`;
  if (CHECKED.has(key)) return;
  assertEquals([tokens, ids], [[[...FRAMED_TOKENS]], FRAMED_IDS[form]], name);
  const { text, stop, values: told } = readBack(form, sent);
  assertEquals([text, stop], [FRAMED_TEXT, "end"], name);
  const values = FRAMED_REPLIES[form].filter(({ data }) => data !== "[DONE]").map(({ data }) => JSON.parse(data));
  assertEquals(told, hidesUsage ? values.filter(({ choices }) => choices.length > 0) : values, name);
  CHECKED.add(key);
}

/** What is right: most places of a split give the same bytes, tokens and ids. */
const CHECKED = new Set<string>();

/** Yields a stream in two reads, split at each byte, and in reads of one byte. */
function* cutsOf(wire: string): Generator<readonly [string, Uint8Array<ArrayBuffer>[]]> {
  const bytes = new TextEncoder().encode(wire);
  for (let at = 1; at < bytes.length; at++) yield [`cut at ${at}`, [bytes.slice(0, at), bytes.slice(at)]];
  yield ["byte by byte", Array.from(bytes, (byte) => Uint8Array.of(byte))];
  yield ["whole", [bytes]];
}

for (const form of FORMATS) {
  for (const [framing, write] of Object.entries(FRAMINGS)) {
    const wire = write(FRAMED_REPLIES[form]);

    Deno.test(`a ${form} stream with ${framing} passes with the same text, charge, end and ids, split at every byte`, async () => {
      for (const [name, pieces] of cutsOf(wire)) {
        assertSame(form, await passed(form, pieces, { asksForUsage: true }), false, name);
        if (form === "chat") assertSame(form, await passed(form, pieces), true, `usage hidden, ${name}`);
      }
    });

    Deno.test(`a ${form} stream with ${framing} is read as the same events, split at every byte`, () => {
      const expected = eventsIn(form, [new TextEncoder().encode(valueAt(FRAMINGS, "LF")(FRAMED_REPLIES[form]))]);
      for (const [name, pieces] of cutsOf(wire)) assertEquals(eventsIn(form, pieces), expected, name);
    });

    if (form !== "content") continue;
    Deno.test(`a content stream with ${framing} becomes the same JSON list, split at every byte`, async () => {
      const values = FRAMED_REPLIES.content.map(({ data }) => JSON.parse(data));
      for (const [name, pieces] of cutsOf(wire)) {
        const { sent, tokens } = await passed("content", pieces, { isArray: true });
        assertEquals([JSON.parse(sent), tokens], [values, [[...FRAMED_TOKENS]]], name);
      }
    });
  }

  Deno.test(`a ${form} stream passes identically in every framing, wherever reads are split`, async () => {
    const framings = fc.constantFrom(...Object.entries(FRAMINGS));
    const places = fc.array(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), { maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(framings, places, async ([framing, write], cuts) => {
        const pieces = cutAt(write(FRAMED_REPLIES[form]), cuts);
        assertSame(form, await passed(form, pieces, { asksForUsage: true }), false, framing);
      }),
      { numRuns: 100 },
    );
  });

  Deno.test(`a ${form} stream passes unchanged in every terminated framing, except for hidden frames`, async () => {
    for (const [framing, write] of Object.entries(FRAMINGS)) {
      const wire = write(FRAMED_REPLIES[form]).replace("\ufeff", ""); // which the test's decoder removes
      const { sent } = await passed(form, [new TextEncoder().encode(write(FRAMED_REPLIES[form]))], {
        asksForUsage: true,
      });
      assertEquals(sent.startsWith(wire), true, framing);
      assertEquals(/^[\r\n]*$/.test(sent.slice(wire.length)), true, framing);
    }
  });
}

function eventsIn(form: CallerFormatName, pieces: readonly Uint8Array[]) {
  return eventsOf(CODECS[form], ...pieces);
}

Deno.test("a stream whose data ends with a single line end is read line by line", async () => {
  const lines = FRAMED_REPLIES.chat.map(({ data }) => `data: ${data}\n`);
  const relay = passRelayOf(attemptOf("chat"));
  const sent: Bytes[] = [];
  for (const line of lines.slice(0, -1)) sent.push(await relay.take(new TextEncoder().encode(line)));
  assertEquals(sent.map((bytes) => bytes !== null), [true, true, true, true, false]);
  const { tokens } = await passed("chat", [new TextEncoder().encode(lines.join(""))]);
  assertEquals(tokens, [[...FRAMED_TOKENS]]);
});
