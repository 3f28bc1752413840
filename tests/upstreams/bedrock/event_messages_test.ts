import { assertEquals, assertThrows } from "@std/assert";
import { EventStreamCodec } from "@smithy/eventstream-codec";
import { eventMessage } from "../../../src/sandbox/families/bedrock/bedrock_frames.ts";
import { EventMessageReader } from "../../../src/vendors/upstreams/bedrock/event_messages.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const official = new EventStreamCodec((bytes) => decoder.decode(bytes as Uint8Array), (text) => encoder.encode(text));

const HEADERS = {
  ":message-type": { type: "string", value: "event" },
  ":event-type": { type: "string", value: "chunk" },
  yes: { type: "boolean", value: true },
  no: { type: "boolean", value: false },
  byte: { type: "byte", value: -1 },
  short: { type: "short", value: 2 },
  integer: { type: "integer", value: 3 },
  binary: { type: "binary", value: new Uint8Array([1, 2]) },
  timestamp: { type: "timestamp", value: new Date(0) },
  uuid: { type: "uuid", value: "12345678-1234-1234-1234-123456789abc" },
  ":content-type": { type: "string", value: "application/json" },
} as const;

const STREAM = joined([
  official.encode({ headers: HEADERS, body: encoder.encode('{"one":"Grüße"}') }),
  official.encode({ headers: {}, body: new Uint8Array(0) }),
  official.encode({ headers: { ":event-type": { type: "string", value: "last" } }, body: encoder.encode("{}") }),
]);
const READ = [
  { type: "chunk", payload: '{"one":"Grüße"}' },
  { type: undefined, payload: "" },
  { type: "last", payload: "{}" },
];

function joined(parts: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(parts.flatMap((part) => [...part]));
}

function readAll(pieces: readonly Uint8Array[], onHeldBytes?: (bytes: number) => void) {
  const reader = new EventMessageReader(onHeldBytes);
  const read: { type: string | undefined; payload: string }[] = [];
  for (const piece of pieces) {
    reader.push(piece, ({ headers, payload }) => {
      read.push({ type: headers.get(":event-type"), payload: decoder.decode(payload) });
    });
  }
  return read;
}

Deno.test("event messages: the vendor's own encoding is read, however it is cut", () => {
  assertEquals(readAll([STREAM]), READ);
  for (let at = 0; at <= STREAM.length; at++) {
    assertEquals(readAll([STREAM.subarray(0, at), STREAM.subarray(at)]), READ, `cut at ${at}`);
  }
  assertEquals(readAll([...STREAM].map((byte) => new Uint8Array([byte]))), READ);
});

Deno.test("event messages: headers that are not text are skipped", () => {
  const names: string[][] = [];
  new EventMessageReader().push(STREAM, ({ headers }) => void names.push([...headers.keys()]));
  assertEquals(names[0], [":message-type", ":event-type", ":content-type"]);
});

Deno.test("event messages: a stream that was cut off gives its whole messages", () => {
  assertEquals(readAll([STREAM.subarray(0, STREAM.length - 1)]), READ.slice(0, 2));
  assertEquals(readAll([STREAM.subarray(0, 20)]), []);
});

Deno.test("event messages: every single wrong byte is noticed, after the messages before it", () => {
  const messages = [eventMessage("one", '{"a":1}'), eventMessage("two", '{"b":2}')];
  const whole = joined(messages);
  const [before] = messages;
  for (let at = before?.length ?? 0; at < whole.length; at++) {
    const broken = whole.slice();
    broken[at] = (broken[at] ?? 0) ^ 0x41;
    const read: string[] = [];
    const reader = new EventMessageReader();
    assertThrows(
      () => {
        reader.push(broken, ({ payload }) => void read.push(decoder.decode(payload)));
      },
      RangeError,
      "Cannot read a message of the event stream",
      `byte ${at}`,
    );
    assertEquals(read, ['{"a":1}']);
  }
});

/** The start of a message with valid checksums and these lengths. */
function prelude(length: number, headerBytes: number): Uint8Array {
  const view = new DataView(new ArrayBuffer(12));
  view.setUint32(0, length);
  view.setUint32(4, headerBytes);
  view.setUint32(8, crc32Of(new Uint8Array(view.buffer, 0, 8)));
  return new Uint8Array(view.buffer);
}

function crc32Of(bytes: Uint8Array): number {
  let sum = 0xffffffff;
  for (const byte of bytes) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit++) sum = sum & 1 ? (sum >>> 1) ^ 0xedb88320 : sum >>> 1;
  }
  return ~sum >>> 0;
}

Deno.test("event messages: lengths beyond the limits are refused before memory is taken", () => {
  for (
    const [length, headerBytes, why] of [
      [0xffffffff, 0, "it is too long"],
      [16_777_216 + 17, 0, "it is too long"],
      [200_000, 131_073, "its headers are too long"],
      [15, 0, "its lengths contradict each other"],
      [40, 30, "its lengths contradict each other"],
    ] as const
  ) {
    assertThrows(() => readAll([prelude(length, headerBytes)]), RangeError, why);
  }
});

Deno.test("event messages: what is held is counted, and grows with what arrived", () => {
  const held: number[] = [];
  const large = prelude(1_000_000, 0);
  assertEquals(readAll([large, new Uint8Array(100), new Uint8Array(5_000)], (bytes) => void held.push(bytes)), []);
  assertEquals(held.at(-1), 5_112);
  assertEquals(Math.max(...held), 5_112);
});

Deno.test("event messages: an exception of the memory's owner ends the reading", () => {
  const refuse = (bytes: number) => {
    if (bytes > 1_000) throw new Error("no memory");
  };
  assertThrows(() => readAll([prelude(1_000_000, 0), new Uint8Array(5_000)], refuse), Error, "no memory");
});

Deno.test("event messages: a header that is cut off or of an unknown type is refused", () => {
  const withHeader = (bytes: readonly number[]) => {
    const message = new Uint8Array(16 + bytes.length);
    message.set(prelude(message.length, bytes.length));
    message.set(bytes, 12);
    new DataView(message.buffer).setUint32(message.length - 4, crc32Of(message.subarray(0, -4)));
    return message;
  };
  assertEquals(readAll([withHeader([1, 97, 0])]), [{ type: undefined, payload: "" }]);
  for (const bytes of [[5, 97], [1, 97], [1, 97, 7], [1, 97, 7, 0], [1, 97, 7, 0, 9], [1, 97, 10], [1, 97, 4, 0]]) {
    assertThrows(() => readAll([withHeader(bytes)]), RangeError, "a header", String(bytes));
  }
});

Deno.test("event messages: the simulated vendor's encoding is the vendor's own", () => {
  const payload = '{"message":"Grüße"}';
  for (const [type, kind] of [["chunk", "event"], ["throttlingException", "exception"]]) {
    const { headers, body } = official.decode(eventMessage(type ?? "", payload));
    assertEquals([headers[`:${kind}-type`]?.value, headers[":message-type"]?.value], [type, kind]);
    assertEquals(decoder.decode(body), payload);
  }
});

Deno.test("event messages: a long message in many pieces is moved no more often than its length says", () => {
  const message = eventMessage("chunk", "x".repeat(2_000_000));
  const { copyWithin } = Uint8Array.prototype;
  let movedBytes = 0;
  Uint8Array.prototype.copyWithin = function (this: Uint8Array<ArrayBuffer>, target, start, end) {
    movedBytes += (end ?? this.length) - start;
    return copyWithin.call(this, target, start, end) as typeof this;
  };
  try {
    const pieces = Array.from({ length: 2_000 }, (_, nth) => message.subarray(1_001 * nth, 1_001 * (nth + 1)));
    assertEquals(readAll(pieces).length, 1);
  } finally {
    Uint8Array.prototype.copyWithin = copyWithin;
  }
  assertEquals(movedBytes, 0);
});
