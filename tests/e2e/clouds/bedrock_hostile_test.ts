import { Buffer } from "node:buffer";
import { crc32 } from "node:zlib";
import { assert, assertEquals, assertMatch } from "@std/assert";
import { eventMessage } from "../../../src/sandbox/families/bedrock/bedrock_frames.ts";
import { CALLER_PROTOCOLS, sendAs } from "../caller_protocols.ts";
import { CLAUDE, NOVA, withBedrock } from "./bedrock_stage.ts";

/** The start of a stream with one word, in the format of a model. */
const STARTS: Readonly<Record<string, readonly Uint8Array[]>> = {
  [CLAUDE]: [
    '{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude","content":[],' +
    '"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":3,"output_tokens":1}}}',
    '{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}',
    '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"word1"}}',
  ].map((json) => eventMessage("chunk", JSON.stringify({ bytes: btoa(json) }))),
  [NOVA]: [
    eventMessage("messageStart", '{"role":"assistant"}'),
    eventMessage("contentBlockDelta", '{"contentBlockIndex":0,"delta":{"text":"word1"}}'),
  ],
};

function wrong(message: Uint8Array, at: number): Uint8Array {
  const bytes = new Uint8Array(message);
  const index = at < 0 ? bytes.length + at : at;
  bytes.set([(bytes[index] ?? 0) ^ 1], index);
  return bytes;
}

const NEXT = eventMessage("contentBlockDelta", '{"contentBlockIndex":0,"delta":{"text":"word2"}}');
const ENDLESS = 40_000_000;

/** What follows the start, and the error of the caller. */
const FAULTS: Readonly<Record<string, readonly [bytes: Uint8Array | null, error: RegExp]>> = {
  "nothing": [new Uint8Array(0), /ended the stream before the reply was complete/],
  "half a message": [NEXT.slice(0, 30), /ended the stream before the reply was complete/],
  "a wrong checksum of lengths": [wrong(NEXT, 9), /invalid response/],
  "a wrong checksum": [wrong(NEXT, -1), /invalid response/],
  "a changed payload": [wrong(NEXT, -10), /invalid response/],
  "server-sent events": [new TextEncoder().encode('data: {"text":"word2"}\n\n'), /invalid response/],
  "an event that is not JSON": [eventMessage("contentBlockDelta", "word2"), /invalid response|before the reply/],
  "a message of the greatest length, and more": [null, /invalid response|Not enough memory/],
  "an exception": [eventMessage("throttlingException", '{"message":"Too many tokens"}'), /Too many tokens/],
};

for (const [name, [bytes, error]] of Object.entries(FAULTS)) {
  Deno.test(`bedrock: a stream that goes on with ${name} ends in an error of every protocol`, async () => {
    let start: readonly Uint8Array[] = [];
    let sent = 0;
    const vendor = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, () => {
      const parts = [...start, bytes ?? greatest()];
      const body = new ReadableStream<Uint8Array>({
        pull(controller) {
          const part = parts.shift() ?? (bytes === null && sent < ENDLESS ? new Uint8Array(65_536) : undefined);
          if (part === undefined) return controller.close();
          sent += part.length;
          if (part.length > 0) controller.enqueue(part);
          else controller.close();
        },
      });
      return new Response(body, { headers: { "content-type": "application/vnd.amazon.eventstream" } });
    });
    try {
      const provider = { base_url: `http://127.0.0.1:${vendor.addr.port}`, api_key: "key", secret_key: undefined };
      await withBedrock(async ({ gateway }) => {
        for (const [model, opening] of Object.entries(STARTS)) {
          for (const face of CALLER_PROTOCOLS) {
            start = opening;
            sent = 0;
            const reply = await sendAs(face, gateway, { model, stream: true });
            assertEquals(reply.status, 200);
            assertMatch(reply.text, /word1/, face.name);
            assertMatch(reply.text, error, `${face.name} ${model}`);
            assert(!reply.text.includes("word2"), face.name);
            assert(sent < ENDLESS, "the vendor is not read to its end");
          }
        }
      }, { provider });
    } finally {
      await vendor.shutdown();
    }
  });
}

/** The start of a message of the greatest length. */
function greatest(): Uint8Array {
  const start = Buffer.alloc(12);
  start.writeUInt32BE(16_777_216 + 16, 0);
  start.writeUInt32BE(crc32(start.subarray(0, 8)), 8);
  return start;
}

Deno.test("bedrock: a whole reply that is none is an error, and so is a stream of another type", async () => {
  const vendor = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    (request) => request.url.includes("stream") ? new Response("<html>") : Response.json({ hello: "world" }),
  );
  try {
    const provider = { base_url: `http://127.0.0.1:${vendor.addr.port}`, api_key: "key", secret_key: undefined };
    await withBedrock(async ({ gateway }) => {
      for (const model of [CLAUDE, NOVA]) {
        for (const face of CALLER_PROTOCOLS) {
          for (const stream of [false, true]) {
            assertEquals((await sendAs(face, gateway, { model, stream })).status, 502, `${face.name} ${model}`);
          }
        }
      }
    }, { provider });
  } finally {
    await vendor.shutdown();
  }
});
