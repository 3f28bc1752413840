import { eventReaderOf } from "../../../support/event_reader.ts";
import { readChecked } from "../../../../src/conversation/contract/caller_format.ts";
import { assert, assertEquals } from "@std/assert";
import type { JsonObject } from "../../../../src/platform/lib/json/json_object.ts";
import { responses } from "../../../../src/conversation/codecs/responses/mod.ts";
import type { ReplyEvent } from "../../../../src/conversation/neutral/events.ts";
import type { Reply } from "../../../../src/conversation/neutral/reply.ts";
import { promptTokensOf } from "../../../../src/conversation/neutral/usage.ts";
import { replyOf } from "../../../support/assemble.ts";
import { minRecordings } from "../../../support/recordings.ts";
import { valueAt } from "../../../support/items.ts";
import { CONTEXT, TARGET } from "./context.ts";
import { recordedReplies, recordedRequests, recordedStreams } from "./fixtures.ts";

interface Told {
  readonly text: string;
  readonly calls: readonly unknown[];
  readonly thoughts: string;
  readonly tokens: readonly number[];
}

/** The contents of a response object, read without the codec. */
function saidBy(response: JsonObject): Told {
  const output = response.output as JsonObject[];
  const texts = (part: unknown): string[] => (part as JsonObject[] ?? []).map((one) => String(one.text ?? ""));
  const usage = response.usage as Record<string, number>;
  return {
    text: output.filter(({ type }) => type === "message").flatMap(({ content }) => texts(content)).join("|"),
    calls: output.filter(({ type }) => type === "function_call" || type === "custom_tool_call")
      .map((item) => [item.call_id, item.name, item.arguments ?? item.input]),
    thoughts: output.filter(({ type }) => type === "reasoning")
      .map((item) => texts(item.content).join("\n\n") || texts(item.summary).join("\n\n")).join(""),
    tokens: [valueAt(usage, "input_tokens"), valueAt(usage, "output_tokens")],
  };
}

function saidIn(reply: Reply): Told {
  return {
    text: reply.parts.flatMap((part) => part.kind === "text" ? [part.text] : []).join("|"),
    calls: reply.parts.flatMap((part) => part.kind === "tool_call" ? [[part.callId, part.tool, part.input]] : []),
    thoughts: reply.parts.flatMap((part) => part.kind === "reasoning" ? [part.text] : []).join(""),
    tokens: reply.usage ? [promptTokensOf(reply.usage), reply.usage.outputTokens] : [],
  };
}

function readAll(events: readonly JsonObject[]): ReplyEvent[] {
  const reader = eventReaderOf(responses);
  const read = events.flatMap((data) => reader.read({ event: String(data.type), data: JSON.stringify(data) }));
  return [...read, ...reader.end()];
}

Deno.test({
  name: "every recorded reply is read with its text, calls, thoughts, stop and usage",
  fn() {
    const recorded = recordedReplies();
    assert(recorded.length > minRecordings(50), `expected more recordings, got ${recorded.length}`);
    for (const { name, body } of recorded) {
      const reply = responses.upstream.readReply(body);
      assertEquals(saidIn(reply), saidBy(body), name);
      assertEquals(reply.stop.reason, saidBy(body).calls.length > 0 ? "tool_calls" : "end", name);
    }
  },
});

Deno.test({
  name: "every recorded stream is read to what its last event holds",
  fn() {
    const recorded = recordedStreams().filter(({ body }) => body.at(-1)!.type === "response.completed");
    assert(recorded.length > minRecordings(25), `expected more recordings, got ${recorded.length}`);
    for (const { name, body } of recorded) {
      const reply = replyOf(readAll(body));
      assertEquals(saidIn(reply), saidBy(body.at(-1)!.response as JsonObject), name);
      const follower = responses.passThrough.watch({});
      for (const data of body.map((event) => JSON.stringify(event))) {
        if (follower.isRelevant(data)) follower.observe(data);
      }
      assertEquals([follower.usage(), follower.isComplete()], [reply.usage, true], name);
    }
  },
});

Deno.test({
  name: "a recorded stream that was cut gives no finish",
  fn() {
    for (const { name, body } of recordedStreams().filter(({ body }) => body.length > 3)) {
      const events = readAll(body.slice(0, -1));
      assertEquals(events.some(({ type }) => type === "finish"), false, name);
      const open = events.filter(({ type }) => type === "part-start").length;
      assertEquals(events.filter(({ type }) => type === "part-end").length, open, name);
    }
  },
});

Deno.test({
  name: "what is read from a recording and written again reads alike, whole and streamed",
  fn() {
    for (const { name, body } of recordedReplies()) {
      const reply = responses.upstream.readReply(body);
      const again = responses.upstream.readReply(responses.caller.writeReply(reply, CONTEXT).body);
      assertEquals([again.parts.length, saidIn(again)], [reply.parts.length, saidIn(reply)], name);
    }
    for (const { name, body } of recordedStreams()) {
      const events = readAll(body);
      if (events.at(-1)?.type !== "finish") continue;
      const writer = responses.caller.eventWriter(CONTEXT);
      const reader = eventReaderOf(responses);
      const again = replyOf(events.flatMap((event) => writer.write(event)).flatMap((frame) => reader.read(frame)));
      assertEquals(saidIn(again), saidIn(replyOf(events)), name);
    }
  },
});

Deno.test({
  name: "every recorded request passes the check; those without state are read and written again",
  fn() {
    const recorded = recordedRequests();
    assert(recorded.length > minRecordings(50), `expected more recordings, got ${recorded.length}`);
    let translated = 0;
    for (const { name, body } of recorded) {
      responses.caller.check(body);
      if (body.previous_response_id || body.conversation || body.background) continue;
      if (JSON.stringify(body.input).includes('"compaction"')) continue;
      const told = readChecked(responses.caller, body);
      if (told.turns.length === 0) continue; // a request without turns is written with a minimal one
      const written = responses.upstream.writeRequest(told, { ...TARGET, hasWebSearch: true });
      responses.caller.check(written.body);
      const again = readChecked(responses.caller, JSON.parse(JSON.stringify(written.body)));
      assertEquals(again.turns.map(({ role }) => role), told.turns.map(({ role }) => role), name);
      translated++;
    }
    assert(translated > minRecordings(40), `expected more requests, got ${translated}`);
  },
});
