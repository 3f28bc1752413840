import { assertEquals, assertRejects } from "@std/assert";
import { systemClock } from "../../src/platform/lib/basics/clock.ts";
import { ConnectionError } from "../../src/platform/net/http1/connection_error.ts";
import { ThreadRelay } from "../../src/threads/serving/relay.ts";

Deno.test("isolates: a request whose caller has left already is not sent to the main thread", async () => {
  let requests = 0;
  const main = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, () => {
    requests++;
    return new Response("answered");
  });
  const relay = new ThreadRelay({ port: main.addr.port, token: "token" }, systemClock);
  try {
    const request = new Request("http://127.0.0.1/v1/videos", { signal: AbortSignal.abort() });
    const remoteAddr = { transport: "tcp", hostname: "127.0.0.1", port: 1 } as const;
    await assertRejects(() => relay.send(request, { remoteAddr }), ConnectionError, "cancelled");
    assertEquals(requests, 0);
  } finally {
    relay.close();
    await main.shutdown();
  }
});
