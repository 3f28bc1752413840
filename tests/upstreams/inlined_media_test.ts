import { assertEquals } from "@std/assert";
import { messagesEndpoint } from "../../src/vendors/upstreams/anthropic/text.ts";

Deno.test("Anthropic gets the bytes of a picture whose address is not of https, and any other address", () => {
  const isInlined = (url: string) =>
    messagesEndpoint.mustInline({ kind: "image", source: { kind: "url", url, mediaType: null } });
  assertEquals(
    ["http://example.com/a.png", "HTTP://example.com/a.png", "https://example.com/a.png"].map(isInlined),
    [true, true, false],
  );
});
