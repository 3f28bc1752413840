import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { countTokens as exactly } from "gpt-tokenizer";
import { countPromptTokens, countTextTokens, estimatedUsage } from "../../src/services/texts/plan/token_estimate.ts";
import { conversationOf } from "../support/conversations.ts";

Deno.test("countTextTokens() matches the tokenizer for ordinary text of any length", async () => {
  const text = "The quick brown fox jumps over the lazy dog. Der Bär läuft durch den Wald, it's 10:30 o'clock. ";
  for (const times of [0, 1, 10, 1_000]) {
    assertEquals(await countTextTokens(text.repeat(times)), exactly(text.repeat(times)));
  }
});

Deno.test("countTextTokens() is close to the tokenizer's count for any text", async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: "grapheme", maxLength: 1_000 }), async (text) => {
      const tokens = await countTextTokens(text);
      const exact = exactly(text, { allowedSpecial: "all" });
      assert(Math.abs(tokens - exact) <= 4 + exact * 0.02, `${tokens}, exactly ${exact}`);
    }),
    { numRuns: 30 },
  );
});

Deno.test("countTextTokens() accepts text with the tokenizer's special tokens, and text without spaces", async () => {
  assert(await countTextTokens("<|endoftext|> <|im_start|>") > 0);
  // The tokenizer alone takes minutes for these.
  for (const sign of ["界", "=", "😀"]) assert(await countTextTokens(sign.repeat(150_000)) > 1_000);
});

Deno.test("countTextTokens() extrapolates text above 200,000 characters from its beginning", async () => {
  const tokens = await countTextTokens("hello ".repeat(500_000));
  assert(Math.abs(tokens - 500_000) < 5_000, String(tokens));
});

Deno.test("countPromptTokens() counts every part of a conversation", async () => {
  const empty = await countPromptTokens(conversationOf({ turns: [] }));
  const words = "one two three four five six seven eight nine ten";
  const source = { kind: "base64", mediaType: "image/png", data: "AAAA".repeat(10_000) } as const;
  const cost = async (fields: Parameters<typeof conversationOf>[0]) =>
    await countPromptTokens(conversationOf({ turns: [], ...fields })) - empty;
  assert(await cost({ instructions: [{ kind: "text", text: words }] }) >= 10);
  assert(
    await cost({ tools: [{ kind: "function", name: "look", description: words, parameters: null, strict: null }] }) >=
      10,
  );
  const parts = [
    { kind: "text", text: words },
    { kind: "tool_call", callId: "c", tool: "look", input: words },
    { kind: "tool_result", callId: "c", tool: null, parts: [{ kind: "text", text: words }], isError: false },
  ] as const;
  for (const part of parts) assert(await cost({ turns: [{ role: "user", parts: [part] }] }) >= 10, part.kind);
  const picture = await cost({ turns: [{ role: "user", parts: [{ kind: "image", source }] }] });
  assert(picture >= 1_000 && picture < 1_100, String(picture));
});

Deno.test("estimatedUsage() is marked as estimated", () => {
  const { freshTokens, outputTokens, estimated } = estimatedUsage(3, 4);
  assertEquals([freshTokens, outputTokens, estimated], [3, 4, true]);
});
