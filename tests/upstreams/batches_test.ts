import { assertEquals, assertRejects } from "@std/assert";
import { anthropicBatches } from "../../src/vendors/upstreams/anthropic/batches.ts";
import { UpstreamFailure } from "../../src/vendors/upstreams/call/failure.ts";
import type { BatchOrder, BatchUpstream } from "../../src/vendors/upstreams/contract/batch_upstream.ts";
import { googleBatches } from "../../src/vendors/upstreams/google/batches.ts";
import { openaiBatches } from "../../src/vendors/upstreams/openai/batches.ts";
import type { Outbound } from "../../src/vendors/upstreams/call/outbound_call.ts";
import { type Seen, type VendorAnswer, withVendor } from "./vendor.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const { signal } = new AbortController();

const VENDORS = { openai: openaiBatches, anthropic: anthropicBatches, google: googleBatches } as const;

type VendorName = keyof typeof VENDORS;

/** Runs a test with the batches of a vendor that sends these bodies in turn. */
async function withBatches(
  kind: VendorName,
  answers: readonly (VendorAnswer | unknown)[],
  test: (batches: BatchUpstream, seen: readonly Seen[]) => Promise<void>,
): Promise<void> {
  const make: (outbound: Outbound) => BatchUpstream = VENDORS[kind];
  const written = answers.map((each) => isAnswer(each) ? each : { body: each });
  await withVendor(kind, written, ({ outbound }, seen) => test(make(outbound), seen));
}

function isAnswer(value: unknown): value is VendorAnswer {
  return typeof value === "object" && value !== null && "body" in value;
}

function orderOf(count = 2): BatchOrder {
  const bytes = encoder.encode("{}\n".repeat(count));
  const content = { lengthBytes: bytes.length, open: () => ReadableStream.from([bytes]) };
  const idPrefix = "0a-1-";
  return { mark: "0a-1-1", idPrefix, path: "/responses", headers: {}, model: "m", count, content, file: "files/in" };
}

Deno.test("vendors' batches: a line is written around the request, whose bytes stay as they are", async () => {
  const body = encoder.encode('{"n":1.0,"stream":false,"big":12345678901234567890}');
  const lineAt = async (kind: VendorName, path: string) => {
    let line = "";
    await withBatches(kind, [{}], (batches) => {
      line = decoder.decode(batches.writeLine("a-1", { path, headers: {}, body }));
      return Promise.resolve();
    });
    return line;
  };
  assertEquals(
    await lineAt("openai", "/chat/completions"),
    '{"custom_id":"a-1","method":"POST","url":"/v1/chat/completions",' +
      '"body":{"n":1.0,"stream":false,"big":12345678901234567890}}',
  );
  assertEquals(
    await lineAt("anthropic", "/v1/messages"),
    '{"custom_id":"a-1","params":{"n":1.0,"big":12345678901234567890}}',
  );
  assertEquals(
    await lineAt("google", "/v1beta/models/m:generateContent"),
    '{"key":"a-1","request":{"n":1.0,"stream":false,"big":12345678901234567890}}',
  );
});

Deno.test("vendors' batches: results are read whatever a line is", async () => {
  const cases: [VendorName, unknown, unknown][] = [
    ["openai", { custom_id: "a", response: { status_code: 200, body: { x: 1 } } }, ["a", 200, { x: 1 }]],
    ["openai", { custom_id: "a", response: { status_code: 429, body: { error: {} } } }, ["a", 429, { error: {} }]],
    ["openai", { custom_id: "a", response: null, error: { code: "batch_expired" } }, ["a", "batch_expired"]],
    ["openai", { custom_id: "a", response: { status_code: 99, body: {} } }, null],
    ["openai", { custom_id: "a", response: { status_code: 200, body: "text" } }, null],
    ["openai", { custom_id: 1, response: { status_code: 200, body: {} } }, null],
    ["openai", [], null],
    ["anthropic", { custom_id: "a", result: { type: "succeeded", message: { x: 1 } } }, ["a", 200, { x: 1 }]],
    [
      "anthropic",
      { custom_id: "a", result: { type: "errored", error: { error: { type: "overloaded_error" } } } },
      ["a", 529, { error: { type: "overloaded_error" } }],
    ],
    ["anthropic", { custom_id: "a", result: { type: "canceled" } }, ["a", "canceled"]],
    ["anthropic", { custom_id: "a", result: { type: "succeeded" } }, null],
    ["anthropic", { custom_id: "a" }, null],
    ["google", { key: "a", response: { x: 1 } }, ["a", 200, { x: 1 }]],
    [
      "google",
      { key: "a", error: { code: 8, message: "Slow" } },
      ["a", 429, { error: { code: 429, message: "Slow", status: "RESOURCE_EXHAUSTED" } }],
    ],
    ["google", { key: "a", error: { code: 1 } }, ["a", "cancelled"]],
    ["google", { key: "a" }, null],
    ["google", { response: {} }, null],
  ];
  for (const [kind, line, expected] of cases) {
    await withBatches(kind, [{}], async (batches) => {
      const result = await batches.readResult(encoder.encode(JSON.stringify(line)));
      const read = result === null
        ? null
        : "unrun" in result
        ? [result.id, result.unrun]
        : [result.id, result.status, JSON.parse(decoder.decode(result.body))];
      assertEquals(read, expected, JSON.stringify(line));
    });
  }
});

for (const kind of ["openai", "anthropic", "google"] as const) {
  Deno.test(`${kind} batches: results are asked for from a byte on, whatever the vendor sends`, async () => {
    const part = { status: 206, headers: { "content-range": "bytes 3-5/6" }, body: "def" };
    const wrong = { status: 206, headers: { "content-range": "bytes 0-5/6" }, body: "abcdef" };
    const whole = { body: "abcdef" };
    const none = { status: 416, body: "" };
    await withBatches(kind, [whole, part, whole, wrong, none], async (batches, seen) => {
      const read = async (from: number) => {
        const content = await batches.results("files/a", from);
        return [content.from, await new Response(ReadableStream.from(content.chunks)).text()];
      };
      assertEquals(await read(0), [0, "abcdef"]);
      assertEquals(await read(3), [3, "def"]);
      assertEquals(await read(3), [0, "abcdef"]);
      assertEquals(await read(3), [0, "abcdef"]);
      assertEquals(await read(6), [6, ""]);
      assertEquals(seen.map(({ headers }) => headers.get("range")), [
        null,
        "bytes=3-",
        "bytes=3-",
        "bytes=3-",
        "bytes=6-",
      ]);
    });
  });
}

Deno.test("openai batches: one is found by its metadata, on any page and not among older ones", async () => {
  const batch = (id: string, mark: string | null, at: number) => ({
    id,
    status: "in_progress",
    created_at: at,
    metadata: mark === null ? null : { switchyard: mark },
  });
  const pages = [
    { data: [batch("b3", "0a-2-1", 300), batch("b2", null, 250)], has_more: true },
    { data: [batch("b1", "0a-1-1", 200)], has_more: true },
  ];
  await withBatches("openai", pages, async (batches, seen) => {
    assertEquals(await batches.find(orderOf(), 100_000), { id: "b1" });
    assertEquals(seen[1]?.path, "/base/batches?limit=100&after=b2");
  });
  await withBatches("openai", pages, async (batches, seen) => {
    assertEquals(await batches.find(orderOf(), 260_000), "absent");
    assertEquals(seen.length, 1);
  });
});

Deno.test("openai batches: the whole batch fails with the vendor's code, and its key is in no message", async () => {
  const failed = (code: string) => ({
    id: "b",
    status: "failed",
    errors: { data: [{ code, message: "Too many tokens of key-of-vendor-0123456789" }] },
  });
  await withBatches("openai", [failed("token_limit_exceeded"), failed("other"), { status: 404, body: {} }], async (
    batches,
  ) => {
    const read = async () => {
      const progress = await batches.read("b");
      return progress.state === "ended" ? progress.failure : progress.state;
    };
    const temporary = await read();
    assertEquals(temporary, {
      code: "token_limit_exceeded",
      message: "Too many tokens of [redacted]",
      isTemporary: true,
    });
    const other = await read();
    assertEquals(typeof other === "object" && other?.isTemporary, false);
    assertEquals(await read(), "gone");
  });
});

Deno.test("anthropic batches: one with an unknown outcome is found by its lines, when it has ended", async () => {
  const batch = (id: string, status: string, total: number, at: string) => ({
    id,
    processing_status: status,
    created_at: at,
    request_counts: { processing: total, succeeded: 0, errored: 0, canceled: 0, expired: 0 },
  });
  const now = "2026-11-29T12:00:00Z";
  const since = Date.parse("2026-11-29T11:00:00Z");
  const page = (...data: unknown[]) => ({ data, has_more: false });
  const results = (id: string) => `{"custom_id":"${id}","result":{"type":"canceled"}}\n{}`;
  const cases: [readonly unknown[], unknown][] = [
    [[page(batch("other", "in_progress", 3, now))], "absent"],
    [[page(batch("old", "ended", 2, "2026-11-29T10:00:00Z"))], "absent"],
    [[page(batch("open", "in_progress", 2, now))], "unclear"],
    [[page(batch("own", "ended", 2, now)), results("0a-1-7")], { id: "own" }],
    [[page(batch("foreign", "ended", 2, now)), results("0a-2-7")], "absent"],
  ];
  for (const [answers, expected] of cases) {
    await withBatches("anthropic", answers, async (batches) => {
      assertEquals(await batches.find(orderOf(), since), expected);
    });
  }
});

Deno.test("anthropic batches: the lines are the list of one body, whose length is stated", async () => {
  const made = { id: "msgbatch_1", processing_status: "in_progress" };
  await withBatches("anthropic", [made], async (batches, seen) => {
    assertEquals(await batches.create(orderOf(3), signal), "msgbatch_1");
    assertEquals(decoder.decode(seen[0]?.bytes), '{"requests":[{},{},{}]}');
    assertEquals(seen[0]?.headers.get("content-length"), "23");
  });
});

Deno.test("google batches: an upload to an address of another host is refused, so that the key is not sent there", async () => {
  await withBatches("google", [{}], async (batches, seen) => {
    await assertRejects(() => batches.upload?.(orderOf().content, signal) ?? Promise.resolve(), UpstreamFailure);
    assertEquals(seen.length, 1);
  });
});

Deno.test("google batches: one is found by its name on any page, and its results by either place of their file", async () => {
  const operation = (name: string, mark: string) => ({ name, metadata: { displayName: mark, state: "X" } });
  const pages = [{ operations: [operation("batches/a", "x")], nextPageToken: "t" }, {
    operations: [operation("batches/b", "0a-1-1")],
  }];
  await withBatches("google", pages, async (batches) => {
    assertEquals(await batches.find(orderOf(), 0), { id: "batches/b" });
  });
  const output = { responsesFile: "files/out" };
  const ended = (fields: object) => ({ name: "batches/a", metadata: { state: "BATCH_STATE_SUCCEEDED" }, ...fields });
  const places = [
    { name: "batches/a", metadata: { state: "JOB_STATE_SUCCEEDED", output } },
    ended({ response: output }),
    ended({ response: { output } }),
    ended({ response: { responsesFile: "https://elsewhere.example/x" } }),
  ];
  await withBatches("google", places, async (batches) => {
    for (const results of [["files/out"], ["files/out"], ["files/out"], []]) {
      assertEquals(await batches.read("batches/a"), { state: "ended", failure: null, results });
    }
  });
});
