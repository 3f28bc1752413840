import { itemAt } from "../support/items.ts";
import { passRelayOf } from "./support.ts";
import { eventReaderOf, eventsOf } from "../support/event_reader.ts";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import fc from "fast-check";
import type { CallerFormatName } from "../../src/conversation/neutral/reasoning_signature.ts";
import { createFrameReader } from "../../src/platform/lib/streams/sse.ts";
import type { Bytes } from "../../src/services/calls/stream_relay.ts";
import type { Frame } from "../../src/platform/lib/streams/frame.ts";
import { MemoryBudget } from "../../src/platform/lib/process/memory_budget.ts";
import { CODECS, FORMATS } from "../support/formats.ts";
import { FRAMED_REPLIES } from "../support/framed_replies.ts";
import { FRAMINGS } from "../support/framings.ts";
import {
  admissionRecorder,
  attemptOf,
  bodyOf,
  cutAt,
  PROVIDER_KEY,
  relayAll,
  REPLY,
  textOf,
  USAGE,
  wireOf,
} from "./support.ts";
import { untilSo } from "../support/patience.ts";

const LINE_ENDS = { LF: "\n", CRLF: "\r\n", CR: "\r" };
const cuts = fc.array(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), { maxLength: 12 });
const INCLUDES_USAGE = { body: bodyOf("chat", { stream_options: { include_usage: true } }) };

/** Creates a relay for a caller that receives everything from the vendor, and records the charges. */
function relayFor(form: CallerFormatName, request = form === "chat" ? INCLUDES_USAGE : {}) {
  const recorder = admissionRecorder();
  return { recorder, relay: passRelayOf(attemptOf(form, { recorder, request })) };
}

function framesIn(text: string) {
  const reader = createFrameReader();
  return [...reader.push(new TextEncoder().encode(text)), ...reader.end()];
}

/** Returns the last frame of a text that reports a failure in the format. */
function failureIn(form: CallerFormatName, text: string): { message: string; frames: number } | null {
  const failures = framesIn(text).flatMap((frame) => {
    try {
      const events = eventReaderOf(CODECS[form]).read(frame);
      return events.flatMap((event) => event.type === "error" ? [event.message] : []);
    } catch {
      return ["unreadable"];
    }
  });
  return failures.length === 0 ? null : { message: failures.at(-1)!, frames: failures.length };
}

for (const form of FORMATS) {
  for (const [name, lineEnd] of Object.entries(LINE_ENDS)) {
    const wire = wireOf(form, REPLY, lineEnd);

    Deno.test(`PassRelay passes a ${form} stream with ${name} unchanged, split at one position`, async () => {
      const { length } = new TextEncoder().encode(wire);
      for (let at = 1; at < length; at += name === "CRLF" ? 2 : 7) {
        const { relay, recorder } = relayFor(form);
        assertEquals(await relayAll(relay, cutAt(wire, [at / length + 1e-9])), wire);
        assertEquals(recorder.charges.map(({ usage }) => usage), [USAGE]);
      }
    });

    Deno.test(`PassRelay passes a ${form} stream with ${name} unchanged, split at many positions`, async () => {
      await fc.assert(
        fc.asyncProperty(cuts, async (places) => {
          const { relay, recorder } = relayFor(form);
          assertEquals(await relayAll(relay, cutAt(wire, places)), wire);
          assertEquals(recorder.charges.map(({ usage }) => usage), [USAGE]);
        }),
        { numRuns: 50 },
      );
    });
  }

  Deno.test(`PassRelay charges the usage of a ${form} stream once`, async () => {
    const { relay, recorder } = relayFor(form);
    await relayAll(relay, cutAt(wireOf(form, REPLY), []));
    const { requestId, model, provider, amount, usage, kind } = itemAt(recorder.charges, 0);
    assertEquals([requestId, model, provider, kind], ["req_1", "acme/m", "acme", "text"]);
    assertEquals(usage, USAGE);
    // 12 tokens at 0.001 and 30 at 0.002 USD, in units of 10^-10 USD.
    assertEquals(amount, 720_000_000n);
  });

  Deno.test(`PassRelay withholds only the usage and the end of a ${form} stream until the charge is durable`, async () => {
    const { relay, recorder } = relayFor(form);
    let makeDurable = () => {};
    recorder.durable = () => new Promise((resolve) => makeDurable = resolve);
    const frames = wireOf(form, REPLY).split(/(?<=\n\n)/);
    const sent: Bytes[] = [];
    let held: Promise<Bytes> | null = null;
    for (const frame of frames) {
      const taken = relay.take(new TextEncoder().encode(frame));
      if (taken instanceof Promise) {
        held = taken;
        break;
      }
      sent.push(taken);
    }
    assert(held !== null);
    const turnOver = new Promise((resolve) => setTimeout(() => resolve("pending")));
    assertEquals(await Promise.race([held, turnOver]), "pending");
    // In these formats the end mark follows the usage.
    const withheld = form === "chat" || form === "messages" ? 2 : 1;
    assertEquals(textOf(sent), frames.slice(0, -withheld).join(""));
    makeDurable();
    assertEquals(textOf([await held]), frames.slice(-withheld).join(""));
  });

  Deno.test(`PassRelay ends a ${form} stream that breaks anywhere with one valid error event, and charges the output`, async () => {
    const wire = new TextEncoder().encode(wireOf(form, REPLY));
    const marks: Record<CallerFormatName, string> = {
      chat: '"finish_reason":"tool_calls"',
      responses: '"type":"response.completed"',
      messages: '"type":"message_stop"',
      content: '"finishReason"',
    };
    const lastLine = wireOf(form, REPLY).lastIndexOf("data:", wireOf(form, REPLY).indexOf(marks[form]));
    const { length } = new TextEncoder().encode(wireOf(form, REPLY).slice(0, lastLine));
    for (let at = 0; at < length; at += 7) {
      const { relay, recorder } = relayFor(form);
      const text = await relayAll(relay, at === 0 ? [] : [wire.slice(0, at)]);
      const failure = failureIn(form, text);
      assertStringIncludes(failure!.message, "ended the stream before the reply was complete");
      assertEquals(failure!.frames, form === "responses" ? 2 : 1, `cut at ${at}`);
      assertEquals(recorder.charges.length, 1);
      assertEquals(itemAt(recorder.charges, 0).usage!.estimated, true);
    }
  });

  Deno.test(`PassRelay charges a ${form} caller that disconnects for the output so far`, async () => {
    const { relay, recorder } = relayFor(form);
    const wire = wireOf(form, REPLY);
    await relay.take(new TextEncoder().encode(wire.slice(0, wire.indexOf("Zwei") + 4)));
    relay.onDisconnect();
    await untilSo(() => recorder.charges.length !== 0);
    const { estimated, outputTokens = 0, freshTokens = 0 } = itemAt(recorder.charges, 0).usage!;
    assertEquals(estimated, true);
    assert(outputTokens > 5 && outputTokens < 60, String(outputTokens));
    assert(freshTokens > 5 && freshTokens < 30, String(freshTokens));
  });

  Deno.test(`PassRelay passes a failure that a ${form} vendor reports, adds no other, and charges`, async () => {
    const reported: Record<CallerFormatName, string> = {
      chat: 'data: {"error":{"message":"Overloaded","type":"server_error","code":null,"param":null}}\n\n',
      responses: 'event: error\ndata: {"type":"error","code":"server_error","message":"Overloaded","param":null}\n\n',
      messages: 'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n',
      content: 'data: {"error":{"code":503,"message":"Overloaded","status":"UNAVAILABLE"}}\n\n',
    };
    const begun = wireOf(form, REPLY.slice(0, 7));
    await fc.assert(
      fc.asyncProperty(cuts, async (places) => {
        const { relay, recorder } = relayFor(form);
        assertEquals(await relayAll(relay, cutAt(begun + reported[form], places)), begun + reported[form]);
        assertEquals(recorder.charges.length, 1);
      }),
      { numRuns: 20 },
    );
    const { relay: charging, recorder } = relayFor(form);
    await charging.take(new TextEncoder().encode(begun));
    let isSent = false;
    recorder.durable = () => Promise.resolve().then(() => assert(!isSent, "the charge precedes the event"));
    await charging.take(new TextEncoder().encode(reported[form]));
    isSent = true;
    assertEquals(recorder.charges.length, 1);
    await charging.end();
    assertEquals(recorder.charges.length, 1);
    const secret = `Overloaded for ${PROVIDER_KEY}`;
    const { relay } = relayFor(form);
    const text = await relayAll(relay, cutAt(begun + reported[form].replace("Overloaded", secret), [0.5]));
    assertEquals(failureIn(form, text)!.message, "Overloaded for [redacted]");
    assert(!text.includes(PROVIDER_KEY));
  });

  Deno.test(`PassRelay ends a ${form} stream with an event above 32 MB, with a valid error event`, async () => {
    const { relay, recorder } = relayFor(form);
    const piece = `data: {"x":"${"y".repeat(7_000_000)}`;
    const text = await relayAll(relay, Array.from({ length: 5 }, () => new TextEncoder().encode(piece)));
    assertEquals(failureIn(form, text)!.message, 'Provider "acme" returned an invalid response');
    assert(text.length < 5_000);
    assertEquals(recorder.charges.length, 1);
  });

  Deno.test(`PassRelay sends a ${form} caller an error in place of the end marker if the charge is lost`, async () => {
    const { relay, recorder } = relayFor(form);
    recorder.durable = () => Promise.reject(new Error("store is gone"));
    const text = await relayAll(relay, cutAt(wireOf(form, REPLY), [0.4]));
    assertEquals(failureIn(form, text)!.message, "Unexpected internal error");
  });
}

Deno.test("PassRelay hides only the usage chunk from a chat caller that did not request it, wherever reads are split", async () => {
  for (const [name, lineEnd] of Object.entries(LINE_ENDS)) {
    const wire = wireOf("chat", REPLY, lineEnd);
    const frames = wire.split(new RegExp(`(?<=${lineEnd}${lineEnd})`));
    const shown = frames.filter((frame) => !frame.includes('"choices":[]'));
    assertEquals(shown.length, frames.length - 1);
    const { length } = new TextEncoder().encode(wire);
    for (let at = 0; at < length; at++) {
      const { relay, recorder } = relayFor("chat", {});
      assertEquals(await relayAll(relay, cutAt(wire, [at / length + 1e-9])), shown.join(""), `${name}, cut at ${at}`);
      assertEquals(itemAt(recorder.charges, 0).usage, USAGE);
    }
    await fc.assert(
      fc.asyncProperty(cuts, async (places) => {
        const { relay } = relayFor("chat", {});
        assertEquals(await relayAll(relay, cutAt(wire, places)), shown.join(""));
      }),
      { numRuns: 50 },
    );
  }
});

Deno.test("PassRelay hides a usage chunk that is an unterminated last line", async () => {
  const wire = wireOf("chat", REPLY);
  const end = wire.indexOf("\n\ndata: [DONE]");
  const { relay, recorder } = relayFor("chat", {});
  const text = await relayAll(relay, cutAt(wire.slice(0, end), []));
  assert(!text.includes('"usage":{'));
  assertEquals(itemAt(recorder.charges, 0).usage, USAGE);
});

Deno.test("PassRelay passes a chunk with neither choices nor usage", async () => {
  const filter = 'data: {"choices":[],"prompt_filter_results":[],"usage":null}\n\n';
  const { relay } = relayFor("chat", {});
  assertStringIncludes(await relayAll(relay, cutAt(filter + wireOf("chat", REPLY), [])), filter);
});

Deno.test("PassRelay charges the last usage of a vendor that sends running totals before and after the finish reason", async () => {
  const chunk = (completion: number, finish: string | null) =>
    `data: {"choices":[{"index":0,"delta":{},"finish_reason":${JSON.stringify(finish)}}],` +
    `"usage":{"prompt_tokens":5,"completion_tokens":${completion}}}\n\n`;
  const wire = chunk(1, null) + chunk(2, "stop") + chunk(3, null) + "data: [DONE]\n\n";
  const { relay, recorder } = relayFor("chat");
  assertEquals(await relayAll(relay, wire.split(/(?<=\n\n)/).map((text) => new TextEncoder().encode(text))), wire);
  assertEquals(itemAt(recorder.charges, 0).usage!.outputTokens, 3);
});

Deno.test("PassRelay treats a chat stream without [DONE] as complete after a finish reason", async () => {
  const wire = wireOf("chat", REPLY).replace("data: [DONE]\n\n", "");
  const { relay, recorder } = relayFor("chat");
  assertEquals(await relayAll(relay, cutAt(wire, [0.3, 0.6])), wire);
  assertEquals(itemAt(recorder.charges, 0).usage, USAGE);
});

Deno.test("PassRelay estimates the usage of a complete reply that reports none", async () => {
  const finish = { type: "finish", stop: { reason: "end", raw: "stop" }, usage: null } as const;
  const wire = wireOf("chat", [...REPLY.slice(0, -1), finish]);
  const { relay, recorder } = relayFor("chat");
  assertEquals(await relayAll(relay, cutAt(wire, [])), wire);
  const { estimated, outputTokens = 0 } = itemAt(recorder.charges, 0).usage!;
  assertEquals(estimated, true);
  assert(outputTokens > 20 && outputTokens < 60, String(outputTokens));
});

Deno.test("PassRelay sends a heartbeat only between frames, and none to content callers", () => {
  for (const form of FORMATS) {
    const { relay } = relayFor(form);
    const beats: boolean[] = [];
    const wire = wireOf(form, REPLY);
    const begun = wire.slice(0, wire.indexOf("\n\n") + 2);
    for (const piece of [begun.slice(0, 20), begun.slice(20, -1), "\n", "data: {}\n", "\n: half a com"]) {
      relay.take(new TextEncoder().encode(piece));
      beats.push(relay.heartbeat(15_000) !== null);
    }
    // The beginning of a line is held back here, so it does not prevent a heartbeat.
    assertEquals(beats, form === "content" ? Array(5).fill(false) : [true, false, true, false, true], form);
  }
});

Deno.test("PassRelay sends responses callers an event after a minute of silence, and comments before", () => {
  for (const form of FORMATS) {
    const { relay } = relayFor(form);
    const beat = (silentMs: number) => new TextDecoder().decode(relay.heartbeat(silentMs) ?? new Uint8Array());
    const early = beat(60_000);
    assert(!early.includes("keepalive"), "clients fail on an event before the first one");
    const wire = wireOf(form, REPLY);
    relay.take(new TextEncoder().encode(wire.slice(0, wire.indexOf("\n\n") + 2)));
    assertEquals(beat(59_999), early);
    const event = 'event: keepalive\ndata: {"type":"keepalive","sequence_number":1}\n\n';
    assertEquals(beat(60_000), form === "responses" ? event : early);
  }
});

Deno.test("PassRelay sends no error after a complete reply, however the connection ends", async () => {
  for (const form of FORMATS) {
    const { relay, recorder } = relayFor(form);
    await relay.take(new TextEncoder().encode(wireOf(form, REPLY)));
    assertEquals(await relay.fail(new Error("connection reset")), null);
    assertEquals(recorder.charges.map(({ usage }) => usage), [USAGE]);
  }
});

/** Returns the failure frames of a responses stream that broke after some of its frames. */
async function brokenResponses(write: (frames: readonly Frame[]) => string, count: number) {
  const { relay } = relayFor("responses");
  const sent = await relayAll(relay, [new TextEncoder().encode(write(FRAMED_REPLIES.responses.slice(0, count)))]);
  return framesIn(sent).slice(-2).map(({ data }) => JSON.parse(data));
}

Deno.test("PassRelay ends a broken responses stream with the vendor's sequence numbers and id, in every framing", async () => {
  for (const [name, write] of Object.entries(FRAMINGS)) {
    const [error, failed] = await brokenResponses(write, 4);
    assertEquals([error.type, error.sequence_number], ["error", 4], name);
    assertEquals([failed.type, failed.sequence_number], ["response.failed", 5], name);
    assertEquals([failed.response.id, failed.response.created_at], ["resp_1", 7], name);
  }
  const [error, failed] = await brokenResponses(FRAMINGS.LF!, 0);
  assertEquals([error.sequence_number, failed.sequence_number], [0, 1]);
});

Deno.test("PassRelay continues the sequence numbers after a responses vendor's failure that contains a secret", async () => {
  const begun = FRAMINGS.LF!(FRAMED_REPLIES.responses.slice(0, 3));
  const failure = {
    type: "error",
    code: "server_error",
    message: `no ${PROVIDER_KEY}`,
    param: null,
    sequence_number: 3,
  };
  const last = `event: error\ndata: ${JSON.stringify(failure)}\n\n`;
  for (const pieces of [[begun + last], [begun, last]]) {
    const each = relayFor("responses").relay;
    const sent = await relayAll(each, pieces.map((piece) => new TextEncoder().encode(piece)));
    assertEquals(sent.includes(PROVIDER_KEY), false);
    const [error, failed] = framesIn(sent).slice(-2).map(({ data }) => JSON.parse(data));
    assertEquals([error.sequence_number, failed.sequence_number, failed.response.id], [3, 4, "resp_1"]);
  }
});

Deno.test("PassRelay drops half an event after the finish reason, and terminates the last frame", async () => {
  const whole = wireOf("chat", REPLY);
  const { relay, recorder } = relayFor("chat");
  const cut = whole.slice(0, whole.lastIndexOf('"usage":{'));
  const sent = await relayAll(relay, [new TextEncoder().encode(cut)]);
  assertEquals(sent, whole.slice(0, cut.lastIndexOf("data:")));
  assertEquals(itemAt(recorder.charges, 0).usage!.estimated, true);
});

Deno.test("PassRelay passes a picture of several megabytes in one event", async () => {
  const { relay, recorder } = relayFor("content");
  const picture = { inlineData: { mimeType: "image/png", data: "a".repeat(5_000_000) } };
  const candidates = [{ content: { parts: [picture] }, finishReason: "STOP" }];
  const usageMetadata = { promptTokenCount: 12, candidatesTokenCount: 30 };
  const wire = `data: ${JSON.stringify({ candidates, usageMetadata })}\r\n\r\n`;
  const sent = await relayAll(relay, cutAt(wire, Array.from({ length: 300 }, (_, nth) => nth / 300)));
  assertEquals([sent.length, sent === wire], [wire.length, true]);
  assertEquals([itemAt(recorder.charges, 0).usage!.outputTokens, itemAt(recorder.charges, 0).usage!.imagesMade], [
    30,
    1,
  ]);
  const events = eventsOf(CODECS.content, ...cutAt(wire, [0.2, 0.4, 0.6]));
  assertEquals(events.map(({ type }) => type), ["start", "image", "finish"]);
});

Deno.test("PassRelay ends a stream whose event exceeds the account's memory", async () => {
  const budget = new MemoryBudget(8_000_000);
  const recorder = admissionRecorder();
  const attempt = attemptOf("content", { recorder, request: { memory: budget.lease("demo") } });
  const relay = passRelayOf(attempt);
  const pieces = ['data: {"a":"', ...Array<string>(16).fill("a".repeat(500_000))];
  const sent = await relayAll(relay, pieces.map((piece) => new TextEncoder().encode(piece)));
  assertEquals(JSON.parse(sent.slice("data: ".length)).error.code, 503);
  assertEquals(recorder.charges.length, 1);
  assert(budget.hasRoomFor("demo", 2_000_000));
});
