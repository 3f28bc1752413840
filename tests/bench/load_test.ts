import { assert, assertEquals } from "@std/assert";
import { runLoad } from "../../bench/load.ts";
import { readWrk, wrkScript } from "../../bench/generator.ts";
import { readProcessState } from "../../bench/process_state.ts";

const ask = { path: "/x", headers: { "content-type": "application/json" }, body: "{}" };

async function withServer(
  handler: (request: Request) => Response,
  use: (port: number) => Promise<void>,
): Promise<void> {
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, handler);
  try {
    await use(server.addr.port);
  } finally {
    await server.shutdown();
  }
}

Deno.test("runLoad() counts complete replies of status 200 apart from others", async () => {
  let requests = 0;
  await withServer(() => new Response("{}", { status: ++requests % 2 === 0 ? 500 : 200 }), async (port) => {
    const { replies, failures, wholeMs, gaps } = await runLoad({
      request: { ...ask, port },
      load: { kind: "closed" },
      connections: 1,
      seconds: 0.02,
    });
    assert(replies > 0 && Math.abs(replies - failures) <= 1);
    assert(wholeMs !== null && gaps.ms === null);
  });
});

Deno.test("runLoad() reads a stream to its last chunk", async () => {
  const body = () =>
    new ReadableStream<Uint8Array>({
      async start(controller) {
        for (const event of ["data: 1\n\n", "data: 2\n\n", "data: 30\r\n\r\n"]) {
          controller.enqueue(new TextEncoder().encode(event));
          await new Promise((resolve) => setTimeout(resolve, 3));
        }
        controller.close();
      },
    });
  await withServer(() => new Response(body()), async (port) => {
    const result = await runLoad({
      request: { ...ask, port },
      load: { kind: "closed" },
      connections: 2,
      seconds: 0.001,
    });
    assertEquals([result.replies, result.failures], [2, 0]);
  });
});

Deno.test("runLoad() recognises the end of a stream though its last chunk arrives in two halves", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const answering = (async () => {
    const connection = await listener.accept();
    const encoder = new TextEncoder();
    await connection.read(new Uint8Array(4096));
    const head = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
    await connection.write(encoder.encode(`${head}9\r\ndata: 1\n\n\r\n0\r`));
    await new Promise((resolve) => setTimeout(resolve, 3));
    await connection.write(encoder.encode("\n\r\n"));
    while (await connection.read(new Uint8Array(4096)) !== null);
    connection.close();
  })();
  const { port } = listener.addr;
  const result = await runLoad({ request: { ...ask, port }, load: { kind: "closed" }, connections: 1, seconds: 0.001 });
  await answering;
  listener.close();
  assertEquals([result.replies, result.failures], [1, 0]);
});

Deno.test("runLoad() fails for a server that does not listen", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  listener.close();
  const result = await runLoad({ request: { ...ask, port }, load: { kind: "closed" }, connections: 1, seconds: 5 });
  assertEquals(result.replies, 0);
  assert(result.failures > 0);
});

Deno.test("runLoad() sends requests at a constant rate, and counts a late one from when it was due", async () => {
  let requests = 0;
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async () => {
    // All requests but the first are due while the first one waits.
    if (++requests === 1) await new Promise((resolve) => setTimeout(resolve, 200));
    return new Response("{}");
  });
  const request = { ...ask, port: server.addr.port };
  const load = { kind: "rate", perSecond: 100 } as const;
  const { replies, failures, wholeMs } = await runLoad({ request, load, connections: 1, seconds: 0.1 });
  await server.shutdown();
  assertEquals([replies, failures], [10, 0]);
  assert(wholeMs !== null && wholeMs.p50 >= 100, `the median is that of a request which waited, got ${wholeMs?.p50}`);
});

Deno.test("wrkScript() quotes the request, and readWrk() reads the printed results", () => {
  const script = wrkScript({ ...ask, port: 1, body: '{"say":"a\\"b"}' });
  assert(script.includes(String.raw`wrk.body = "{\"say\":\"a\\\"b\"}"`));
  const result = readWrk("Running 1s test\n  noise\n\nresult 500 1000000 3 1500 9000 10000\n");
  assertEquals([result.replies, result.failures, result.elapsedMs], [500, 3, 1000]);
  assertEquals(result.wholeMs, { p50: 1.5, p99: 9, max: 10 });
});

Deno.test("readProcessState() reads times and memory of a process whose name has a parenthesis", () => {
  const stat = `42 (a ) b) S 1 1 1 0 -1 4194304 1 0 0 0 150 50 0 0 20 0 9 0 1 1 1`;
  const state = readProcessState(`${stat}\nName:\ta\nVmHWM:\t    2048 kB\nVmRSS:\t    1024 kB\n`);
  assertEquals(state, { cpuMs: 2000, residentBytes: 2 ** 20, peakBytes: 2 ** 21 });
});
