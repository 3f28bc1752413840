import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import fc from "fast-check";
import { ChunkCount } from "../../src/platform/http/bodies/chunk_count.ts";
import { ChunkReader } from "../../src/platform/http/bodies/chunk_reader.ts";
import { GatewayError } from "../../src/platform/lib/basics/gateway_error.ts";
import { EventLoopTurns } from "../support/event_loop_turns.ts";

type Chunk = Uint8Array<ArrayBuffer>;

/** A stream of chunks that have all arrived. */
function arrived(sizes: Iterable<number>): ReadableStream<Chunk> {
  let next = 0;
  const each = sizes[Symbol.iterator]();
  return new ReadableStream({
    pull(controller) {
      const { done, value } = each.next();
      if (done) return controller.close();
      controller.enqueue(Uint8Array.from({ length: value }, () => next++ % 251));
    },
  }, { highWaterMark: 0 });
}

async function readAll(reader: ChunkReader): Promise<Chunk[]> {
  const chunks: Chunk[] = [];
  for (let chunk = await reader.next(); chunk !== null; chunk = await reader.next()) chunks.push(chunk);
  return chunks;
}

function times<T>(count: number, value: T): T[] {
  return Array<T>(count).fill(value);
}

Deno.test("ChunkReader returns every byte in order, whatever the sizes of the chunks", async () => {
  const sizes = fc.array(fc.oneof(fc.nat(3), fc.nat(2_000)), { maxLength: 100 });
  await fc.assert(
    fc.asyncProperty(sizes, async (sizes) => {
      const counted: number[] = [];
      const chunks = await readAll(new ChunkReader(arrived(sizes), (bytes) => void counted.push(bytes)));
      const bytes = chunks.flatMap((chunk) => [...chunk]);
      assertEquals(bytes, bytes.map((_, at) => at % 251));
      assertEquals(bytes.length, sizes.reduce((sum, size) => sum + size, 0));
      assertEquals(counted, [...sizes, 0]);
    }),
    { numRuns: 60 },
  );
});

Deno.test("ChunkReader joins small chunks that have arrived together, and takes a turn in 32 of any size", async () => {
  // A busy machine takes turns earlier, and can count two together.
  for (const [size, most] of [[1, 320], [1_023, 320], [1_024, 640], [16_384, 640]] as const) {
    using turns = new EventLoopTurns();
    const chunks = await readAll(new ChunkReader(arrived(times(640, size)), () => {}));
    assert(chunks.length <= most, `${chunks.length} chunks of ${size} bytes`);
    turns.assertAbout(16, `chunks of ${size} bytes`);
  }
});

Deno.test("ChunkReader passes on the first two chunks as they are, without a timer", async () => {
  const [one, two] = [new Uint8Array([1]), new Uint8Array([2])];
  const reader = new ChunkReader(ReadableStream.from([one, two]), () => {});
  assert(await reader.next() === one);
  assert(await reader.next() === two);
  assertEquals(await reader.next(), null);
  assertEquals(await reader.next(), null);
});

Deno.test("ChunkReader returns small chunks after a turn, though no other has arrived", async () => {
  let controller: ReadableStreamDefaultController<Chunk> | undefined;
  const body = new ReadableStream<Chunk>({ start: (given) => void (controller = given) });
  const reader = new ChunkReader(body, () => {});
  for (let n = 1; n <= 5; n++) controller?.enqueue(new Uint8Array([n]));
  const read: number[] = [];
  while (read.length < 5) read.push(...await reader.next() ?? []);
  assertEquals(read, [1, 2, 3, 4, 5]);
  controller?.enqueue(new Uint8Array([6]));
  assertEquals(await reader.next(), new Uint8Array([6]));
  const next = reader.next();
  controller?.error(new TypeError("of the test"));
  await assertRejects(() => next, TypeError, "of the test");
});

Deno.test("a body may have more than 100,000 chunks only if they have 16 bytes or more on average", () => {
  const add = (chunks: number, bytes: number, count = new ChunkCount()) => {
    for (let n = 0; n < chunks; n++) count.add(bytes);
    return count;
  };
  add(100_000, 1);
  const count = add(200_000, 16);
  const { code, status } = assertThrows(() => count.add(15), GatewayError);
  assertEquals([code, status], ["invalid_request", 400]);
  assertThrows(() => add(100_001, 15), GatewayError);
});
