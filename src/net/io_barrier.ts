/** Two sockets connected over loopback. */
interface SocketPair {
  readonly near: Deno.TcpConn;
  readonly far: Deno.TcpConn;
}

/** A pending turn: complete once this number of bytes has arrived. */
interface WaitingTurn {
  readonly bytes: number;
  readonly resolve: () => void;
}

const ONE_BYTE = new Uint8Array(1);
const BUFFER_BYTES = 256;

/**
 * Waits until the event loop has delivered all received data.
 *
 * The event loop delivers received data only when it runs. After a long calculation an idle connection may have
 * undelivered data that belongs to no request. A request written now would take it for its response. The platform
 * cannot poll one socket. A byte is therefore sent over a loopback connection: when it is read, everything that arrived
 * before it was delivered. This costs about 10 µs, shared by all concurrent calls.
 */
export class IoBarrier {
  #pair: Promise<SocketPair | null> | null = null;
  #current: Promise<void> | null = null;
  #waiting: WaitingTurn[] = [];
  #written = 0;
  #received = 0;
  #isReading = false;
  #isClosed = false;

  /** Resolves when all data that had reached this process at the time of the call was delivered. */
  wait(): Promise<void> {
    if (this.#current !== null) return this.#current;
    queueMicrotask(() => this.#current = null);
    return this.#current = this.#turn();
  }

  /** Closes its sockets; pending turns end. */
  close(): void {
    this.#isClosed = true;
    void this.#pair?.then(closeBoth);
    for (const { resolve } of this.#waiting) resolve();
    this.#waiting = [];
  }

  async #turn(): Promise<void> {
    const pair = this.#isClosed ? null : await (this.#pair ??= openPair());
    if (pair === null || this.#isClosed) return await twoTimers();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push({ bytes: ++this.#written, resolve });
    if (!this.#isReading) void this.#read(pair.far);
    pair.near.write(ONE_BYTE).catch(() => this.close());
    await promise;
  }

  async #read(far: Deno.TcpConn): Promise<void> {
    this.#isReading = true;
    const buffer = new Uint8Array(BUFFER_BYTES);
    try {
      while (this.#waiting.length > 0) {
        const count = await far.read(buffer);
        if (count === null) return this.close();
        this.#received += count;
        for (let first = this.#waiting[0]; first && first.bytes <= this.#received; first = this.#waiting[0]) {
          this.#waiting.shift();
          first.resolve();
        }
      }
    } catch {
      this.close();
    } finally {
      this.#isReading = false;
    }
  }
}

/** Null if this process may not listen on loopback. */
async function openPair(): Promise<SocketPair | null> {
  try {
    using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const near = await Deno.connect({ hostname: "127.0.0.1", port: listener.addr.port });
    near.setNoDelay(true);
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
