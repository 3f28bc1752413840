import { systemClock } from "../lib/basics/clock.ts";
import { holdWork } from "../lib/basics/held.ts";

/** Two sockets connected over loopback. */
interface SocketPair {
  readonly near: Deno.TcpConn;
  readonly far: Deno.TcpConn;
}

const ONE_BYTE = new Uint8Array(1);
/** More than arrives, so that a read ends with an empty socket, and the next one waits for the event loop. */
const BUFFER_BYTES = 16;
/** A wait is not repeated within this time. It is shorter than the way of any data that a check could still miss. */
const VALID_MS = 1;
/** Enough turns of the microtask queue for other completed reads to reach their callbacks. */
const SETTLING_TURNS = 4;

/**
 * Waits until the event loop has delivered all received data.
 *
 * The event loop delivers received data only when it runs. After a long calculation an idle connection may have
 * undelivered data that belongs to no request. A request written now would take it for its response. The platform
 * cannot poll one socket. A byte is therefore sent over a loopback connection: when it is read, everything that arrived
 * before it was delivered.
 *
 * A byte costs about 10 µs, so one byte is under way at a time. Calls that come meanwhile wait for the next byte, which
 * all of them share. Under load, one byte serves the calls of a whole turn of the event loop.
 */
export class IoBarrier {
  #pair: Promise<SocketPair | null> | null = null;
  /** Settles when the byte under way was read; null if none is. */
  #current: Promise<void> | null = null;
  /** Settles when the byte after it was read; null if nothing waits for one. */
  #next: Promise<void> | null = null;
  #isClosed = false;
  readonly #buffer = new Uint8Array(BUFFER_BYTES);
  /** All data that had arrived by then was delivered. In monotonic milliseconds. */
  #deliveredUntil = -Infinity;

  /**
   * Resolves when all data that had reached this process at the time of the call was delivered to the callbacks of the
   * pending reads. Null if that is true already but for data of the last {@linkcode VALID_MS}.
   */
  wait(): Promise<void> | null {
    if (systemClock.monotonicMs() - this.#deliveredUntil <= VALID_MS) return null;
    // The byte under way was sent before this call, so it proves nothing about data that arrived since.
    if (this.#current !== null) return this.#next ??= this.#current.then(() => this.#start());
    return this.#start();
  }

  /** Closes its sockets; pending turns end. */
  close(): void {
    this.#isClosed = true;
    if (this.#pair !== null) holdWork(this.#pair.then(closeBoth));
  }

  #start(): Promise<void> {
    this.#next = null;
    return this.#current = this.#turn();
  }

  /** Never rejects. */
  async #turn(): Promise<void> {
    const startedAt = systemClock.monotonicMs();
    await this.#passByte();
    for (let turn = 0; turn < SETTLING_TURNS; turn++) await null;
    this.#deliveredUntil = startedAt;
    if (this.#next === null) this.#current = null;
  }

  /** Never rejects. */
  async #passByte(): Promise<void> {
    const pair = this.#isClosed ? null : await (this.#pair ??= openPair());
    if (pair === null || this.#isClosed) return await twoTimers();
    try {
      // The read starts before the write, so that only the event loop can complete it.
      const [count] = await Promise.all([pair.far.read(this.#buffer), pair.near.write(ONE_BYTE)]);
      if (count === null) this.close();
    } catch {
      this.close();
    }
  }
}

/** Null if this process may not listen on loopback. */
async function openPair(): Promise<SocketPair | null> {
  try {
    using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const near = await Deno.connect({ hostname: "127.0.0.1", port: listener.addr.port });
    near.setNoDelay(true);
    // Ends with our own connection, which is open already.
    for (;;) {
      const far = await listener.accept();
      if (far.remoteAddr.port === near.localAddr.port) return { near, far };
      far.close(); // another process's connection
    }
  } catch {
    return null;
  }
}

function closeBoth(pair: SocketPair | null): void {
  for (const socket of pair === null ? [] : [pair.near, pair.far]) {
    try {
      socket.close();
    } catch {
      // Closed already.
    }
  }
}

/** The platform polls timers and sockets together. A single timer can end within the current poll. */
async function twoTimers(): Promise<void> {
  for (let turn = 0; turn < 2; turn++) await new Promise((resolve) => setTimeout(resolve, 0));
}
