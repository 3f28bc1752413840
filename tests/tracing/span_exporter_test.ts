import { assertEquals } from "@std/assert";
import { jsonLog } from "../../src/platform/lib/basics/log.ts";
import type { HttpClient } from "../../src/platform/net/http1/client.ts";
import { ConnectionError } from "../../src/platform/net/http1/connection_error.ts";
import type { HttpResponse, ReadCallbacks } from "../../src/platform/net/http1/response.ts";
import { attributesOf, SERVER, type Span } from "../../src/observers/tracing/otlp.ts";
import { SpanExporter } from "../../src/observers/tracing/span_exporter.ts";
import { ioTurn } from "../support/io_turn.ts";
import { ManualClock } from "../support/manual_clock.ts";

const SPAN: Span = {
  traceId: "a".repeat(32),
  spanId: "b".repeat(16),
  name: "POST /v1/chat/completions",
  kind: SERVER,
  startTimeUnixNano: "1",
  endTimeUnixNano: "2",
  attributes: [],
  status: {},
};
const spans = (count: number): Span[] => Array.from({ length: count }, () => SPAN);

/** What the collector does with an export. */
type Reply = "hang" | "refuse the connection" | { status: number; body?: string; retryAfter?: string };

function setup(...replies: Reply[]) {
  const clock = new ManualClock();
  const sizes: number[] = [];
  const logLines: string[] = [];
  const client: HttpClient = {
    send(_origin, { body }, onOpen) {
      const { resourceSpans } = JSON.parse(new TextDecoder().decode(body as Uint8Array));
      sizes.push(resourceSpans[0].scopeSpans[0].spans.length);
      const reply = replies.shift() ?? { status: 200 };
      if (reply === "refuse the connection") {
        return Promise.reject(new ConnectionError("Cannot connect", "connect", "unsent"));
      }
      if (reply === "hang") {
        return new Promise((_, reject) => {
          onOpen?.(() => reject(new ConnectionError("Cancelled", "cancelled", "sent")));
        });
      }
      return Promise.resolve(responseOf(reply));
    },
    close() {},
  };
  const exporter = new SpanExporter({
    endpoint: new URL("http://collector:4318/v1/traces"),
    headerLines: "",
    resource: attributesOf({ "service.name": "switchyard" }),
    client,
    clock,
    log: jsonLog("debug", (line) => void logLines.push(line)),
    random: () => 0.5,
  });
  const pass = async (ms: number) => {
    clock.advance(ms);
    await ioTurn();
  };
  return { exporter, sizes, pass, logLines, counts: () => [exporter.exported, exporter.dropped] };
}

function responseOf({ status, body = "", retryAfter }: { status: number; body?: string; retryAfter?: string }) {
  let rest: Uint8Array<ArrayBuffer> | null = new TextEncoder().encode(body);
  return {
    status,
    head: { get: (name: string) => name === "retry-after" ? retryAfter ?? null : null },
    readNext(callbacks: ReadCallbacks) {
      const bytes = rest;
      rest = null;
      queueMicrotask(() => bytes === null ? callbacks.onEnd() : callbacks.onChunk(bytes));
    },
    cancel() {},
  } as unknown as HttpResponse;
}

Deno.test("spans are exported together after five seconds, or at once when a batch is full", async () => {
  const { exporter, sizes, pass, counts } = setup();
  exporter.add(spans(2));
  await pass(4_999);
  exporter.add(spans(1));
  assertEquals(sizes, []);
  await pass(1);
  assertEquals(sizes, [3]);
  exporter.add(spans(1_100));
  await pass(0);
  assertEquals(sizes, [3, 512, 512]);
  await pass(5_000);
  assertEquals(sizes, [3, 512, 512, 76]);
  assertEquals(counts(), [1_103, 0]);
});

for (const status of [429, 502, 503, 504]) {
  Deno.test(`a batch that is answered ${status} is sent again with growing delays, five times in all`, async () => {
    const { exporter, sizes, pass, counts } = setup(...Array.from({ length: 5 }, () => ({ status })));
    exporter.add(spans(3));
    await pass(5_000);
    for (const delay of [1_000, 2_000, 4_000, 8_000]) {
      const before = sizes.length;
      await pass(delay - 1);
      assertEquals(sizes.length, before);
      await pass(1);
      assertEquals(sizes.length, before + 1);
    }
    assertEquals(counts(), [0, 3]);
  });
}

Deno.test("Retry-After sets the delay, up to a minute", async () => {
  const { exporter, sizes, pass, counts } = setup(
    { status: 503, retryAfter: "7" },
    { status: 503, retryAfter: "99999999" },
  );
  exporter.add(spans(1));
  await pass(5_000);
  await pass(6_999);
  assertEquals(sizes.length, 1);
  await pass(1);
  assertEquals(sizes.length, 2);
  await pass(60_000);
  assertEquals([sizes.length, ...counts()], [3, 1, 0]);
});

Deno.test("a refused batch is dropped, and a redirect is not followed", async () => {
  for (const status of [301, 400, 401, 500]) {
    const { exporter, sizes, pass, counts, logLines } = setup({ status });
    exporter.add(spans(2));
    await pass(5_000);
    await pass(60_000);
    assertEquals([sizes.length, ...counts()], [1, 0, 2]);
    assertEquals(JSON.parse(logLines[0] ?? "").reason, `the collector responded with status ${status}`);
  }
});

Deno.test("spans that the collector rejects count as dropped; a response that makes no sense does not", async () => {
  const { exporter, pass, counts } = setup(
    { status: 200, body: '{"partialSuccess":{"rejectedSpans":"2"}}' },
    { status: 200, body: '{"partialSuccess":{"rejectedSpans":1e9}}' },
    { status: 200, body: "<html>" },
    { status: 200, body: `{"partialSuccess":{"rejectedSpans":-1},"x":"${"x".repeat(100_000)}"}` },
  );
  for (let export_ = 0; export_ < 4; export_++) {
    exporter.add(spans(3));
    await pass(5_000);
  }
  assertEquals(counts(), [1 + 0 + 3 + 3, 2 + 3]);
});

Deno.test("a collector that is down or hangs costs a bounded queue and nothing else", async () => {
  const { exporter, sizes, pass, counts, logLines } = setup("refuse the connection", "hang", ...Array(40).fill("hang"));
  exporter.add(spans(1));
  await pass(5_000);
  for (let each = 0; each < 20_000; each++) exporter.add([SPAN]);
  assertEquals(exporter.dropped, 20_001 - 8_192);
  await pass(1_000);
  assertEquals(sizes, [1, 1]);
  await pass(9_999);
  assertEquals(sizes, [1, 1]);
  await pass(1); // the time limit
  await pass(2_000);
  assertEquals(sizes, [1, 1, 1]);
  assertEquals(logLines.length, 1);
  assertEquals(counts()[0], 0);
});

Deno.test("close() exports what is queued, also the rest of a backoff, and drops it if the collector hangs", async () => {
  const whole = setup();
  whole.exporter.add(spans(1_000));
  whole.exporter.add(spans(1));
  await whole.exporter.close();
  assertEquals(whole.counts(), [1_001, 0]);

  const waiting = setup({ status: 503, retryAfter: "60" });
  waiting.exporter.add(spans(2));
  await waiting.pass(5_000);
  await waiting.exporter.close();
  assertEquals([waiting.sizes, ...waiting.counts()], [[2, 2], 2, 0]);

  const hanging = setup("hang");
  hanging.exporter.add(spans(700));
  const closed = hanging.exporter.close();
  await hanging.pass(5_000);
  await closed;
  assertEquals(hanging.counts(), [0, 700]);
  hanging.exporter.add(spans(1));
  assertEquals(hanging.counts(), [0, 701]);
});
