import { assertEquals, assertNotEquals } from "@std/assert";
import { IoBarrier } from "../../src/platform/net/io_barrier.ts";

/** Blocks the event loop. */
function block(ms: number): void {
  for (const end = performance.now() + ms; performance.now() < end;);
}

Deno.test("IoBarrier delivers what arrived while the event loop was blocked", async () => {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const barrier = new IoBarrier();
  await barrier.wait();
  const [near, far] = await Promise.all([
    Deno.connect({ hostname: "127.0.0.1", port: (listener.addr as Deno.NetAddr).port }),
    listener.accept(),
  ]);
  let delivered = "";
  const buffer = new Uint8Array(8);
  const reading = far.read(buffer).then((count) =>
    delivered = new TextDecoder().decode(buffer.subarray(0, count ?? 0))
  );
  await near.write(new TextEncoder().encode("stray"));
  block(5);
  await barrier.wait();
  assertEquals(delivered, "stray");
  await reading;
  near.close();
  far.close();
  barrier.close();
});

Deno.test("IoBarrier waits again after a blocked event loop, and not within a millisecond of the last wait", async () => {
  const barrier = new IoBarrier();
  await barrier.wait();
  block(5);
  const waits = [barrier.wait(), barrier.wait()];
  assertNotEquals(waits, [null, null]);
  await Promise.all(waits);
  barrier.close();
});
