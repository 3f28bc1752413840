import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import fc from "fast-check";
import {
  LineIndex,
  linesOf,
  readInputLine,
  storedLines,
  writeStoredLine,
} from "../../src/services/batches/lines/input_lines.ts";
import { splitLines } from "../../src/services/batches/lines/split_lines.ts";
import { inlineLines } from "../../src/services/batches/lines/inline_lines.ts";
import { jsonObjectOf } from "../../src/platform/http/bodies/json_body.ts";
import { SentList, takeList } from "../../src/platform/http/bodies/sent_list.ts";
import { GatewayError } from "../../src/platform/lib/basics/gateway_error.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

async function* chunks(bytes: Uint8Array, points: readonly number[]): AsyncGenerator<Uint8Array> {
  let start = 0;
  for (const point of [...points, bytes.length].map((each) => Math.min(each, bytes.length)).sort((a, b) => a - b)) {
    yield bytes.slice(start, point);
    start = point;
  }
}

/** The points that cut bytes into pieces of one size. */
function pointsOf(length: number, size: number): number[] {
  return Array.from({ length: Math.floor(length / size) }, (_, n) => (n + 1) * size);
}

async function textsOf(lines: AsyncIterable<Uint8Array>): Promise<string[]> {
  const texts: string[] = [];
  for await (const line of lines) texts.push(decoder.decode(line));
  return texts;
}

Deno.test("linesOf() cuts the same lines wherever the bytes are split", async () => {
  const lines = fc.array(fc.string({ unit: "grapheme" }).filter((text) => !/[\r\n]/.test(text)), { maxLength: 6 });
  const points = fc.array(fc.nat(200), { maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(lines, points, fc.constantFrom("\n", "\r\n"), async (texts, at, end) => {
      const bytes = encoder.encode(texts.map((text) => text + end).join(""));
      assertEquals(await textsOf(linesOf(chunks(bytes, at), 1_000)), texts);
    }),
  );
});

Deno.test("linesOf() takes a last line without an end, and refuses one that is too long", async () => {
  assertEquals(await textsOf(linesOf(chunks(encoder.encode("a\n\nb"), [1]), 10)), ["a", "", "b"]);
  const long = linesOf(chunks(encoder.encode("a\n" + "b".repeat(11)), [5, 8]), 10);
  await assertRejects(() => textsOf(long), GatewayError, "expected at most 10 bytes");
});

Deno.test("stored lines have the part, any custom id, and the bytes of the body as they were sent", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.string({ unit: "grapheme", minLength: 1, maxLength: 50 }),
      fc.bigInt({ min: 0n }),
      async (id, part) => {
        const sent = encoder.encode(`{"custom_id":${JSON.stringify(id)},"body":{"n":1.0, "big":12345678901234567890}}`);
        const line = readInputLine(sent, "/v1/embeddings");
        const stored = [];
        const route = part % 2n === 0n ? null : { provider: `p${id}`, model: "m" };
        const written = writeStoredLine({ part, route, ...line });
        for await (const each of storedLines(chunks(written, [3]))) stored.push(each);
        const [{ number, customId, body, part: read, route: readRoute } = {}] = stored;
        assertEquals([stored.length, number, customId, read, readRoute], [1, 1, id, part, route]);
        assertEquals(decoder.decode(body), '{"n":1.0, "big":12345678901234567890}');
      },
    ),
  );
});

Deno.test("readInputLine() names the field that is wrong", () => {
  const line = { custom_id: "a", method: "POST", url: "/v1/embeddings", body: {} };
  const cases: [Record<string, unknown>, string][] = [
    [{ custom_id: undefined }, "custom_id"],
    [{ custom_id: "" }, "custom_id"],
    [{ custom_id: "a".repeat(513) }, "custom_id"],
    [{ custom_id: 1 }, "custom_id"],
    [{ method: "GET" }, "method"],
    [{ url: "/v1/responses" }, "url"],
    [{ body: [] }, "body"],
    [{ body: { stream: true } }, "body.stream"],
    [{ body: { background: true } }, "body.background"],
  ];
  for (const [fields, field] of cases) {
    const bytes = encoder.encode(JSON.stringify({ ...line, ...fields }));
    const error = assertThrows(() => readInputLine(bytes, "/v1/embeddings"), GatewayError);
    assertEquals(error.details.field, field);
  }
});

/** The list of requests in a body. */
function requestsIn(text: string): SentList {
  const json = jsonObjectOf(encoder.encode(text));
  const { ranges } = takeList(json, [["requests"]]);
  assert(ranges !== null);
  return new SentList(json.bytes, ranges);
}

Deno.test("inlineLines() cuts the requests of a body, whatever their texts contain", async () => {
  const json = fc.jsonValue({ maxDepth: 3 });
  await fc.assert(
    fc.asyncProperty(
      fc.array(json, { minLength: 1, maxLength: 4 }),
      fc.constantFrom(0, 2),
      async (requests, indent) => {
        const body = requestsIn(JSON.stringify({ endpoint: "x", requests }, null, indent));
        const lines = (await textsOf(inlineLines(body, null))).join("").trimEnd().split("\n");
        assertEquals(lines.map((line) => JSON.parse(line)), JSON.parse(JSON.stringify(requests)));
      },
    ),
  );
});

Deno.test("inlineLines() gives the model to requests without one", async () => {
  const requests = [{ custom_id: "a", body: {} }, { custom_id: "b", body: { n: 1 } }, {
    custom_id: "c",
    body: { model: "own" },
  }];
  const body = requestsIn(JSON.stringify({ requests }));
  const lines = (await textsOf(inlineLines(body, 'the "model"'))).join("").trimEnd().split("\n");
  assertEquals(lines.map((line) => JSON.parse(line).body), [
    { model: 'the "model"' },
    { model: 'the "model"', n: 1 },
    { model: "own" },
  ]);
  assert(lines.every((line) => !line.includes("\n")));
});

Deno.test("LineIndex finds each line of a content, however its chunks are cut", async () => {
  const lines = ["a", "bb", "", "\u00e4cc", "d".repeat(20)];
  const content = encoder.encode(lines.map((line) => `${line}\n`).join(""));
  for (const size of [1, 2, 3, 7, 100]) {
    const index = await LineIndex.of(chunks(content, pointsOf(content.length, size)));
    const found = lines.map((_, n) => {
      const place = index.placeOf(n + 1);
      return place === null ? null : decoder.decode(content.subarray(place.first, place.last + 1));
    });
    assertEquals(found, lines);
    assertEquals(index.placeOf(lines.length + 1), null);
  }
});

Deno.test("splitLines() has null for a line above the limit, and goes on after it", async () => {
  const text = `one\n\n${"x".repeat(30)}\ntwo\n${"y".repeat(30)}`;
  for (const size of [1, 5, 64]) {
    const found: (string | null)[] = [];
    for await (const line of splitLines(chunks(encoder.encode(text), pointsOf(text.length, size)), 20)) {
      found.push(line && decoder.decode(line));
    }
    assertEquals(found, ["one", "", null, "two", null]);
    // What readers of results keep.
    assertEquals(found.filter(Boolean), ["one", "two"]);
  }
});
