import { assertEquals, assertRejects } from "@std/assert";
import type { MediaPart, Part } from "../../src/conversation/conversation.ts";
import { GatewayError } from "../../src/lib/gateway_error.ts";
import { MemoryBudget, type MemoryLease, UNLIMITED_MEMORY } from "../../src/lib/memory_budget.ts";
import type { MediaFetch } from "../../src/net/media_inliner.ts";
import { inlineMedia, type MediaContext } from "../../src/texts/inline_media.ts";
import { conversationOf } from "../support/conversations.ts";

const picture = (url: string): MediaPart & { kind: "image" } => ({
  kind: "image",
  source: { kind: "url", url, mediaType: null },
});
const always = () => true;
const asker = (
  memory: MemoryLease = UNLIMITED_MEMORY.lease(),
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

Deno.test("withMediaInlined() puts the bytes in the place of addresses, also inside of tools' results", async () => {
  const { inline } = fetching();
  const result = { kind: "tool_result", callId: "c", tool: null, isError: false } as const;
  const before = conversationWith([picture("https://a.example/1"), {
    ...result,
    parts: [picture("https://a.example/2")],
  }]);
  const { turns } = await inlineMedia(before, always, inline, asker());
  const inlined = { kind: "image", source: { kind: "base64", mediaType: "image/png", data: "AAAA" } } as const;
  assertEquals(turns[1]?.parts, [inlined, { ...result, parts: [inlined] }]);
});

Deno.test("withMediaInlined() leaves alone what the vendor can fetch, and what is there already", async () => {
  const { inline, fetched } = fetching();
  const there = { kind: "image", source: { kind: "base64", mediaType: "image/png", data: "BBBB" } } as const;
  const conversation = conversationWith([picture("https://a.example/1"), there]);
  assertEquals(await inlineMedia(conversation, () => false, inline, asker()), conversation);
  const bare = conversationWith([there]);
  assertEquals(await inlineMedia(bare, always, inline, asker()), bare);
  assertEquals(fetched, []);
});

Deno.test("withMediaInlined() says which turn's medium could not be had, and why, without its address", async () => {
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
          asker(),
        ),
      GatewayError,
      `a medium in turn 2 must be fetched for this model's vendor, and ${why}`,
    );
    assertEquals([error.status, error.message.includes("a.example")], [400, false]);
  }
});

Deno.test("withMediaInlined() refuses more media than a request can hold, before it fetches any", async () => {
  const many = Array.from({ length: 21 }, (_, at) => picture(`https://a.example/${at}`));
  const { inline, fetched } = fetching();
  const error = await assertRejects(
    () => inlineMedia(conversationWith(many), always, inline, asker()),
    GatewayError,
  );
  assertEquals([error.status, fetched.length], [400, 0]);
  await inlineMedia(conversationWith(many.slice(1)), always, inline, asker());
  const large = fetching(26_000_000);
  const tooLarge = await assertRejects(
    () => inlineMedia(conversationWith(many.slice(0, 2)), always, large.inline, asker()),
    GatewayError,
  );
  assertEquals(tooLarge.code, "request_too_large");
});

Deno.test("withMediaInlined() takes memory before a medium is read, and gives it back when one fails", async () => {
  const budget = new MemoryBudget(40_000_000);
  const memory = budget.lease("a");
  const two = conversationWith([picture("https://a.example/1"), picture("https://a.example/2")]);
  await inlineMedia(two, always, fetching(400_000).inline, asker(memory));
  assertEquals(budget.inUse, 2 * 300_000 * 4);
  memory.end();
  const other = budget.lease("a");
  const error = await assertRejects(
    () => inlineMedia(two, always, fetching(2_000_000).inline, asker(other)),
    GatewayError,
  );
  assertEquals([error.code, budget.inUse], ["request_too_large", 0]);
});

Deno.test("withMediaInlined() fetches four media at once, and ends them all when one fails or the caller leaves", async () => {
  for (const ending of ["failure", "caller"] as const) {
    const left = new AbortController();
    const signals: AbortSignal[] = [];
    const refused = Promise.withResolvers<never>();
    const inline = (_url: string, { signal }: MediaFetch) => {
      signals.push(signal);
      const ended = new Promise<never>((_resolve, reject) => {
        signal.addEventListener(
          "abort",
          () => reject(new GatewayError("invalid_request", "the connection was cancelled")),
        );
      });
      return Promise.race([ended, ...signals.length === 4 ? [refused.promise] : []]);
    };
    const parts = Array.from({ length: 10 }, (_, at) => picture(`https://a.example/${at}`));
    const running = inlineMedia(conversationWith(parts), always, inline, asker(undefined, left.signal));
    const rejected = assertRejects(() => running, GatewayError);
    while (signals.length < 4) await Promise.resolve();
    if (ending === "failure") refused.reject(new GatewayError("invalid_request", "the download failed"));
    else left.abort();
    await rejected;
    assertEquals([signals.length, signals.every(({ aborted }) => aborted)], [4, true]);
  }
});
