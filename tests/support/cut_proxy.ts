/** A TCP proxy on loopback whose connections a test can cut. */
export interface CutProxy {
  readonly port: number;
  /** The number of connections since the start. */
  readonly accepted: number;
  /** Where the next connections lead. */
  targetPort: number;
  /** Ends all connections at once; the next ones work. Returns their number. */
  cut(): number;
  /** Keeps back what servers send until {@linkcode CutProxy.release}. Resolves when there is something. */
  hold(): Promise<void>;
  /** Sends what was kept back. */
  release(): void;
  stop(): Promise<void>;
}

/** Starts a proxy to a port of loopback. While nothing listens there, it closes its connections at once. */
export function startCutProxy(targetPort: number): CutProxy {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const open = new Set<() => void>();
  const gate = new Gate();
  let accepted = 0;
  const cut = () => {
    const ends = [...open];
    for (const end of ends) end();
    return ends.length;
  };
  const proxy: CutProxy = {
    port: listener.addr.port,
    targetPort,
    get accepted() {
      return accepted;
    },
    cut,
    hold: () => gate.close(),
    release: () => gate.open(),
    async stop() {
      listener.close();
      gate.open();
      cut();
      await serving.catch(() => {});
    },
  };
  const serving = (async () => {
    for await (const near of listener) {
      accepted++;
      void relay(near, { targetPort: proxy.targetPort, open, gate }).catch(() => near.close());
    }
  })();
  return proxy;
}

/** Lets bytes pass while it is open. */
class Gate {
  #opened: PromiseWithResolvers<void> | null = null;
  #waiting: PromiseWithResolvers<void> | null = null;

  /** Resolves when something waits. */
  close(): Promise<void> {
    this.#opened ??= Promise.withResolvers();
    this.#waiting ??= Promise.withResolvers();
    return this.#waiting.promise;
  }

  open(): void {
    this.#opened?.resolve();
    [this.#opened, this.#waiting] = [null, null];
  }

  async pass(): Promise<void> {
    this.#waiting?.resolve();
    await this.#opened?.promise;
  }
}

interface RelayOptions {
  readonly targetPort: number;
  readonly open: Set<() => void>;
  readonly gate: Gate;
}

async function relay(near: Deno.TcpConn, { targetPort, open, gate }: RelayOptions): Promise<void> {
  const far = await Deno.connect({ hostname: "127.0.0.1", port: targetPort });
  const end = () => {
    open.delete(end);
    for (const connection of [near, far]) {
      try {
        connection.close();
      } catch {
        // It has ended already.
      }
    }
  };
  open.add(end);
  const held = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    async transform(chunk, controller) {
      await gate.pass();
      controller.enqueue(chunk);
    },
  });
  const answered = far.readable.pipeThrough(held).pipeTo(near.writable);
  await Promise.allSettled([near.readable.pipeTo(far.writable), answered]);
  end();
}
