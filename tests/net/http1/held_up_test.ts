import { assertEquals } from "@std/assert";
import { systemClock } from "../../../src/platform/lib/basics/clock.ts";
import { createHttpClient } from "../../../src/platform/net/http1/client.ts";
import { readAll } from "../../../src/platform/net/http1/response.ts";
import { ioTurn } from "../../support/io_turn.ts";

Deno.test("a response that arrives on an idle connection while the event loop is blocked answers no request", async () => {
  const worker = new Worker(new URL("./held_up_vendor.ts", import.meta.url), { type: "module" });
  const flags = new Int32Array(new SharedArrayBuffer(4));
  const port = await new Promise<number>((resolve) => {
    worker.onmessage = ({ data }) => resolve(data);
    worker.postMessage(flags);
  });
  const origin = { tls: false, hostname: "127.0.0.1", port };
  const request = { method: "POST", path: "/", headerLines: "", body: new TextEncoder().encode("{}") };
  const client = createHttpClient({ clock: systemClock });
  const send = async () => new TextDecoder().decode(await readAll(await client.send(origin, request), 100));
  try {
    assertEquals(await send(), "own");
    await ioTurn();
    Atomics.store(flags, 0, 1);
    while (Atomics.load(flags, 0) !== 2) Atomics.wait(flags, 0, 1); // blocks the event loop
    assertEquals(await send(), "own");
  } finally {
    client.close();
    worker.terminate();
  }
});
