/**
 * Resolves after the event loop has polled all sockets. A byte goes back and forth over loopback, so earlier data of
 * other sockets of this process is delivered first.
 */
export async function ioTurn(): Promise<void> {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const [near, far] = await Promise.all([
    Deno.connect({ hostname: "127.0.0.1", port: listener.addr.port }),
    listener.accept(),
  ]);
  const byte = new Uint8Array(1);
  for (const [from, to] of [[near, far], [far, near]] as const) {
    await from.write(byte);
    await to.read(byte);
  }
  near.close();
  far.close();
}
