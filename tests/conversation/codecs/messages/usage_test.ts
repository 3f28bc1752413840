import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { messages } from "../../../../src/conversation/codecs/messages/mod.ts";
import { usageOf, writeUsage } from "../../../../src/conversation/codecs/messages/shared/usage.ts";
import { MAX_COUNTER_TOKENS, NO_USAGE } from "../../../../src/conversation/neutral/usage.ts";
import { someUsage } from "./arbitraries.ts";

Deno.test("messages usage: reading is the inverse of writing", () => {
  fc.assert(fc.property(someUsage, (usage) => assertEquals(usageOf(writeUsage(usage)), usage)), {
    numRuns: 100,
    seed: 1,
  });
});

Deno.test("messages usage counts fresh, read and written tokens separately", () => {
  const usage = messages.upstream.readUsage({
    usage: {
      input_tokens: 10,
      cache_read_input_tokens: 20,
      cache_creation_input_tokens: 30,
      cache_creation: { ephemeral_5m_input_tokens: 18, ephemeral_1h_input_tokens: 12 },
      output_tokens: 40,
      output_tokens_details: { thinking_tokens: 15 },
    },
  });
  assertEquals(usage, {
    freshTokens: 10,
    cacheReadTokens: 20,
    cacheWrite5mTokens: 18,
    cacheWrite1hTokens: 12,
    toolPromptTokens: 0,
    outputTokens: 40,
    reasoningTokens: 15,
  });
});

Deno.test("messages usage is null without a report, is never negative or unbounded, and marks unreadable counters", () => {
  for (const body of [null, "x", {}, { usage: null }, { usage: {} }, { usage: { input_tokens: "5" } }]) {
    assertEquals(messages.upstream.readUsage(body), null);
  }
  const junk = { input_tokens: -5, output_tokens: 1e18, cache_read_input_tokens: "7", cache_creation: "x" };
  const read = { ...NO_USAGE, outputTokens: MAX_COUNTER_TOKENS, isUnreadable: true };
  assertEquals(messages.upstream.readUsage({ usage: junk }), read);
});

Deno.test("messages usage adds up every pass over the prompt", () => {
  const iteration = (type: string, input: number, output: number) => ({
    type,
    input_tokens: input,
    output_tokens: output,
  });
  const compacted = {
    input_tokens: 682,
    output_tokens: 1320,
    iterations: [iteration("compaction", 60_385, 592), iteration("message", 682, 1320)],
  };
  assertEquals(usageOf(compacted), { ...NO_USAGE, freshTokens: 61_067, outputTokens: 1912 });
  const takenOver = {
    input_tokens: 412,
    output_tokens: 264,
    iterations: [iteration("message", 408, 0), iteration("fallback_message", 412, 264)],
  };
  assertEquals(usageOf(takenOver), { ...NO_USAGE, freshTokens: 412, outputTokens: 264 });
  const short = { input_tokens: 50, output_tokens: 5, iterations: [iteration("message", 1, 1), iteration("x", 1, 1)] };
  assertEquals(usageOf(short), { ...NO_USAGE, freshTokens: 50, outputTokens: 5 });
});

Deno.test("messages usage adds prompt tokens of a vendor's tools to the fresh ones", () => {
  assertEquals(writeUsage({ ...NO_USAGE, freshTokens: 5, toolPromptTokens: 7 }).input_tokens, 12);
});

Deno.test("messages watcher: later totals replace earlier ones, and null is ignored", () => {
  const follower = messages.passThrough.watch({});
  assertEquals([follower.usage(), follower.isComplete()], [null, false]);
  const frames = [
    { type: "message_start", message: { usage: { input_tokens: 43, cache_read_input_tokens: 5, output_tokens: 1 } } },
    { type: "message_delta", delta: {}, usage: { input_tokens: 61, cache_read_input_tokens: null, output_tokens: 9 } },
    { type: "message_delta", delta: {}, usage: { output_tokens: 12 } },
  ];
  for (const frame of frames) follower.observe(JSON.stringify(frame));
  assertEquals(follower.usage(), { ...NO_USAGE, freshTokens: 61, cacheReadTokens: 5, outputTokens: 12 });
  assertEquals(follower.isComplete(), false);
  follower.observe('{"type": "message_stop"}');
  assertEquals(follower.isComplete(), true);
});

Deno.test("messages watcher parses few frames, and ignores invalid ones", () => {
  const follower = messages.passThrough.watch({});
  const deltas = ['{"type":"ping"}', '{"type":"content_block_delta","delta":{"text":"the message_stop usage"}}'];
  for (const data of deltas) assertEquals(follower.isRelevant(data), false);
  for (const type of ["message_start", "message_delta", "message_stop"]) {
    assertEquals(follower.isRelevant(`{"type": "${type}"}`), true);
  }
  follower.observe('{"type":"message_st');
  assertEquals(follower.usage(), null);
});
