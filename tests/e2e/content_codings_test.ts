import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { brotliCompressSync, constants, gzipSync, zstdCompressSync } from "node:zlib";
import { startTestGateway, type TestGateway } from "../support/gateway.ts";

const CODINGS: Readonly<Record<string, (body: Uint8Array) => Buffer>> = {
  gzip: (body) => gzipSync(body),
  zstd: (body) => zstdCompressSync(body, { params: { [constants.ZSTD_c_checksumFlag]: 1 } }),
};

const MEGABYTE = 1_048_576;

/** Text that compresses to about two thirds. */
function noise(bytes: number): string {
  let [text, seed] = ["", "seed"];
  const parts: string[] = [];
  for (let length = 0; length < bytes; length += text.length) {
    seed = createHash("sha256").update(seed).digest("hex");
    text = seed;
    parts.push(text);
  }
  return parts.join("").slice(0, bytes);
}

interface Sent {
  readonly path?: string;
  readonly coding: string;
  readonly body: Uint8Array;
  readonly isChunked?: boolean;
}

async function send(gateway: TestGateway, { path = "/v1/chat/completions", coding, body, isChunked }: Sent) {
  const bytes = new Uint8Array(body);
  const pieces = function* () {
    for (let start = 0; start < bytes.length; start += 10_000) yield bytes.subarray(start, start + 10_000);
  };
  const response = await fetch(gateway.address + path, {
    method: "POST",
    headers: {
      authorization: `Bearer ${gateway.key}`,
      "content-type": "application/json",
      "content-encoding": coding,
      "anthropic-version": "2023-06-01",
    },
    body: isChunked ? ReadableStream.from(pieces()) : bytes,
  });
  return { status: response.status, text: await response.text() };
}

const chatOf = (text: string, more: Record<string, unknown> = {}) =>
  Buffer.from(
    JSON.stringify({
      model: "sandbox/chat-1",
      messages: [{ role: "user", content: `[[say Hello]] ${text}` }],
      ...more,
    }),
  );

const MESSAGE = { role: "user", content: "[[say Hello]]" };
const PROTOCOLS: readonly (readonly [path: string, body: unknown])[] = [
  ["/v1/chat/completions", { model: "sandbox/chat-1", messages: [MESSAGE] }],
  ["/v1/chat/completions", { model: "sandbox/chat-1", messages: [MESSAGE], stream: true }],
  ["/v1/responses", { model: "sandbox/chat-1", input: "[[say Hello]]" }],
  ["/msgcompat/v1/messages", { model: "sandbox/messages-1", messages: [MESSAGE], max_tokens: 99 }],
  [
    "/gencompat/v1beta/models/sandbox/content-1:generateContent",
    { contents: [{ role: "user", parts: [{ text: "[[say Hello]]" }] }] },
  ],
];

for (const isolates of [1, 2]) {
  Deno.test(`bodies in gzip and zstd are read in each protocol with ${isolates} threads`, async () => {
    const gateway = await startTestGateway({ isolates });
    try {
      for (const [coding, encode] of Object.entries(CODINGS)) {
        for (const [path, body] of PROTOCOLS) {
          for (const isChunked of [false, true]) {
            const answer = await send(gateway, {
              path,
              coding,
              isChunked,
              body: encode(Buffer.from(JSON.stringify(body))),
            });
            assertEquals([path, coding, answer.status], [path, coding, 200], answer.text);
            assertStringIncludes(answer.text, "Hello");
          }
        }
        // Below 128 KB, above it, and above 2 MB, where a thread answers.
        for (const bytes of [50_000, 200_000, 3 * MEGABYTE]) {
          const text = noise(bytes);
          const before = gateway.sandbox.requests.length;
          const { status } = await send(gateway, { coding, body: encode(chatOf(text)), isChunked: bytes > MEGABYTE });
          assertEquals([bytes, status], [bytes, 200]);
          const [request] = gateway.sandbox.requests.slice(before);
          assert(JSON.stringify(request?.body).includes(text), "the vendor gets the decoded body");
        }
      }
    } finally {
      await gateway.stop();
    }
  });
}

Deno.test("a body that is not of its coding, incomplete, or followed by other bytes is 400", async () => {
  const gateway = await startTestGateway();
  try {
    for (const [coding, encode] of Object.entries(CODINGS)) {
      for (const text of ["hi", noise(300_000)]) {
        const whole = encode(chatOf(text));
        const corrupt = Buffer.from(whole);
        corrupt.fill(0xff, Math.floor(whole.length / 2), Math.floor(whole.length / 2) + 8);
        const bodies = {
          incomplete: whole.subarray(0, -5),
          followed: Buffer.concat([whole, Buffer.from("garbage")]),
          plain: chatOf(text),
          corrupt,
        };
        for (const [fault, body] of Object.entries(bodies)) {
          for (const isChunked of [false, true]) {
            const answer = await send(gateway, { coding, body, isChunked });
            assertEquals([coding, fault, text.length, isChunked, answer.status], [
              coding,
              fault,
              text.length,
              isChunked,
              400,
            ]);
            if (fault !== "corrupt") assertStringIncludes(answer.text, `it is not ${coding}, or it is incomplete`);
          }
        }
      }
    }
    assertEquals(gateway.logLines.filter((line) => line.includes('"level":"error"')), []);
    const several = Buffer.concat([gzipSync(chatOf("hi").subarray(0, 20)), gzipSync(chatOf("hi").subarray(20))]);
    assertEquals((await send(gateway, { coding: "gzip", body: several })).status, 200);
    assertEquals((await send(gateway, { coding: "X-GZIP", body: gzipSync(chatOf("hi")) })).status, 200);
  } finally {
    await gateway.stop();
  }
});

Deno.test("another coding, or two of them, is 415 that names those which are taken", async () => {
  const gateway = await startTestGateway();
  try {
    for (const coding of ["br", "deflate", "gzip, zstd"]) {
      const { status, text } = await send(gateway, { coding, body: brotliCompressSync(chatOf("hi")) });
      assertEquals([coding, status], [coding, 415]);
      assertStringIncludes(text, "gzip, zstd or identity");
    }
  } finally {
    await gateway.stop();
  }
});

Deno.test("limits count decoded bytes, and a bomb ends early, with bounded memory", async () => {
  const gateway = await startTestGateway({ config: { limits: { text_body: "1MB" } } });
  try {
    for (const [coding, encode] of Object.entries(CODINGS)) {
      const large = await send(gateway, { coding, body: encode(chatOf(noise(1_500_000))) });
      assertEquals([coding, large.status], [coding, 413], large.text);
      for (const isChunked of [false, true]) {
        const bomb = await send(gateway, { coding, isChunked, body: encode(Buffer.alloc(200 * MEGABYTE)) });
        assert([400, 413].includes(bomb.status), bomb.text);
        assert(/100 times|expected at most/.test(bomb.text), bomb.text);
      }
      // Small bodies may have any ratio.
      assertEquals((await send(gateway, { coding, body: encode(chatOf(" ".repeat(50_000))) })).status, 200);
    }
  } finally {
    await gateway.stop();
  }
});
