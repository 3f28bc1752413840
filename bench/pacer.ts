import { elementAt } from "../src/platform/lib/collections/element_at.ts";
import { PACE_MS } from "./load_request.ts";

/** An open stream: the rest of it, and its completion. */
interface PacedStream {
  readonly connection: Deno.TcpConn;
  readonly chunks: readonly Uint8Array<ArrayBuffer>[];
  next: number;
  /** While a write waits for room in the socket, the stream skips its turns, so writes stay in order. */
  writing: boolean;
  readonly done: () => void;
  readonly failed: (error: unknown) => void;
}

/**
 * Writes chunks one {@linkcode PACE_MS} apart, for many streams with one timer. Each millisecond of the pace has its
 * own streams, so that they do not all write at once. A late timer catches up, so the mean pace is correct.
 */
export class Pacer {
  readonly #turns: readonly Set<PacedStream>[] = Array.from({ length: PACE_MS }, () => new Set());
  #streams = 0;
  #turn = 0;
  #ticking = false;
  /** The time of the next turn, by `performance.now()`. */
  #dueAt = 0;

  /**
   * Writes the first chunk at once and each other one pace after the one before. Rejects when the client disconnects.
   */
  async write(connection: Deno.TcpConn, chunks: readonly Uint8Array<ArrayBuffer>[]): Promise<void> {
    const [first] = chunks;
    if (first === undefined) return;
    await writeAll(connection, first);
    if (chunks.length === 1) return;
    const { promise, resolve: done, reject: failed } = Promise.withResolvers<void>();
    const stream: PacedStream = { connection, chunks, next: 1, writing: false, done, failed };
    // The turn just served comes again in one whole pace.
    const turn = elementAt(this.#turns, (this.#turn + PACE_MS - 1) % PACE_MS);
    turn.add(stream);
    this.#streams++;
    this.#start();
    try {
      await promise;
    } finally {
      turn.delete(stream);
      this.#streams--;
    }
  }

  #start(): void {
    if (this.#ticking) return;
    this.#ticking = true;
    this.#dueAt = performance.now() + 1;
    setTimeout(() => this.#serve(), 1);
  }

  #serve(): void {
    for (const now = performance.now(); this.#dueAt <= now; this.#dueAt++) {
      for (const stream of elementAt(this.#turns, this.#turn)) step(stream);
      this.#turn = (this.#turn + 1) % PACE_MS;
    }
    this.#ticking = this.#streams > 0;
    if (this.#ticking) setTimeout(() => this.#serve(), Math.max(0, this.#dueAt - performance.now()));
  }
}

function step(stream: PacedStream): void {
  const chunk = stream.chunks[stream.next];
  if (stream.writing || chunk === undefined) return;
  stream.writing = true;
  stream.next++;
  writeAll(stream.connection, chunk).then(() => {
    stream.writing = false;
    if (stream.next === stream.chunks.length) stream.done();
  }, stream.failed);
}

async function writeAll(connection: Deno.TcpConn, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
  for (let written = 0; written < bytes.length;) written += await connection.write(bytes.subarray(written));
}
