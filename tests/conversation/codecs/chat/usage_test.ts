import { assert, assertEquals } from "@std/assert";
import { chat } from "../../../../src/conversation/codecs/chat/mod.ts";
import { writeUsage } from "../../../../src/conversation/codecs/chat/shared/usage.ts";
import type { JsonObject } from "../../../../src/platform/lib/json/json_object.ts";
import { MAX_COUNTER_TOKENS, NO_USAGE } from "../../../../src/conversation/neutral/usage.ts";

function read(usage: JsonObject) {
  return chat.upstream.readUsage({ usage });
}

Deno.test("chat usage splits the prompt into fresh, cached and written tokens", () => {
  const usage = {
    prompt_tokens: 100,
    completion_tokens: 9,
    total_tokens: 109,
    prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 30 },
    completion_tokens_details: { reasoning_tokens: 4 },
  };
  assertEquals(read(usage), {
    ...NO_USAGE,
    freshTokens: 10,
    cacheReadTokens: 60,
    cacheWrite5mTokens: 30,
    outputTokens: 9,
    reasoningTokens: 4,
  });
});

Deno.test("chat usage uses the total when a vendor excludes reasoning from the completion", () => {
  const xai = {
    prompt_tokens: 12,
    completion_tokens: 1,
    total_tokens: 241,
    completion_tokens_details: { reasoning_tokens: 228 },
  };
  assertEquals([read(xai)?.outputTokens, read(xai)?.reasoningTokens], [229, 228]);
  const silent = { prompt_tokens: 35, completion_tokens: 12, total_tokens: 109 };
  assertEquals([read(silent)?.outputTokens, read(silent)?.reasoningTokens], [74, 62]);
  assertEquals(read({ prompt_tokens: 5, completion_tokens: 3, total_tokens: 0 })?.outputTokens, 3);
});

Deno.test("chat usage finds cached tokens in every dialect", () => {
  assertEquals(read({ prompt_tokens: 9, completion_tokens: 0, prompt_cache_hit_tokens: 4 })?.cacheReadTokens, 4);
  assertEquals(read({ prompt_tokens: 9, completion_tokens: 0, cached_tokens: 4 })?.cacheReadTokens, 4);
  assertEquals(
    chat.upstream.readUsage({ x_groq: { usage: { prompt_tokens: 9, completion_tokens: 1 } } })?.freshTokens,
    9,
  );
});

Deno.test("chat usage is never negative or unbounded, and marks unreadable counters", () => {
  const usage = read({
    prompt_tokens: 5,
    completion_tokens: -3,
    total_tokens: 1e18,
    prompt_tokens_details: { cached_tokens: 99, cache_write_tokens: 99 },
    completion_tokens_details: { reasoning_tokens: 7 },
  });
  const outputTokens = MAX_COUNTER_TOKENS - 5;
  assertEquals(usage, { ...NO_USAGE, cacheReadTokens: 5, outputTokens, reasoningTokens: 7, isUnreadable: true });
  for (const body of [null, "x", {}, { usage: null }, { usage: { prompt_tokens: "5" } }]) {
    assertEquals(chat.upstream.readUsage(body), null);
  }
});

Deno.test("chat usage adds cache writes of both lifetimes", () => {
  const written = writeUsage({
    ...NO_USAGE,
    freshTokens: 1,
    cacheReadTokens: 2,
    cacheWrite5mTokens: 3,
    cacheWrite1hTokens: 4,
  });
  assertEquals(written.prompt_tokens, 10);
  assertEquals((written.prompt_tokens_details as JsonObject).cache_write_tokens, 7);
});

Deno.test("the chat watcher parses few frames, keeps the last usage and detects either end", () => {
  const text = '{"choices":[{"delta":{"content":"\\"usage\\":{"},"finish_reason":null}],"usage":null}';
  const follower = chat.passThrough.watch({});
  assert(!follower.isRelevant(text));
  for (const total of [3, 5]) {
    follower.observe(`{"usage":{"prompt_tokens":1,"completion_tokens":${total - 1},"total_tokens":${total}}}`);
  }
  assertEquals([follower.usage()?.outputTokens, follower.isComplete()], [4, false]);
  assert(follower.isRelevant("[DONE]"));
  follower.observe("[DONE]");
  assert(follower.isComplete());
  const unmarked = chat.passThrough.watch({});
  const last = '{"choices":[{"delta":{},"finish_reason":"stop"}]}';
  assert(unmarked.isRelevant(last));
  unmarked.observe(last);
  unmarked.observe("no json");
  assertEquals([unmarked.isComplete(), unmarked.usage()], [true, null]);
});
