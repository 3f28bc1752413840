import { assertEquals } from "@std/assert";
import { content } from "../../../../src/conversation/codecs/content/mod.ts";

Deno.test("readUsage subtracts cached tokens from the prompt, and adds reasoning to the output", () => {
  const usageMetadata = {
    promptTokenCount: 3520,
    cachedContentTokenCount: 3512,
    candidatesTokenCount: 2,
    thoughtsTokenCount: 42,
    toolUsePromptTokenCount: 10,
    totalTokenCount: 3574,
  };
  assertEquals(content.upstream.readUsage({ usageMetadata }), {
    freshTokens: 8,
    cacheReadTokens: 3512,
    cacheWrite5mTokens: 0,
    cacheWrite1hTokens: 0,
    toolPromptTokens: 10,
    outputTokens: 44,
    reasoningTokens: 42,
  });
});

Deno.test("readUsage bounds counters, marks unreadable ones, and returns null without counters", () => {
  const usageMetadata = { promptTokenCount: -5, candidatesTokenCount: "7", thoughtsTokenCount: 1e18 };
  const usage = content.upstream.readUsage({ usageMetadata });
  assertEquals([usage?.freshTokens, usage?.outputTokens, usage?.reasoningTokens], [0, 1e10, 1e10]);
  assertEquals(usage?.isUnreadable, true);
  const greedy = content.upstream.readUsage({ usageMetadata: { promptTokenCount: 3, cachedContentTokenCount: 9 } });
  assertEquals([greedy?.freshTokens, greedy?.cacheReadTokens], [0, 9]);
  for (const body of [null, "x", {}, { usageMetadata: { trafficType: "ON_DEMAND" } }]) {
    assertEquals(content.upstream.readUsage(body), null);
  }
});

Deno.test("the content watcher uses the last totals, parses few chunks, and detects the end", () => {
  const chunk = (count: number, reason?: string) =>
    JSON.stringify({
      candidates: [{ content: { parts: [{ text: 'he said "finishReason" and "TokenCount"' }] }, finishReason: reason }],
      usageMetadata: { promptTokenCount: 5, candidatesTokenCount: count },
    });
  const follower = content.passThrough.watch({});
  assertEquals([follower.usage(), follower.isComplete()], [null, false]);
  follower.observe(chunk(1));
  assertEquals(follower.usage()?.outputTokens, 1);
  follower.observe(chunk(4));
  assertEquals([follower.usage()?.outputTokens, follower.isComplete()], [4, false]);
  follower.observe(chunk(9, "STOP"));
  assertEquals([follower.usage()?.outputTokens, follower.isComplete()], [9, true]);
  follower.observe(JSON.stringify({ usageMetadata: { promptTokenCount: 6, candidatesTokenCount: 10 } }));
  assertEquals([follower.usage()?.freshTokens, follower.usage()?.outputTokens], [6, 10]);
});

Deno.test("the content watcher ignores text that mentions keys", () => {
  const follower = content.passThrough.watch({});
  const data = JSON.stringify({ candidates: [{ content: { parts: [{ text: '"finishReason" "TokenCount"' }] } }] });
  assertEquals(follower.isRelevant(data), false);
  assertEquals(follower.isRelevant('{"usageMetadata":{"promptTokenCount":1}}'), true);
  assertEquals(follower.isRelevant('{"promptFeedback":{"blockReason":"SAFETY"}}'), true);
});

Deno.test("the content watcher does not treat text in a call's arguments as the end", () => {
  const follower = content.passThrough.watch({});
  const functionCall = { name: "f", args: { finishReason: "STOP", blockReason: "SAFETY" } };
  const data = JSON.stringify({ candidates: [{ content: { parts: [{ functionCall }] } }] });
  if (follower.isRelevant(data)) follower.observe(data);
  assertEquals(follower.isComplete(), false);
});

Deno.test("the content watcher keeps its usage when the last chunk has none, or is not JSON", () => {
  const follower = content.passThrough.watch({});
  follower.observe('{"usageMetadata":{"promptTokenCount":3}}');
  follower.observe('{"candidates":[{"finishReason":"STOP"}]}');
  follower.observe('{"TokenCount":');
  assertEquals([follower.usage()?.freshTokens, follower.isComplete()], [3, true]);
  const blocked = content.passThrough.watch({});
  blocked.observe('{"promptFeedback":{"blockReason":"SAFETY"}}');
  assertEquals([blocked.usage(), blocked.isComplete()], [null, true]);
});
