import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { joinPrefix, type OpenPrefix, readPrefix, writePrefix } from "../../src/services/caches/prefix.ts";
import type { Conversation, Part, Turn } from "../../src/conversation/neutral/conversation.ts";
import type { StoredFile } from "../../src/platform/files/files.ts";
import { concatBytes } from "../../src/platform/lib/bytes/concat_bytes.ts";
import { conversationOf } from "../support/conversations.ts";
import { CODECS, FORMATS, TARGETS } from "../support/formats.ts";
import { itemAt } from "../support/items.ts";

/** A file in memory. */
function fileOf(bytes: Uint8Array<ArrayBuffer>): StoredFile {
  return {
    name: "x.cache",
    bytes: bytes.length,
    mediaType: "application/octet-stream",
    etag: '"x"',
    modifiedAt: 0,
    read: ({ first, last } = { first: 0, last: bytes.length - 1 }) =>
      new Blob([bytes.slice(first, last + 1)]).stream() as ReadableStream<Uint8Array<ArrayBuffer>>,
  };
}

async function reopened(conversation: Conversation): Promise<OpenPrefix> {
  const { head, pieces } = writePrefix(conversation);
  return await readPrefix(fileOf(concatBytes([head, ...pieces])), head.length);
}

async function textOf(prefix: OpenPrefix, body: Record<string, unknown>): Promise<string> {
  const sent = prefix.bodyOf(body);
  const pieces: Uint8Array[] = [];
  for await (const chunk of sent.open()) pieces.push(chunk);
  const bytes = concatBytes(pieces);
  assertEquals(sent.lengthBytes, bytes.length, "the length is told beforehand");
  return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
}

const long = fc.tuple(fc.string({ unit: "grapheme", minLength: 1, maxLength: 40 }), fc.integer({ min: 1, max: 400 }))
  .map(([text, times]) => text.repeat(times));
const contentPart: fc.Arbitrary<Part> = fc.oneof(
  long.map((text): Part => ({ kind: "text", text })),
  fc.uint8Array({ minLength: 30, maxLength: 4_000 }).map((bytes): Part => ({
    kind: "image",
    source: { kind: "base64", mediaType: "image/png", data: `iVBORw0KGgo${bytes.toBase64().replaceAll("=", "")}` },
  })),
  long.map((text): Part => ({
    kind: "file",
    name: "notes.txt",
    source: { kind: "base64", mediaType: "text/plain", data: new TextEncoder().encode(text).toBase64() },
  })),
);
const turns: fc.Arbitrary<Turn[]> = fc.array(fc.array(contentPart, { minLength: 1, maxLength: 3 }), {
  minLength: 1,
  maxLength: 4,
})
  .map((all) =>
    all.map((parts, at): Turn => {
      if (at % 2 === 0) return { role: "user", parts };
      const texts = parts.filter(({ kind }) => kind === "text");
      return { role: "assistant", parts: texts.length > 0 ? texts : [{ kind: "text", text: "Noted" }] };
    })
  );

Deno.test("a stored prefix is sent byte for byte as part of the conversation, in every format", async () => {
  await fc.assert(
    fc.asyncProperty(turns, turns, long, async (before, after, instruction) => {
      const kept = conversationOf({ turns: before, instructions: [{ kind: "text", text: instruction }] });
      const conversation = conversationOf({ turns: after });
      const prefix = await reopened(kept);
      for (const form of FORMATS) {
        const settings = { isMarked: form === "messages", isKeyed: form === "responses", cacheKey: "key" };
        const write = (conversation: Conversation) =>
          CODECS[form].upstream.writeRequest(conversation, TARGETS[form]).body;
        const whole = write(joinPrefix(kept, { conversation: conversation, ...settings }));
        const streamed = await textOf(
          prefix,
          write(joinPrefix(prefix.conversation, { conversation: conversation, ...settings })),
        );
        assertEquals(streamed, JSON.stringify(whole), form);
      }
    }),
    { numRuns: 40 },
  );
});

Deno.test("a stored prefix adds only the start of its long texts to a request's cost", () => {
  const text = "The sky is blue. ".repeat(250_000);
  const picture: Part = {
    kind: "image",
    source: { kind: "base64", mediaType: "image/png", data: "A".repeat(4_000_000) },
  };
  const kept = conversationOf({ turns: [{ role: "user", parts: [{ kind: "text", text }, picture] }] });
  const { head, pieces } = writePrefix(kept);
  assert(head.length < 2_000, `the head has ${head.length} bytes`);
  assertEquals(pieces.length, 2);
});

Deno.test("continued() joins adjacent turns of one role and takes instructions, tools and choice from the prefix", () => {
  const tools = [{ kind: "function", name: "look", description: null, parameters: null, strict: null }] as const;
  const kept = conversationOf({
    instructions: [{ kind: "text", text: "Be brief" }],
    turns: [{ role: "user", parts: [{ kind: "text", text: "The sky" }] }],
    tools,
    toolChoice: { kind: "auto" },
    unsupportedFields: ["tools.googleSearch"],
  });
  const conversation = conversationOf({
    turns: [{ role: "user", parts: [{ kind: "text", text: "Which colour?" }] }],
    unsupportedFields: ["safetySettings"],
  });
  const whole = joinPrefix(kept, { conversation: conversation, isMarked: true, isKeyed: true, cacheKey: "key" });
  assertEquals(whole.turns, [{
    role: "user",
    parts: [{ kind: "text", text: "The sky", cache: { ttl: "1h" } }, { kind: "text", text: "Which colour?" }],
  }]);
  assertEquals([whole.instructions, whole.tools, whole.toolChoice], [kept.instructions, tools, { kind: "auto" }]);
  assertEquals(whole.unsupportedFields, ["tools.googleSearch", "safetySettings"]);
  assertEquals(whole.cacheKey, "key");
});

Deno.test("continued() marks the last part that can have a mark, and none by default", () => {
  const parts: Part[] = [
    { kind: "text", text: "Listen" },
    { kind: "text", text: " " },
    { kind: "audio", source: { kind: "url", url: "https://example.com/a.mp3", mediaType: null } },
  ];
  const kept = conversationOf({ turns: [{ role: "user", parts }] });
  const conversation = conversationOf({ turns: [] });
  const marked = joinPrefix(kept, { conversation, isMarked: true, isKeyed: false, cacheKey: "key" });
  assertEquals(marked.turns[0]?.parts[0], { kind: "text", text: "Listen", cache: { ttl: "1h" } });
  assertEquals(marked.cacheKey, null);
  const plain = joinPrefix(kept, { conversation, isMarked: false, isKeyed: false, cacheKey: "key" });
  assertEquals(itemAt(plain.turns, 0).parts, parts);
});

Deno.test("writePrefix() keeps blank texts whole and splits no character", async () => {
  const texts = [" ".repeat(5_000), "x".repeat(255) + "😀".repeat(3_000), " ".repeat(3_000) + "x"];
  const kept = conversationOf({
    turns: [{ role: "user", parts: texts.map((text): Part => ({ kind: "text", text })) }],
  });
  const prefix = await reopened(kept);
  assertEquals(
    await textOf(prefix, { ...prefix.conversation }),
    JSON.stringify({
      instructions: kept.instructions,
      turns: kept.turns,
      tools: kept.tools,
      toolChoice: kept.toolChoice,
      unsupportedFields: kept.unsupportedFields,
    }),
  );
  assertEquals(prefix.conversation.turns[0]?.parts[0], { kind: "text", text: itemAt(texts, 0) });
});

Deno.test("writePrefix() keeps the member names of stored files, and readPrefix() reads them", async () => {
  const signature = { format: "content" as const, issuer: "google", value: "c2ln" };
  const search = { kind: "web_search" as const, callId: "s1", queries: ["q"], results: null, failure: null };
  const parts: Part[] = [
    { kind: "reasoning", text: "hm", signature },
    { ...search, origin: { format: "messages", issuer: "anthropic" } },
    { kind: "text", text: "Hi", citations: [{ url: "https://a.example", title: null, start: 0, end: 2, signature }] },
  ];
  const kept = conversationOf({ turns: [{ role: "assistant", parts }], unsupportedFields: ["a.b"] });
  const stored = JSON.parse(new TextDecoder().decode(writePrefix(kept).head)).conversation;
  const seal = { form: "content", issuer: "google", value: "c2ln" };
  assertEquals(stored.turns[0].parts, [
    { kind: "reasoning", text: "hm", seal },
    { ...search, origin: { form: "messages", issuer: "anthropic" } },
    { kind: "text", text: "Hi", citations: [{ url: "https://a.example", title: null, start: 0, end: 2, seal }] },
  ]);
  assertEquals(stored.beyond, ["a.b"]);
  const { conversation } = await reopened(kept);
  assertEquals(conversation.turns, kept.turns);
  assertEquals(conversation.unsupportedFields, ["a.b"]);
});
