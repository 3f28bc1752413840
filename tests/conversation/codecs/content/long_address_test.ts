import { assertEquals } from "@std/assert";
import { content } from "../../../../src/conversation/codecs/content/mod.ts";
import { conversationOf } from "../../../support/conversations.ts";
import { TARGETS } from "../../../support/formats.ts";

/** The type in the request to Google for an image at an address. */
function typeOf(url: string): unknown {
  const image = { kind: "image", source: { kind: "url", url, mediaType: null } } as const;
  const turns = [{ role: "user", parts: [image] }] as const;
  const { body } = content.upstream.writeRequest(conversationOf({ turns } as never), TARGETS.content);
  return JSON.stringify(body).match(/"mimeType":"([^"]+)"/)?.[1];
}

Deno.test("the type of an address is that of its extension", () => {
  assertEquals(typeOf("gs://bucket/b.png?c.jpg#d"), "image/png");
  assertEquals(typeOf("gs://bucket/b.webp"), "image/webp");
  assertEquals(typeOf("gs://bucket/get?file=b.png"), "image/png");
  assertEquals(typeOf("gs://bucket/png"), undefined);
});

Deno.test("an address of a megabyte with many dots and question marks is read in one pass", () => {
  assertEquals(typeOf(`gs://bucket/b.png${".a?".repeat(400_000)}\n`), undefined);
});
