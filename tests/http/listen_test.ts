import { assert, assertEquals, assertRejects } from "@std/assert";
import { listen, type Serve } from "../../src/platform/http/listen.ts";
import type { Clock } from "../../src/platform/lib/basics/clock.ts";
import { type Log, type LogFields, silentLog } from "../../src/platform/lib/basics/log.ts";
import { itemAt } from "../support/items.ts";

/** A clock whose timers fire at once. */
const eagerClock: Clock = {
  now: () => 0,
  monotonicMs: () => 0,
  after(_delayMs, callback) {
    queueMicrotask(callback);
    return () => {};
  },
};

function recordingLog(events: string[]): Log {
  const record = (event: string, _fields?: LogFields) => void events.push(event);
  return { debug: record, info: record, warn: record, error: record };
}

Deno.test("listen() picks a free port, serves, and stops on request", async () => {
  const listening = await listen({ host: "127.0.0.1", port: 0, log: silentLog, handler: () => new Response("ok") });
  const address = `http://${listening.address}:${listening.port}/`;
  assertEquals(await (await fetch(address)).text(), "ok");
  assertEquals(await listening.shutdown(1000), true);
  await listening.closed;
  await assertRejects(() => fetch(address), TypeError);
});

Deno.test("listen() rejects a port that is in use", async () => {
  const first = await listen({ host: "127.0.0.1", port: 0, log: silentLog, handler: () => new Response("ok") });
  await assertRejects(
    () => listen({ host: "127.0.0.1", port: first.port, log: silentLog, handler: () => new Response("ok") }),
    Deno.errors.AddrInUse,
  );
  await first.shutdown(0);
  await first.closed;
});

Deno.test("a shutdown lets a running stream finish", async () => {
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const { promise: allowed, resolve: allow } = Promise.withResolvers<void>();
  const handler = () =>
    new Response(
      new ReadableStream<Uint8Array>({
        async pull(controller) {
          controller.enqueue(new TextEncoder().encode("first "));
          begin();
          await allowed;
          controller.enqueue(new TextEncoder().encode("last"));
          controller.close();
        },
      }),
    );
  const listening = await listen({ host: "127.0.0.1", port: 0, log: silentLog, handler });
  const response = await fetch(`http://127.0.0.1:${listening.port}/`);
  await begun;
  const ended = listening.shutdown(10_000);
  allow();
  assertEquals(await response.text(), "first last");
  assertEquals(await ended, true);
  await listening.closed;
});

Deno.test("a shutdown without grace aborts running requests", async () => {
  const { promise: cancelled, resolve: cancel } = Promise.withResolvers<void>();
  const handler = () =>
    new Response(new ReadableStream<Uint8Array>({ pull: (c) => c.enqueue(new Uint8Array(1)), cancel: () => cancel() }));
  const listening = await listen({ host: "127.0.0.1", port: 0, log: silentLog, handler });
  const response = await fetch(`http://127.0.0.1:${listening.port}/`);
  assertEquals(await listening.shutdown(0), true);
  await cancelled;
  await listening.closed;
  await response.body?.cancel().catch(() => {});
});

Deno.test("listen() listens again on the same port when the platform's accept loop ends", async () => {
  const events: string[] = [];
  const ports: number[] = [];
  const ends: PromiseWithResolvers<void>[] = [];
  const { promise: third, resolve: reachThird } = Promise.withResolvers<void>();
  const serve: Serve = (options) => {
    ports.push(options.port ?? -1);
    if (ports.length === 2) throw new Error("Too many open files");
    const end = Promise.withResolvers<void>();
    ends.push(end);
    if (ports.length === 3) reachThird();
    return {
      addr: { transport: "tcp", hostname: "127.0.0.1", port: 4321 },
      finished: end.promise,
      shutdown: () => Promise.resolve(end.resolve()),
    };
  };
  const listening = await listen({
    host: "127.0.0.1",
    port: 0,
    log: recordingLog(events),
    handler: () => new Response("ok"),
    clock: eagerClock,
    serve,
  });
  itemAt(ends, 0).reject(new Error("Too many open files (os error 24)"));
  await third;
  assertEquals(ports, [0, 4321, 4321]);
  assertEquals(events, ["listen.interrupted", "listen.failed"]);
  let isClosed = false;
  void listening.closed.then(() => isClosed = true);
  assert(!isClosed);
  await listening.shutdown(1000);
  await listening.closed;
});

Deno.test("a listener that is renewed while a failed one is being replaced is the only one", async () => {
  const ends: PromiseWithResolvers<void>[] = [];
  const timers: (() => void)[] = [];
  const clock: Clock = {
    ...eagerClock,
    after(_delayMs, callback) {
      timers.push(callback);
      return () => {};
    },
  };
  const serve: Serve = () => {
    const end = Promise.withResolvers<void>();
    ends.push(end);
    return {
      addr: { transport: "tcp", hostname: "127.0.0.1", port: 4321 },
      finished: end.promise,
      shutdown: () => Promise.resolve(end.resolve()),
    };
  };
  const settle = () => new Promise((resolve) => setTimeout(resolve));
  const handler = () => new Response("ok");
  const listening = await listen({ host: "127.0.0.1", port: 0, log: silentLog, handler, clock, serve });
  const failure = new Error("Too many open files (os error 24)");
  itemAt(ends, 0).reject(failure);
  await settle();
  assertEquals(listening.renew(), Deno.build.os === "linux");
  itemAt(timers, 0)();
  await settle();
  assertEquals(ends.length, 2, "the pause replaced the new listener, which nobody watches then");
  itemAt(ends, 1).reject(failure);
  await settle();
  itemAt(timers, 1)();
  await settle();
  assertEquals(ends.length, 3);
  const stopped = listening.shutdown(1000);
  await settle();
  timers.slice(2).forEach((fire) => fire());
  await stopped;
  await listening.closed;
});

Deno.test({
  name: "listen() survives the loss of every file descriptor and serves again",
  ignore: Deno.build.os !== "linux",
  async fn() {
    const child = `
      import { listen } from ${JSON.stringify(new URL("../../src/platform/http/listen.ts", import.meta.url).href)};
      const log = { debug() {}, info() {}, warn() {}, error() {} };
      const { port } = await listen({ host: "127.0.0.1", port: 0, log, handler: () => new Response("ok") });
      const connect = () => Deno.connect({ hostname: "127.0.0.1", port });
      const idle = [];
      try {
        for (;;) idle.push(await connect());
      } catch {
        for (const connection of idle) connection.close();
      }
      for (;;) {
        try {
          const connection = await connect();
          await connection.write(new TextEncoder().encode("GET / HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n"));
          const length = await connection.read(new Uint8Array(500));
          if (length > 0) break;
        } catch {
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
      }
      console.log("served again after", idle.length > 5);
      Deno.exit(0);
    `;
    const command = new Deno.Command("sh", {
      args: ["-c", `ulimit -n 64; exec "$0" eval "$1"`, Deno.execPath(), child],
      stdout: "piped",
      stderr: "piped",
    });
    const { stdout, stderr } = await command.output();
    assertEquals(new TextDecoder().decode(stdout).trim(), "served again after true", new TextDecoder().decode(stderr));
  },
});
