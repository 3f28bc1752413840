import { eventReaderOf } from "../../../support/event_reader.ts";
import { readChecked } from "../../../../src/conversation/contract/caller_format.ts";
import { assert, assertEquals } from "@std/assert";
import { chat } from "../../../../src/conversation/codecs/chat/mod.ts";
import type { JsonObject } from "../../../../src/platform/lib/json/json_object.ts";
import type { ReplyEvent } from "../../../../src/conversation/neutral/events.ts";
import type { Reply, ReplyPart } from "../../../../src/conversation/neutral/reply.ts";
import { promptTokensOf } from "../../../../src/conversation/neutral/usage.ts";
import { replyOf } from "../../../support/assemble.ts";
import { minRecordings, namesIn, RECORDING_FOLDERS } from "../../../support/recordings.ts";
import type { Loose } from "./conversations.ts";
import { RESEMBLING_QUIRKS, targetOf } from "../../../support/conversations.ts";

const FOLDERS = ["openai-chat", "openai-compatible", "openrouter"];

interface Recording {
  readonly name: string;
  readonly request: JsonObject | null;
  /** A whole body; null when the reply was streamed. */
  readonly body: unknown;
  /** The data of the stream's frames. */
  readonly data: readonly string[];
}

function* recordings(): Generator<Recording> {
  for (const folder of RECORDING_FOLDERS.flatMap((root) => FOLDERS.map((name) => `${root}/${name}`))) {
    for (const name of namesIn(folder)) {
      if (name.includes("transcription")) continue;
      const text = Deno.readTextFileSync(`${folder}/${name}`);
      if (name.endsWith(".json")) yield { name, request: null, body: JSON.parse(text), data: [] };
      else yield { name, request: null, body: null, data: dataOf(text, name.endsWith(".sse.txt")) };
    }
    for (const name of namesIn(`${folder}/exchanges`)) {
      const { exchanges } = JSON.parse(Deno.readTextFileSync(`${folder}/exchanges/${name}`));
      for (const { request, response } of exchanges as Loose[]) {
        if (!request.path.includes("chat/completions")) continue;
        const data = response.text ? dataOf(response.text, true) : [];
        yield { name, request: request.body, body: response.body ?? null, data };
      }
    }
  }
}

function dataOf(text: string, framed: boolean): string[] {
  const lines = text.split(/\r?\n/).filter((line) => line !== "");
  return framed ? lines.filter((line) => line.startsWith("data:")).map((line) => line.slice(5).trim()) : lines;
}

function eventsOf(data: readonly string[]): ReplyEvent[] {
  const reader = eventReaderOf(chat);
  return [...data.flatMap((line) => reader.read({ event: null, data: line })), ...reader.end()];
}

function textIn(parts: readonly ReplyPart[], kind: "text" | "reasoning"): string {
  return parts.filter((part) => part.kind === kind).map((part) => (part as { text: string }).text).join("");
}

function thoughtsIn(message: Loose): string {
  if (Array.isArray(message.content)) {
    const thoughts = message.content.filter((part: Loose) => part.type === "thinking");
    return thoughts.flatMap((part: Loose) => part.thinking).map((piece: Loose) => piece.text).join("");
  }
  return message.reasoning_content || message.reasoning || "";
}

function contentIn(message: Loose): string {
  if (!Array.isArray(message.content)) return message.content ?? "";
  return message.content.map((part: Loose) => part.text ?? "").join("");
}

const STOPS: Record<string, string> = { stop: "end", length: "max_tokens", tool_calls: "tool_calls" };

function assertSame(reply: Reply, told: { text: string; thoughts: string; calls: Loose[]; finish: string }): void {
  assertEquals(textIn(reply.parts, "text"), told.text);
  assertEquals(textIn(reply.parts, "reasoning"), told.thoughts);
  const calls = reply.parts.filter((part) => part.kind === "tool_call");
  assertEquals(calls.map(({ tool, input }) => [tool, input]), told.calls.map(({ name, args }) => [name, args || "{}"]));
  assert(calls.every(({ callId }) => callId !== ""));
  assertEquals(new Set(calls.map(({ callId }) => callId)).size, calls.length);
  assertEquals(reply.stop.reason, STOPS[told.finish]);
  assertEquals(reply.stop.raw, told.finish);
}

function assertUsage(reply: Reply, usage: Loose): void {
  if (!usage) return assertEquals(reply.usage, null);
  assert(reply.usage);
  assertEquals(promptTokensOf(reply.usage), usage.prompt_tokens);
  assertEquals(promptTokensOf(reply.usage) + reply.usage.outputTokens, usage.total_tokens);
  assertEquals(reply.usage.cacheReadTokens, usage.prompt_tokens_details?.cached_tokens ?? usage.num_cached_tokens ?? 0);
}

Deno.test({
  name: "chat codec reads every recorded reply without loss of text, thoughts, calls, stop or usage",
  fn() {
    let read = 0;
    for (const { name, body } of recordings()) {
      const { choices, usage } = (body ?? {}) as Loose;
      if (!choices) continue;
      const { message, finish_reason: finish } = choices[0];
      const calls = (message.tool_calls ?? []).map((call: Loose) => ({
        name: call.function.name,
        args: call.function.arguments,
      }));
      try {
        const reply = chat.upstream.readReply(body);
        assertSame(reply, { text: contentIn(message), thoughts: thoughtsIn(message), calls, finish });
        assertUsage(reply, usage);
      } catch (thrown) {
        throw new Error(`In ${name}`, { cause: thrown });
      }
      read++;
    }
    assert(read > minRecordings(100));
  },
});

/** The contents of a recorded stream, joined from its chunks. */
function toldBy(chunks: readonly Loose[]) {
  const told = { text: "", thoughts: "", calls: [] as Loose[], finish: "" };
  let usage: Loose = null;
  for (const chunk of chunks) {
    usage = chunk.usage ?? chunk.x_groq?.usage ?? usage;
    const choice = chunk.choices?.[0];
    if (!choice) continue;
    told.finish = choice.finish_reason ?? told.finish;
    const delta = choice.delta;
    told.text += contentIn(delta);
    told.thoughts += thoughtsIn(delta);
    for (const call of delta.tool_calls ?? []) {
      if (call.function.name) told.calls.push({ name: call.function.name, args: "" });
      told.calls.at(-1).args += call.function.arguments ?? "";
    }
  }
  return { told, usage };
}

Deno.test({
  name: "chat codec reads every recorded stream without loss of text, thoughts, calls, stop or usage",
  fn() {
    let read = 0;
    for (const { name, data } of recordings()) {
      if (data.length === 0) continue;
      const chunks = data.filter((line) => line !== "[DONE]").map((line) => JSON.parse(line) as Loose);
      const events = eventsOf(data);
      try {
        if (chunks.some((chunk) => chunk.error)) {
          assertEquals(events.at(-1)?.type, "error");
          continue;
        }
        const { told, usage } = toldBy(chunks);
        const reply = replyOf(events);
        assertSame(reply, told);
        assertUsage(reply, usage);
      } catch (thrown) {
        throw new Error(`In ${name}`, { cause: thrown });
      }
      read++;
    }
    assert(read > minRecordings(10));
  },
});

Deno.test({
  name: "chat codec follows the usage of every recorded stream and sees its end",
  fn() {
    for (const { name, data } of recordings()) {
      const chunks = data.filter((line) => line !== "[DONE]").map((line) => JSON.parse(line) as Loose);
      if (data.length === 0 || chunks.some((chunk) => chunk.error)) continue;
      const follower = chat.passThrough.watch({});
      for (const line of data) if (follower.isRelevant(line)) follower.observe(line);
      assert(follower.isComplete(), `${name} is seen to end`);
      assertEquals(follower.usage(), replyOf(eventsOf(data)).usage, name);
    }
  },
});

Deno.test({
  name: "chat codec takes every recorded request, and writes it back to the same words",
  fn() {
    let read = 0;
    for (const { name, request } of recordings()) {
      if (!request) continue;
      const body = JSON.parse(JSON.stringify(request));
      if (body.n > 1) continue;
      try {
        chat.caller.check(body);
        const conversation = readChecked(chat.caller, body);
        const target = targetOf({
          model: conversation.model,
          provider: "v",
          quirks: RESEMBLING_QUIRKS,
          hasWebSearch: true,
        });
        const { body: written } = chat.upstream.writeRequest(conversation, target);
        const again = readChecked(chat.caller, JSON.parse(JSON.stringify(written)));
        // A conversation of instructions only gets a user message.
        assertEquals(again.turns.length, Math.max(1, conversation.turns.length));
        assertEquals(again.tools.length, conversation.tools.length);
        assertEquals(again.webSearch, conversation.webSearch);
      } catch (thrown) {
        throw new Error(`In ${name}`, { cause: thrown });
      }
      read++;
    }
    assert(read > minRecordings(80));
  },
});

Deno.test({
  name: "chat codec finds message, word and field in every recorded error",
  fn() {
    let read = 0;
    for (const { name, body } of recordings()) {
      const error = (body as Loose)?.error;
      if (!error) continue;
      const seen = chat.upstream.readError(body);
      assertEquals(seen.message, error.message, name);
      assertEquals(seen.field, error.param ?? null, name);
      if (typeof error.code === "string") assertEquals(seen.code, error.code, name);
      read++;
    }
    assert(read >= 5);
  },
});
