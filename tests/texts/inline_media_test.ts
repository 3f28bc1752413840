import { assertEquals, assertRejects } from "@std/assert";
import type { MediaPart, Part } from "../../src/conversation/conversation.ts";
import { GatewayError } from "../../src/lib/gateway_error.ts";
import { withMediaInlined } from "../../src/texts/inline_media.ts";
import { conversationOf } from "../support/conversations.ts";

const picture = (url: string): MediaPart & { kind: "image" } => ({
  kind: "image",
  source: { kind: "url", url, mediaType: null },
});
const always = () => true;

function conversationWith(parts: readonly Part[]) {
  return conversationOf({ turns: [{ role: "user", parts: [{ kind: "text", text: "Hi" }] }, { role: "user", parts }] });
}

function fetching(characters = 4) {
  const fetched: string[] = [];
  const inline = (url: string) => {
    fetched.push(url);
    return Promise.resolve({ mediaType: "image/png", data: "A".repeat(characters) });
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
  const { turns } = await withMediaInlined(before, always, inline);
  const inlined = { kind: "image", source: { kind: "base64", mediaType: "image/png", data: "AAAA" } } as const;
  assertEquals(turns[1].parts, [inlined, { ...result, parts: [inlined] }]);
});

Deno.test("withMediaInlined() leaves alone what the vendor can fetch, and what is there already", async () => {
  const { inline, fetched } = fetching();
  const there = { kind: "image", source: { kind: "base64", mediaType: "image/png", data: "BBBB" } } as const;
  const conversation = conversationWith([picture("https://a.example/1"), there]);
  assertEquals(await withMediaInlined(conversation, () => false, inline), conversation);
  const bare = conversationWith([there]);
  assertEquals(await withMediaInlined(bare, always, inline), bare);
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
        withMediaInlined(conversationWith([picture("https://a.example/secret")]), always, () => Promise.reject(thrown)),
      GatewayError,
      `a medium in turn 2 must be fetched for this model's vendor, and ${why}`,
    );
    assertEquals([error.status, error.message.includes("a.example")], [400, false]);
  }
});

Deno.test("withMediaInlined() refuses more media than a request can hold, before it fetches any", async () => {
  const many = Array.from({ length: 21 }, (_, at) => picture(`https://a.example/${at}`));
  const { inline, fetched } = fetching();
  const error = await assertRejects(() => withMediaInlined(conversationWith(many), always, inline), GatewayError);
  assertEquals([error.status, fetched.length], [400, 0]);
  await withMediaInlined(conversationWith(many.slice(1)), always, inline);
  const large = fetching(26_000_000);
  const tooLarge = await assertRejects(
    () => withMediaInlined(conversationWith(many.slice(0, 2)), always, large.inline),
    GatewayError,
  );
  assertEquals(tooLarge.code, "request_too_large");
});
