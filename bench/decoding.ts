import { gzipSync, zstdCompressSync } from "node:zlib";
import { decodedRequest } from "../src/platform/http/decoded_request.ts";
import { nextTurn } from "../src/platform/lib/streams/loop_turns.ts";

/**
 * Measures how long the decoding of a request body keeps the main thread between two turns of its event loop:
 * `deno run -A bench/decoding.ts`. Linux only. The figures are processor time of the thread, which does not depend on
 * what else the machine runs. They are in docs/decisions/0277-coded-request-bodies.md.
 */

type Coding = "gzip" | "zstd";

const RUNS = 12;
const PIECE_BYTES = 65_536;
/** Of `clock_gettime`, on Linux. */
const CLOCK_THREAD_CPUTIME = 3;
const WORDS = Array.from({ length: 4_000 }, (_, n) => `${(n * 7_919 % 46_656).toString(36)}ing`);

const libc = Deno.dlopen("libc.so.6", { clock_gettime: { parameters: ["i32", "buffer"], result: "i32" } });
const time = new BigInt64Array(2);

/** The processor time of this thread in milliseconds. */
function threadMs(): number {
  libc.symbols.clock_gettime(CLOCK_THREAD_CPUTIME, time);
  return Number(time[0]) * 1e3 + Number(time[1]) / 1e6;
}

/** A request of a long prompt, which gzip makes a third as long. */
function promptOf(bytes: number): Uint8Array<ArrayBuffer> {
  const parts = ['{"model":"m","messages":[{"role":"user","content":"'];
  for (let length = 0; length < bytes;) {
    const word = `${WORDS[Math.floor(Math.random() ** 2 * WORDS.length)] ?? ""} `;
    parts.push(word);
    length += word.length;
  }
  return new TextEncoder().encode(parts.join("") + '"}]}');
}

function encoded(coding: Coding, bytes: number): Uint8Array<ArrayBuffer> {
  return new Uint8Array((coding === "gzip" ? gzipSync : zstdCompressSync)(promptOf(bytes)));
}

/** A body whose pieces are all there already, which is the worst case. */
function bodyOf(bytes: Uint8Array<ArrayBuffer>): ReadableStream<Uint8Array<ArrayBuffer>> {
  return ReadableStream.from(
    Array.from(
      { length: Math.ceil(bytes.length / PIECE_BYTES) },
      (_, n) => bytes.slice(n * PIECE_BYTES, (n + 1) * PIECE_BYTES),
    ),
  );
}

/** Decodes a body; gives the processor time of all of it, and that between the two turns that were furthest apart. */
async function measure(coding: Coding, bytes: Uint8Array<ArrayBuffer>): Promise<{ total: number; longest: number }> {
  let isDone = false;
  let longest = 0;
  const watch = async () => {
    // Ends with the body: each round is a turn of the event loop.
    for (let last = threadMs(); !isDone;) {
      await nextTurn();
      const now = threadMs();
      longest = Math.max(longest, now - last);
      last = now;
    }
  };
  const watching = watch();
  const startedAt = threadMs();
  const headers = { "content-length": String(bytes.length) };
  const request = new Request("http://localhost/", { method: "POST", body: bodyOf(bytes), headers });
  let decoded = 0;
  for await (const chunk of decodedRequest(request, coding).body ?? []) decoded += chunk.length;
  const total = threadMs() - startedAt;
  isDone = true;
  await watching;
  if (decoded < bytes.length) throw new Error(`Only ${decoded} bytes were decoded`);
  return { total, longest };
}

for (const coding of ["gzip", "zstd"] as const) {
  const first = await measure(coding, encoded(coding, 1_000));
  console.log(`${coding}: the first body of the process, of 1 KB: ${first.longest.toFixed(1)} ms in one turn`);
  for (const megabytes of [1, 8, 32]) {
    const bytes = encoded(coding, megabytes * 1e6);
    const runs: { total: number; longest: number }[] = [];
    for (let run = 0; run < RUNS; run++) runs.push(await measure(coding, bytes));
    const sorted = runs.map(({ longest }) => longest).toSorted((one, other) => one - other);
    const [median, most] = [sorted[RUNS / 2] ?? 0, sorted.at(-1) ?? 0];
    const cost = Math.min(...runs.map(({ total }) => total)) / megabytes;
    const turns = `longest turn: median ${median.toFixed(1)} ms, most ${most.toFixed(1)} ms of ${RUNS} runs`;
    console.log(`${coding}: ${megabytes} MB decoded: ${cost.toFixed(1)} ms for a megabyte, ${turns}`);
  }
}
libc.close();
