import { eventReaderOf } from "../../../support/event_reader.ts";
import { assertEquals } from "@std/assert";
import fc from "fast-check";
import {
  readCitations,
  utf16OffsetOf,
  utf8OffsetOf,
  writeGrounding,
} from "../../../../src/conversation/codecs/content/shared/citations.ts";
import { content } from "../../../../src/conversation/codecs/content/mod.ts";
import type { Citation } from "../../../../src/conversation/neutral/conversation.ts";
import type { Reply } from "../../../../src/conversation/neutral/reply.ts";
import { replyOf } from "../../../support/assemble.ts";
import { replyContextOf } from "../../../support/conversations.ts";
import { itemAt } from "../../../support/items.ts";
import { text } from "./arbitraries.ts";

const CONTEXT = replyContextOf({});

Deno.test("offsets in bytes and in UTF-16 units convert into each other at every character", () => {
  fc.assert(fc.property(text, (value) => {
    let at = 0;
    for (const character of value) {
      assertEquals(utf16OffsetOf(value, utf8OffsetOf(value, at)), at);
      at += character.length;
    }
    assertEquals(utf16OffsetOf(value, utf8OffsetOf(value, at)), value.length);
  }));
  assertEquals(utf16OffsetOf("a€😀b", 4), 2);
  assertEquals(utf16OffsetOf("a€😀b", 8), 4);
  assertEquals(utf16OffsetOf("ab", 99), 2);
});

Deno.test("readCitations and writeGrounding are inverses for several texts of many characters", () => {
  const parts = fc.array(fc.tuple(text, fc.nat(20), fc.nat(20)), { minLength: 1, maxLength: 3 });
  fc.assert(fc.property(parts, (drawn) => {
    const texts = drawn.map(([value, from, length], at) => {
      const start = utf16OffsetOf(value, utf8OffsetOf(value, Math.min(from, value.length - 1)));
      const whole = start === 0 || value.codePointAt(start - 1)! < 0x10000;
      const end = utf16OffsetOf(value, utf8OffsetOf(value, Math.min(start + 1 + length, value.length)));
      const citation: Citation = { url: `https://example.org/${at}`, title: at === 1 ? "t" : null, start, end };
      return { text: value, citations: whole && end > start && isWhole(value, end) ? [citation] : [] };
    });
    const groundingMetadata = writeGrounding(texts, []) ?? {};
    const read = readCitations(texts.map((part) => part.text), { groundingMetadata });
    assertEquals(read, texts.map((part) => part.citations));
  }));
});

function isWhole(value: string, at: number): boolean {
  return utf16OffsetOf(value, utf8OffsetOf(value, at)) === at;
}

Deno.test("writeGrounding counts bytes over all texts", () => {
  const citations = [{ url: "https://a", title: "a", start: 1, end: 2 }];
  assertEquals(writeGrounding([{ text: "é😀" }, { text: "žá", citations }], []), {
    groundingChunks: [{ web: { uri: "https://a", title: "a" } }],
    groundingSupports: [{ segment: { startIndex: 8, endIndex: 10, text: "á" }, groundingChunkIndices: [0] }],
  });
  assertEquals(writeGrounding([{ text: "x" }], []), null);
});

Deno.test("readCitations attaches addresses without a span to the last text, from any kind of chunk", () => {
  const groundingMetadata = {
    groundingChunks: [
      { web: { uri: "https://a", title: "a" } },
      { retrievedContext: { uri: "https://b" } },
      { maps: { uri: "https://c" } },
      { web: {} },
      null,
    ],
    groundingSupports: [{ segment: { endIndex: 3 }, groundingChunkIndices: [1, 99] }],
  };
  assertEquals(readCitations(["one", "two"], { groundingMetadata }), [
    [{ url: "https://b", title: null, start: 0, end: 3 }],
    [
      { url: "https://a", title: "a", start: null, end: null },
      { url: "https://c", title: null, start: null, end: null },
    ],
  ]);
});

Deno.test("readCitations prefers a segment's own text to its offsets", () => {
  const segment = { startIndex: 0, endIndex: 3, text: "two" };
  const groundingMetadata = {
    groundingChunks: [{ web: { uri: "https://a" } }],
    groundingSupports: [{ segment, groundingChunkIndices: [0] }],
  };
  assertEquals(readCitations(["one two"], { groundingMetadata })[0]![0]!.start, 4);
});

Deno.test("readCitations reads recitations of known works", () => {
  const source = { startIndex: 4, endIndex: 7, uri: "https://book" };
  const expected = [[{ url: "https://book", title: null, start: 4, end: 7 }]];
  assertEquals(readCitations(["one two"], { citationMetadata: { citations: [source] } }), expected);
  assertEquals(readCitations(["one two"], { citationMetadata: { citationSources: [source] } }), expected);
});

Deno.test("readReply and writeReply keep citations", () => {
  const citations = [{ url: "https://a", title: "a", start: 2, end: 4 }];
  const context = { model: "m", requestId: "r", createdAt: 0, conversation: null, includeUsage: false };
  const { body } = content.caller.writeReply({
    id: "r",
    model: "m",
    createdAt: null,
    parts: [{ kind: "reasoning", text: "hm" }, { kind: "text", text: "éé😀", citations }],
    stop: { reason: "end", raw: "STOP" },
    usage: null,
    unsupportedFields: [],
  }, context);
  assertEquals(content.upstream.readReply(body).parts[1], { kind: "text", text: "éé😀", citations });
});

const LINKS = [{ url: "https://a.example", title: "A", start: null, end: null }];
const GROUNDED = {
  finishReason: "STOP",
  groundingMetadata: { groundingChunks: [{ web: { uri: "https://a.example", title: "A" } }] },
};
const IMAGE = { inlineData: { mimeType: "image/png", data: "aGk=" } };

Deno.test("links of a reply with only an image are kept, whole and streamed", () => {
  const reply = { candidates: [{ content: { parts: [IMAGE] }, ...GROUNDED }] };
  const whole = content.upstream.readReply(reply);
  assertEquals(whole.parts.map(({ kind }) => kind), ["image", "text"]);
  assertEquals(whole.parts[1], { kind: "text", text: "", citations: LINKS });
  assertEquals(whole.unsupportedFields, []);
  const chunks = [{ candidates: [{ content: { parts: [IMAGE] } }] }, { candidates: [GROUNDED] }];
  assertEquals(streamed(chunks).parts, whole.parts);
  const written = content.caller.writeReply(whole, CONTEXT).body as { candidates: Record<string, unknown>[] };
  assertEquals(itemAt(written.candidates, 0).groundingMetadata, GROUNDED.groundingMetadata);
  assertEquals(written.candidates[0]?.content, { parts: [IMAGE], role: "model" });
});

Deno.test("links after an image do not change a whole reply's text and follow a streamed one's", () => {
  const text = { text: "Here" };
  const whole = content.upstream.readReply({ candidates: [{ content: { parts: [text, IMAGE] }, ...GROUNDED }] });
  assertEquals(whole.parts.map(({ kind }) => kind), ["text", "image"]);
  assertEquals(whole.parts[0], { kind: "text", text: "Here", citations: LINKS });
  const chunks = [{ candidates: [{ content: { parts: [text, IMAGE] } }] }, { candidates: [GROUNDED] }];
  const { parts } = streamed(chunks);
  assertEquals(parts.map(({ kind }) => kind), ["text", "image", "text"]);
  assertEquals(parts[2], { kind: "text", text: "", citations: LINKS });
});

function streamed(chunks: readonly unknown[]): Reply {
  const reader = eventReaderOf(content);
  const events = chunks.flatMap((chunk) => reader.read({ event: null, data: JSON.stringify(chunk) }));
  return replyOf([...events, ...reader.end()]);
}
