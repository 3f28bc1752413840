import { assertEquals, assertRejects } from "@std/assert";
import type { MediaPart, Part } from "../../src/conversation/neutral/conversation.ts";
import { GatewayError } from "../../src/platform/lib/basics/gateway_error.ts";
import { type HeldMemory, MemoryBudget, UNLIMITED_MEMORY } from "../../src/platform/lib/process/memory_budget.ts";
import type { MediaFetch } from "../../src/platform/net/media_inliner.ts";
import { inlineMedia, type MediaContext } from "../../src/services/texts/plan/inline_media.ts";
import { conversationOf } from "../support/conversations.ts";

const picture = (url: string): MediaPart & { kind: "image" } => ({
  kind: "image",
  source: { kind: "url", url, mediaType: null },
});
const always = () => true;
const mediaContext = (
  memory: HeldMemory = UNLIMITED_MEMORY.lease(),
  signal = new AbortController().signal,
): MediaContext => ({
  memory,
  callerSignal: () => signal,
});

function conversationWith(parts: readonly Part[]) {
  return conversationOf({ turns: [{ role: "user", parts: [{ kind: "text", text: "Hi" }] }, { role: "user", parts }] });
}

function fetching(characters = 4) {
  const fetched: string[] = [];
  const inline = async (url: string, { reserve }: MediaFetch) => {
    fetched.push(url);
    await Promise.resolve();
    reserve(Math.floor(characters / 4) * 3);
    return { mediaType: "image/png", data: "A".repeat(characters) };
  };
  return { fetched, inline };
}

Deno.test("inlineMedia() replaces addresses with bytes, also inside tool results", async () => {
  const { inline } = fetching();
  const result = { kind: "tool_result", callId: "c", tool: null, isError: false } as const;
  const before = conversationWith([picture("https://a.example/1"), {
    ...result,
    parts: [picture("https://a.example/2")],
  }]);
  const { turns } = await inlineMedia(before, always, inline, mediaContext());
  const inlined = { kind: "image", source: { kind: "base64", mediaType: "image/png", data: "AAAA" } } as const;
  assertEquals(turns[1]?.parts, [inlined, { ...result, parts: [inlined] }]);
});

Deno.test("inlineMedia() leaves media that the vendor can download, and inline media", async () => {
  const { inline, fetched } = fetching();
  const there = { kind: "image", source: { kind: "base64", mediaType: "image/png", data: "BBBB" } } as const;
  const conversation = conversationWith([picture("https://a.example/1"), there]);
  assertEquals(await inlineMedia(conversation, () => false, inline, mediaContext()), conversation);
  const bare = conversationWith([there]);
  assertEquals(await inlineMedia(bare, always, inline, mediaContext()), bare);
  assertEquals(fetched, []);
});

Deno.test("inlineMedia() names the message whose medium failed and the reason, without its address", async () => {
  const refusal = new GatewayError("invalid_request", "the download failed: it is a private address");
  for (
    const [thrown, why] of [[refusal, refusal.message], [
      new TypeError("at https://a.example"),
      "the download failed",
    ]] as const
  ) {
    const error = await assertRejects(
      () =>
        inlineMedia(
          conversationWith([picture("https://a.example/secret")]),
          always,
          () => Promise.reject(thrown),
          mediaContext(),
        ),
      GatewayError,
      `failed to download the medium in message 2 for this model's vendor: ${why}`,
    );
    assertEquals([error.status, error.message.includes("a.example")], [400, false]);
  }
});

Deno.test("inlineMedia() rejects too many media before it downloads any", async () => {
  const many = Array.from({ length: 21 }, (_, at) => picture(`https://a.example/${at}`));
  const { inline, fetched } = fetching();
  const error = await assertRejects(
    () => inlineMedia(conversationWith(many), always, inline, mediaContext()),
    GatewayError,
  );
  assertEquals([error.status, fetched.length], [400, 0]);
  await inlineMedia(conversationWith(many.slice(1)), always, inline, mediaContext());
  const large = fetching(26_000_000);
  const tooLarge = await assertRejects(
    () => inlineMedia(conversationWith(many.slice(0, 2)), always, large.inline, mediaContext()),
    GatewayError,
  );
  assertEquals(tooLarge.code, "request_too_large");
});

Deno.test("inlineMedia() reserves memory before a medium is read, and releases it if one fails", async () => {
  const budget = new MemoryBudget(40_000_000);
  const memory = budget.lease("a");
  const two = conversationWith([picture("https://a.example/1"), picture("https://a.example/2")]);
  await inlineMedia(two, always, fetching(400_000).inline, mediaContext(memory));
  assertEquals(budget.inUse, 2 * 300_000 * 4);
  memory.end();
  const other = budget.lease("a");
  const error = await assertRejects(
    () => inlineMedia(two, always, fetching(2_000_000).inline, mediaContext(other)),
    GatewayError,
  );
  assertEquals([error.code, budget.inUse], ["request_too_large", 0]);
});

Deno.test("inlineMedia() downloads four media at once, and ends them all if one fails or the caller disconnects", async () => {
  for (const ending of ["failure", "caller"] as const) {
    const left = new AbortController();
    const signals: AbortSignal[] = [];
    const refused = Promise.withResolvers<never>();
    const inline = (_url: string, { signal }: MediaFetch) => {
      signals.push(signal);
      const ended = new Promise<never>((_resolve, reject) => {
        signal.addEventListener(
          "abort",
          () => reject(new GatewayError("invalid_request", "the request was cancelled")),
        );
      });
      return Promise.race([ended, ...signals.length === 4 ? [refused.promise] : []]);
    };
    const parts = Array.from({ length: 10 }, (_, at) => picture(`https://a.example/${at}`));
    const running = inlineMedia(conversationWith(parts), always, inline, mediaContext(undefined, left.signal));
    const rejected = assertRejects(() => running, GatewayError);
    while (signals.length < 4) await Promise.resolve();
    if (ending === "failure") refused.reject(new GatewayError("invalid_request", "the download failed"));
    else left.abort();
    await rejected;
    assertEquals([signals.length, signals.every(({ aborted }) => aborted)], [4, true]);
  }
});
