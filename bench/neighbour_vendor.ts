/**
 * The vendor of the neighbours benchmark. The first segment of the path is the kind of its reply. It prints its address
 * when it listens.
 */

import { plainPng } from "../tests/support/heavy_media.ts";

const ENCODER = new TextEncoder();
const USAGE = '"usage":{"prompt_tokens":12,"completion_tokens":4,"total_tokens":16}';
const SMALL = reply('"Hello there, caller"');
const HUGE_BYTES = 60_000_000;
const FRAME_BYTES = 900_000;
const PACE_MS = 100;
const LONG_REPLY_BYTES = 30_000_000;
const LIST_REPLY_BYTES = 3_000_000;
const BURST_EVENTS = 50_000;
const GIANT_EVENT_BYTES = 4_000_000;
const IMAGE = plainPng(1_000, 1_000);

function reply(content: string): Uint8Array<ArrayBuffer> {
  const choice = `{"index":0,"message":{"role":"assistant","content":${content}},"finish_reason":"stop"}`;
  return ENCODER.encode(`{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[${choice}],${USAGE}}`);
}

/** An unexpectedly large reply of small values. */
function hugeReply(size: number): Uint8Array<ArrayBuffer> {
  const small = ENCODER.encode('{"id":"c","object":"chat.completion","created":1,"model":"m","junk":[[]');
  const bytes = new Uint8Array(size);
  bytes.set(small);
  const item = ENCODER.encode(",[]");
  const rest = ENCODER.encode(
    `],"choices":[{"index":0,"message":{"role":"assistant","content":"x"},"finish_reason":"stop"}],${USAGE}}`,
  );
  let at = small.length;
  for (; at + item.length < bytes.length - rest.length; at += item.length) bytes.set(item, at);
  bytes.fill(0x20, at, bytes.length - rest.length);
  bytes.set(rest, bytes.length - rest.length);
  return bytes;
}

function chunk(delta: string, extra = ""): string {
  const choice = `{"index":0,"delta":{${delta}},"finish_reason":null}`;
  return `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[${choice}]${extra}}\n\n`;
}

/** A stream that continues until the client disconnects. */
function endless(): ReadableStream<Uint8Array> {
  let timer: ReturnType<typeof setInterval>;
  return new ReadableStream({
    start(controller) {
      timer = setInterval(() => controller.enqueue(ENCODER.encode(chunk('"content":"word "'))), PACE_MS);
    },
    cancel: () => clearInterval(timer),
  });
}

/** A stream of frames near the gateway's size limit, each full of small values. */
function largeFrames(): ReadableStream<Uint8Array> {
  const junk = `,"junk":[${new Array(FRAME_BYTES / 3).fill("[]").join(",")}]`;
  return ReadableStream.from((function* () {
    for (let nth = 0; nth < 20; nth++) yield ENCODER.encode(chunk('"content":"word "', junk));
    yield ENCODER.encode(
      `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[],${USAGE}}\n\n`,
    );
    yield ENCODER.encode("data: [DONE]\n\n");
  })());
}

const DELTA = chunk('"content":"word "');
const END = `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[],${USAGE}}\n\n` +
  "data: [DONE]\n\n";

/** What comes between the first event of a stream and its end, by kind. */
const BETWEEN: Readonly<Record<string, () => string>> = {
  burst: () => DELTA.repeat(BURST_EVENTS),
  comments: () => ": ping\n\n".repeat(500_000),
  blanks: () => "\n".repeat(4_000_000),
  giant: () => chunk(`"content":"${"x".repeat(GIANT_EVENT_BYTES)}"`),
};

/** A stream that is sent in one chunk. */
function oneChunk(kind: string): Uint8Array<ArrayBuffer> {
  return ENCODER.encode(DELTA + (BETWEEN[kind]?.() ?? "") + END);
}

/** A stream whose chunks have one byte each. */
function drops(): ReadableStream<Uint8Array> {
  const bytes = ENCODER.encode(DELTA.repeat(100) + END);
  return ReadableStream.from((function* () {
    for (let at = 0; at < bytes.length; at++) yield bytes.subarray(at, at + 1);
  })());
}

/** A stream that is sent as fast as it is read, until the client disconnects. */
function fast(): ReadableStream<Uint8Array> {
  const events = ENCODER.encode(DELTA.repeat(400));
  return new ReadableStream({ pull: (controller) => controller.enqueue(events) });
}

/** Large replies, which are made once. */
interface LargeReplies {
  readonly huge: Uint8Array<ArrayBuffer>;
  readonly lists: Uint8Array<ArrayBuffer>;
  readonly novel: Uint8Array<ArrayBuffer>;
}

async function answer(request: Request, large: LargeReplies): Promise<Response> {
  const kind = new URL(request.url).pathname.split("/")[1];
  for await (const _ of request.body ?? []); // read and dropped
  const json = { headers: { "content-type": "application/json" } };
  const events = { headers: { "content-type": "text/event-stream" } };
  switch (kind) {
    case "huge":
    case "lists":
    case "novel":
      return new Response(large[kind], json);
    case "burst":
    case "comments":
    case "blanks":
    case "giant":
      return new Response(oneChunk(kind), events);
    case "drops":
      return new Response(drops(), events);
    case "fast":
      return new Response(fast(), events);
    case "pictures":
      return new Response(IMAGE, { headers: { "content-type": "image/png" } });
    case "endless":
      return new Response(endless(), events);
    case "frames":
      return new Response(largeFrames(), events);
    case "images":
      return Response.json({ created: 1, data: [{ b64_json: "iVBORw0KGgo=" }] });
    default:
      return new Response(SMALL, json);
  }
}

if (import.meta.main) {
  const large: LargeReplies = {
    huge: hugeReply(HUGE_BYTES),
    lists: hugeReply(LIST_REPLY_BYTES),
    novel: reply(JSON.stringify("Some words. ".repeat(LONG_REPLY_BYTES / 12))),
  };
  Deno.serve({
    hostname: "127.0.0.1",
    port: 0,
    onListen: ({ port }) => console.log(`http://127.0.0.1:${port}`),
  }, (request) => answer(request, large));
}
