/** A TCP proxy on loopback whose connections a test can cut. */
export interface CutProxy {
  readonly port: number;
  /** The number of connections since the start. */
  readonly accepted: number;
  /** Where the next connections lead. */
  targetPort: number;
  /** Ends all connections at once; the next ones work. Returns their number. */
  cut(): number;
  stop(): Promise<void>;
}

/** Starts a proxy to a port of loopback. While nothing listens there, it closes its connections at once. */
export function startCutProxy(targetPort: number): CutProxy {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const open = new Set<() => void>();
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
    async stop() {
      listener.close();
      cut();
      await serving.catch(() => {});
    },
  };
  const serving = (async () => {
    for await (const near of listener) {
      accepted++;
      void relay(near, proxy.targetPort, open).catch(() => near.close());
    }
  })();
  return proxy;
}

async function relay(near: Deno.TcpConn, targetPort: number, open: Set<() => void>): Promise<void> {
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
  await Promise.allSettled([near.readable.pipeTo(far.writable), far.readable.pipeTo(near.writable)]);
  end();
}
