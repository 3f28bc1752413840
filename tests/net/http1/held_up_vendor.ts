/**
 * A vendor in a worker thread, for a test whose event loop is blocked. It answers every request with `own`. After the
 * first response of its first connection it sends an unsolicited one when the flag is set.
 *
 * `flags[0]`: 1 when it may send, 2 when it has sent.
 */
const encoder = new TextEncoder();
const reply = (body: string) => encoder.encode(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`);

// deno-lint-ignore no-explicit-any -- the library of types has no worker's scope
const scope = self as any;
scope.onmessage = async ({ data: flags }: MessageEvent<Int32Array>) => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  scope.postMessage(listener.addr.port);
  let connections = 0;
  for await (const connection of listener) void serve(connection, connections++ === 0 ? flags : null).catch(() => {});
};

async function serve(connection: Deno.TcpConn, flags: Int32Array | null): Promise<void> {
  const buffer = new Uint8Array(65_536);
  for (let nth = 0; await connection.read(buffer) !== null; nth++) {
    await connection.write(reply("own"));
    if (nth > 0 || flags === null) continue;
    while (Atomics.load(flags, 0) !== 1) await new Promise((resolve) => setTimeout(resolve, 1));
    await connection.write(reply("stray"));
    Atomics.store(flags, 0, 2);
    Atomics.notify(flags, 0);
  }
}
