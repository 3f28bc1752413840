/**
 * The vendor of the neighbours benchmark. The first segment of the path is the kind of its reply. It prints its address
 * when it listens.
 */

const ENCODER = new TextEncoder();
const USAGE = '"usage":{"prompt_tokens":12,"completion_tokens":4,"total_tokens":16}';
const SMALL = reply('"Hello there, caller"');
const HUGE_BYTES = 60_000_000;
const FRAME_BYTES = 900_000;
const PACE_MS = 100;

function reply(content: string): Uint8Array<ArrayBuffer> {
  const choice = `{"index":0,"message":{"role":"assistant","content":${content}},"finish_reason":"stop"}`;
  return ENCODER.encode(`{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[${choice}],${USAGE}}`);
}

/** An unexpectedly large reply of small values. */
function hugeReply(): Uint8Array<ArrayBuffer> {
  const small = ENCODER.encode('{"id":"c","object":"chat.completion","created":1,"model":"m","junk":[[]');
  const bytes = new Uint8Array(HUGE_BYTES);
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

async function answer(request: Request, huge: Uint8Array<ArrayBuffer>): Promise<Response> {
  const kind = new URL(request.url).pathname.split("/")[1];
  for await (const _ of request.body ?? []); // read and dropped
  const json = { headers: { "content-type": "application/json" } };
  const events = { headers: { "content-type": "text/event-stream" } };
  switch (kind) {
    case "huge":
      return new Response(huge, json);
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
  const huge = hugeReply();
  Deno.serve({
    hostname: "127.0.0.1",
    port: 0,
    onListen: ({ port }) => console.log(`http://127.0.0.1:${port}`),
  }, (request) => answer(request, huge));
}
