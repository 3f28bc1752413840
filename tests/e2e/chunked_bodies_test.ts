import { assert, assertEquals } from "@std/assert";
import { EventLoopTurns } from "../support/event_loop_turns.ts";
import { startTestGateway, type TestGateway, textModel } from "../support/gateway.ts";
import { longTest } from "../support/long_test.ts";
import { type RawAnswer, rawAnswer } from "../support/raw_http.ts";

const CHUNKS = 4_000;
const MAX_TURN_CHUNKS = 32;
const LARGE_BODY_BYTES = 8_000;
const BOUNDARY = "----test";

/** A request that the gateway reads whole, in chunks of one byte. */
interface Reading {
  readonly name: string;
  readonly path: string;
  readonly key: (gateway: TestGateway) => string | null;
  readonly type: string;
  /** A body of about so many bytes. */
  readonly body: (bytes: number) => string;
  /** The status of the answer to it. */
  readonly status: number;
  readonly chunks?: number;
}

const ofCaller = ({ key }: TestGateway) => key;
const ofOperator = ({ adminKey }: TestGateway) => adminKey;
const JSON_TYPE = "application/json";
const FORM_TYPE = `multipart/form-data; boundary=${BOUNDARY}`;

function chat(bytes: number): string {
  return JSON.stringify({ model: "sandbox/chat-1", messages: [{ role: "user", content: "a".repeat(bytes) }] });
}

function form(...parts: readonly [head: string, content: string][]): string {
  const written = parts.map(([head, content]) =>
    `--${BOUNDARY}\r\nContent-Disposition: form-data; ${head}\r\n\r\n${content}`
  );
  return `${written.join("\r\n")}\r\n--${BOUNDARY}--\r\n`;
}

const READINGS: readonly Reading[] = [
  { name: "a text", path: "/v1/chat/completions", key: ofCaller, type: JSON_TYPE, body: chat, status: 200 },
  {
    name: "a large text",
    path: "/v1/chat/completions",
    key: ofCaller,
    type: JSON_TYPE,
    body: chat,
    status: 200,
    chunks: 10_000,
  },
  {
    name: "a field of a form",
    path: "/v1/videos",
    key: ofCaller,
    type: FORM_TYPE,
    body: (bytes) => form(['name="model"', "none"], ['name="prompt"', "a".repeat(bytes)]),
    status: 400, // longer than a prompt
    chunks: 20_000,
  },
  {
    name: "a file of a form",
    path: "/v1/audio/transcriptions",
    key: ofCaller,
    type: FORM_TYPE,
    body: (bytes) => form(['name="model"', "none"], ['name="file"; filename="a.wav"', "a".repeat(bytes)]),
    status: 404,
  },
  {
    name: "a body of the admin API",
    path: "/admin/v1/accounts",
    key: ofOperator,
    type: JSON_TYPE,
    body: (bytes) => JSON.stringify({ id: "x".repeat(bytes) }),
    status: 400,
  },
  {
    name: "a sign-in at the console",
    path: "/console/session",
    key: () => null,
    type: JSON_TYPE,
    body: (bytes) => JSON.stringify({ key: "x".repeat(bytes) }),
    status: 400,
  },
];

/** A request whose body is sent in chunks of a size. */
function chunkedRequest({ path, type }: Reading, key: string | null, body: string, chunkBytes = 1): string {
  const size = `${chunkBytes.toString(16)}\r\n`;
  let sent = "";
  for (let at = 0; at + chunkBytes <= body.length; at += chunkBytes) {
    sent += `${size}${body.slice(at, at + chunkBytes)}\r\n`;
  }
  const rest = body.slice(body.length - body.length % chunkBytes);
  if (rest !== "") sent += `${rest.length.toString(16)}\r\n${rest}\r\n`;
  const authorization = key === null ? "" : `Authorization: Bearer ${key}\r\n`;
  return `POST ${path} HTTP/1.1\r\nHost: localhost\r\n${authorization}Content-Type: ${type}\r\n` +
    `Transfer-Encoding: chunked\r\n\r\n${sent}0\r\n\r\n`;
}

function send(gateway: TestGateway, reading: Reading, chunks: number, chunkBytes = 1): Promise<RawAnswer> {
  const overhead = reading.body(0).length;
  const body = reading.body(chunks * chunkBytes - overhead);
  return rawAnswer(
    Number(new URL(gateway.address).port),
    chunkedRequest(reading, reading.key(gateway), body, chunkBytes),
  );
}

/** Runs a test with a gateway, and with the most reads of a body that an isolate made in one turn. */
async function withGateway(
  isolates: number,
  test: (gateway: TestGateway, mostReads: () => Promise<number>) => Promise<void>,
) {
  const gateway = await startTestGateway({
    isolates,
    ...isolates > 1 && { isolateEntry: new URL("../isolates/counting_thread.ts", import.meta.url) },
    config: { models: [textModel("sandbox/chat-1", ["sandbox-openai"])], limits: { large_body: LARGE_BODY_BYTES } },
  });
  const channel = new BroadcastChannel("counting-isolates");
  const counted = Promise.withResolvers<void>();
  let most = 0;
  channel.onmessage = ({ data }: MessageEvent<number>) => {
    most = Math.max(most, data);
    counted.resolve();
  };
  try {
    await test(gateway, async () => {
      if (isolates > 1) await counted.promise;
      return most;
    });
  } finally {
    channel.close();
    await gateway.stop();
  }
}

for (const isolates of [1, 2]) {
  longTest(
    `a body in chunks of one byte gives way to others, ${isolates} threads`,
    (t) =>
      withGateway(isolates, async (gateway, mostReads) => {
        for (const reading of READINGS) {
          await t.step(reading.name, async () => {
            const { chunks = CHUNKS } = reading;
            using turns = new EventLoopTurns();
            const { status, body } = await send(gateway, reading, chunks);
            assertEquals(status, reading.status, body);
            // Isolates join the chunks that they relay.
            const reads = isolates > 1 ? chunks / MAX_TURN_CHUNKS : chunks;
            turns.assertAbout(reads / MAX_TURN_CHUNKS, reading.name);
          });
        }
        // The timers of the reader and of the test alternate, so up to two rounds of reads are between two of the test.
        assert(await mostReads() <= 2 * MAX_TURN_CHUNKS + 1, `${await mostReads()} reads in a turn`);
      }),
  );

  longTest(
    `a body of more than 100,000 chunks of a few bytes returns 400, ${isolates} threads`,
    () =>
      withGateway(isolates, async (gateway) => {
        const [text] = READINGS;
        assert(text !== undefined);
        const { status, body, headers } = await send(gateway, text, 100_100);
        if (status === 408) return; // a machine so busy that the body took longer than it may
        assertEquals([status, headers.get("connection")], [400, "close"]);
        const message = "Cannot read a body in chunks this small: expected at least 16 bytes in a chunk on average, " +
          "from 100000 chunks on";
        assertEquals(JSON.parse(body).error.message, message);
      }),
  );
}
