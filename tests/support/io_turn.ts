/**
 * Resolves after the event loop has looked at all sockets: a byte goes to and fro over loopback, and whatever other
 * sockets of this process had before is delivered no later than it.
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
