import { assertEquals, assertRejects, assertStrictEquals } from "@std/assert";
import { JoinedBytes } from "../../../src/platform/lib/bytes/joined_bytes.ts";
import type { ReadCallbacks } from "../../../src/platform/net/http1/response.ts";
import { eventMessage } from "../../../src/sandbox/families/bedrock/bedrock_frames.ts";
import { eventResponse } from "../../../src/vendors/upstreams/bedrock/event_response.ts";
import { messagesFrameOf } from "../../../src/vendors/upstreams/bedrock/messages_frames.ts";
import type { OutboundResponse } from "../../../src/vendors/upstreams/call/outbound_call.ts";

/** A vendor's response that arrives in these pieces, then ends or fails. */
class Scripted implements OutboundResponse {
  readonly status = 200;
  isCancelled = false;
  readonly #pieces: Uint8Array<ArrayBuffer>[];

  constructor(
    pieces: readonly Uint8Array[],
    readonly failure: Error | null = null,
    readonly mediaType = "application/vnd.amazon.eventstream",
  ) {
    this.#pieces = pieces.map((piece) => new Uint8Array(piece));
  }

  header(name: string): string {
    return `value of ${name}`;
  }
  read(): Promise<null> {
    return Promise.resolve(null);
  }
  readNext(callbacks: ReadCallbacks): void {
    queueMicrotask(() => {
      const piece = this.#pieces.shift();
      if (piece !== undefined) callbacks.onChunk(piece);
      else if (this.failure !== null) callbacks.onError(this.failure);
      else callbacks.onEnd();
    });
  }
  takeArrived(): null {
    return null;
  }
  readAll(): Promise<Uint8Array<ArrayBuffer>> {
    return Promise.resolve(new Uint8Array());
  }
  readBody(): Promise<JoinedBytes> {
    return Promise.resolve(new JoinedBytes());
  }
  cancel(): void {
    this.isCancelled = true;
  }
}

const chunk = (json: string) => eventMessage("chunk", JSON.stringify({ bytes: btoa(json), p: "abc" }));

const STREAM = [
  chunk('{"type":"message_start","message":{}}'),
  eventMessage("ping", "{}"),
  chunk('{\n  "usage": {}, "type": "message_delta"\n}'),
  chunk('{"type":"message_stop"}'),
];
const TEXT = [
  'event: message_start\ndata: {"type":"message_start","message":{}}\n\n',
  'event: message_delta\ndata: {\ndata:   "usage": {}, "type": "message_delta"\ndata: }\n\n',
  'event: message_stop\ndata: {"type":"message_stop"}\n\n',
].join("");
const BYTES = new Uint8Array(STREAM.flatMap((message) => [...message]));

async function textOf(response: OutboundResponse): Promise<string> {
  let text = "";
  for (let bytes = await response.read(); bytes !== null; bytes = await response.read()) {
    text += new TextDecoder().decode(bytes);
  }
  return text;
}

const opened = (vendor: OutboundResponse, onHeldBytes: (bytes: number) => void = () => {}) =>
  eventResponse(vendor, messagesFrameOf, onHeldBytes);

Deno.test("bedrock: a stream becomes server-sent events, however it is cut", async () => {
  const response = opened(new Scripted([BYTES]));
  assertEquals([response.status, response.mediaType], [200, "text/event-stream"]);
  assertEquals(response.header("x"), "value of x");
  assertEquals(await textOf(response), TEXT);
  for (let at = 1; at < BYTES.length; at++) {
    assertEquals(await textOf(opened(new Scripted([BYTES.slice(0, at), BYTES.slice(at)]))), TEXT, `cut at ${at}`);
  }
  assertEquals(await textOf(opened(new Scripted([...BYTES].map((byte) => new Uint8Array([byte]))))), TEXT);
  assertEquals(new TextDecoder().decode(await opened(new Scripted([BYTES])).readAll(10_000)), TEXT);
});

Deno.test("bedrock: a response that is no event stream is left as it is", () => {
  const vendor = new Scripted([], null, "application/json");
  assertStrictEquals(opened(vendor), vendor);
});

Deno.test("bedrock: events before an invalid message are given, and the vendor is cancelled", async () => {
  const broken = new Uint8Array([...(STREAM[0] ?? []), ...new Uint8Array(40)]);
  const vendor = new Scripted([broken, BYTES]);
  const held: number[] = [];
  const response = opened(vendor, (bytes) => void held.push(bytes));
  assertEquals(new TextDecoder().decode(await response.read() ?? undefined), TEXT.slice(0, TEXT.indexOf("\n\n") + 2));
  assertEquals(vendor.isCancelled, true);
  await assertRejects(() => response.read(), RangeError, "Cannot read a message of the event stream");
  await assertRejects(() => response.read(), RangeError);
  assertEquals(held.at(-1), 0);
});

Deno.test("bedrock: an invalid first message and a failing connection are errors of the read", async () => {
  await assertRejects(() => opened(new Scripted([new Uint8Array(40)])).read(), RangeError);
  const lost = opened(new Scripted([BYTES.slice(0, 30)], new Error("lost")));
  await assertRejects(() => lost.read(), Error, "lost");
});

Deno.test("bedrock: a chunk without an event is an error, not the end", async () => {
  for (const payload of ["{}", '{"bytes":7}', "[]", "no JSON"]) {
    await assertRejects(() => opened(new Scripted([eventMessage("chunk", payload)])).read(), TypeError);
  }
});

Deno.test("bedrock: exceptions are errors of Anthropic's format", async () => {
  const errorOf = async (type: string, payload: string) => {
    const [event, data = ""] = (await textOf(opened(new Scripted([eventMessage(type, payload)])))).split("\ndata: ");
    return [event, JSON.parse(data).error];
  };
  for (
    const [exception, type] of [
      ["throttlingException", "rate_limit_error"],
      ["validationException", "invalid_request_error"],
      ["modelTimeoutException", "timeout_error"],
      ["serviceUnavailableException", "overloaded_error"],
      ["modelStreamErrorException", "api_error"],
      ["anotherException", "api_error"],
      ["constructorException", "api_error"],
    ] as const
  ) {
    assertEquals(await errorOf(exception, '{"message":"No\\n"}'), ["event: error", { type, message: "No\n" }]);
  }
  assertEquals(await errorOf("throttlingException", "no JSON"), ["event: error", {
    type: "rate_limit_error",
    message: "",
  }]);
});

Deno.test("bedrock: the memory of an unfinished message is counted until the stream ends", async () => {
  const held: number[] = [];
  const response = opened(new Scripted([BYTES.slice(0, 40)]), (bytes) => void held.push(bytes));
  assertEquals(await response.read(), null);
  assertEquals([Math.max(...held), held.at(-1)], [40, 0]);
});
