import { elementAt } from "../src/lib/element_at.ts";
import { PACE_MS } from "./ask.ts";

/** A stream under way: what is left of it, and whom to tell of its end. */
interface PacedStream {
  readonly connection: Deno.TcpConn;
  readonly pieces: readonly Uint8Array<ArrayBuffer>[];
  next: number;
  /** While a piece waits for room in the socket, its stream skips its turns: what is written stays in order. */
  writing: boolean;
  readonly done: () => void;
  readonly failed: (error: unknown) => void;
}

/**
 * Writes pieces one {@linkcode PACE_MS} apart, for many streams with one timer: each millisecond of the pace has its
 * own streams, so that they do not all write at once. A late timer makes up for what it missed, so the mean pace holds.
 */
export class Pacer {
  readonly #turns: readonly Set<PacedStream>[] = Array.from({ length: PACE_MS }, () => new Set());
  #streams = 0;
  #turn = 0;
  #ticking = false;
  /** When the turn is due, by `performance.now()`. */
  #dueAt = 0;

  /**
   * Writes the first piece at once and the others each a pace after the one before. Rejects when the other side hung
   * up.
   */
  async write(connection: Deno.TcpConn, pieces: readonly Uint8Array<ArrayBuffer>[]): Promise<void> {
    const [first] = pieces;
    if (first === undefined) return;
    await writeAll(connection, first);
    if (pieces.length === 1) return;
    const { promise, resolve: done, reject: failed } = Promise.withResolvers<void>();
    const stream: PacedStream = { connection, pieces, next: 1, writing: false, done, failed };
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
  const piece = stream.pieces[stream.next];
  if (stream.writing || piece === undefined) return;
  stream.writing = true;
  stream.next++;
  writeAll(stream.connection, piece).then(() => {
    stream.writing = false;
    if (stream.next === stream.pieces.length) stream.done();
  }, stream.failed);
}

async function writeAll(connection: Deno.TcpConn, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
  for (let written = 0; written < bytes.length;) written += await connection.write(bytes.subarray(written));
}
