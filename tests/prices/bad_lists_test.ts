import { assertEquals, assertStringIncludes } from "@std/assert";
import { ManualClock } from "../support/manual_clock.ts";
import { eventually } from "../support/account_money.ts";
import { admin, ownList, type PriceServer, pricingOf, startPricedGateway, startPriceServer } from "./support.ts";

const MODEL = "openai/gpt-6-sol";
const GOOD = ownList({ [MODEL]: { prompt: "0.0000025" } });

/** LiteLLM's map with one model. */
function litellm(fields: Record<string, unknown>) {
  return {
    "gpt-6-sol": {
      litellm_provider: "openai",
      mode: "chat",
      input_cost_per_token: 2.5e-6,
      output_cost_per_token: 1e-5,
      ...fields,
    },
  };
}

/** Lists that must be refused, and what the answer names. */
const BAD: Readonly<Record<string, readonly [list: PriceServer["list"], named: string]>> = {
  "a negative price": [litellm({ input_cost_per_token: -1 }), "gpt-6-sol: input_cost_per_token: expected a price"],
  "a huge price": [litellm({ output_cost_per_token: 3 }), "gpt-6-sol: output_cost_per_token: expected a price"],
  "a price that is no number": [
    JSON.stringify(litellm({})).replace("0.00001", "NaN"),
    "expected JSON",
  ],
  "a text NaN": [ownList({ [MODEL]: { prompt: "NaN" } }), `${MODEL}: pricing.prompt: expected a price`],
  "a text price": [litellm({ input_cost_per_token: "cheap" }), 'found "cheap"'],
  "a model twice in a list": [[...GOOD, ...GOOD], `${MODEL}: expected each model once`],
  "a model twice in a map": [
    `{"gpt-6-sol": ${JSON.stringify(litellm({})["gpt-6-sol"])}, "gpt-6-sol": ${
      JSON.stringify(litellm({})["gpt-6-sol"])
    }}`,
    "gpt-6-sol: expected each model once",
  ],
  "another document": ["<html>Sign in</html>", "expected JSON"],
  "JSON of another kind": [{ error: "none" }, "expected our own catalog"],
  "no models of the vendors in use": [[{ id: "acme/one", pricing: { prompt: "1" } }], "expected prices of openai"],
  "bytes that are no text": [
    () => new Response(new Uint8Array([0xff, 0xfe, 0x7b])),
    "expected text in UTF-8",
  ],
  "200 MB by its length": [
    () => new Response(endless(), { headers: { "content-length": "200000000" } }),
    "expected at most 16777216 bytes",
  ],
  "a list without an end": [() => new Response(endless()), "expected at most 16777216 bytes"],
  "a redirect to a private address": [
    () => new Response(null, { status: 302, headers: { location: "http://10.0.0.1/prices.json" } }),
    "expected a host with public addresses only",
  ],
  "a redirect to a metadata service": [
    () => new Response(null, { status: 307, headers: { location: "http://169.254.169.254/latest" } }),
    "expected a host with public addresses only",
  ],
  "a failure of the server": [() => new Response("no", { status: 500 }), "expected status 200, got 500"],
};

function endless(): ReadableStream<Uint8Array> {
  const chunk = new Uint8Array(1_000_000).fill(32);
  return new ReadableStream({ pull: (controller) => controller.enqueue(chunk) });
}

Deno.test("price lists that cannot be used are named and refused, and the last good prices stay", async (test) => {
  const server = startPriceServer(GOOD);
  const gateway = await startPricedGateway(server);
  try {
    await eventually(async () => (await pricingOf(gateway, MODEL))?.prompt === "0.0000025");
    for (const [what, [list, named]] of Object.entries(BAD)) {
      await test.step(what, async () => {
        server.list = list;
        const { status, body } = await admin(gateway, "POST", "prices/refresh");
        assertEquals(status, 502);
        assertStringIncludes(body.error.message, named);
        assertEquals((await pricingOf(gateway, MODEL))?.prompt, "0.0000025");
        const { body: shown } = await admin(gateway, "GET", "prices");
        assertStringIncludes(shown.failure.reason, named);
        assertEquals(shown.pending, []);
      });
    }
    server.list = GOOD;
    assertEquals((await admin(gateway, "POST", "prices/refresh")).body.failure, null);
  } finally {
    await gateway.stop();
    await server.stop();
  }
});

/** A server that answers each connection with these bytes, and leaves it open or not. */
function startRawServer(bytes: string, isClosed: boolean) {
  const listener = Deno.listen({ port: 0, hostname: "127.0.0.1" });
  const open: Deno.Conn[] = [];
  const accepting = (async () => {
    for await (const connection of listener) {
      open.push(connection);
      await connection.read(new Uint8Array(4_096));
      await connection.write(new TextEncoder().encode(bytes));
      if (isClosed) connection.close();
    }
  })();
  return {
    url: `http://127.0.0.1:${(listener.addr as Deno.NetAddr).port}/prices.json`,
    open,
    async stop() {
      listener.close();
      for (const each of open) {
        try {
          each.close();
        } catch { /* It is closed. */ }
      }
      await accepting.catch(() => {});
    },
  };
}

for (
  const [what, head] of [
    ["shorter than its length", "HTTP/1.1 200 OK\r\ncontent-length: 5000\r\n\r\n"],
    ["without its last chunk", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\n"],
  ] as const
) {
  Deno.test(`a price list that ends early, ${what}, is refused`, async () => {
    const server = startRawServer(`${head}[{"id`, true);
    const gateway = await startPricedGateway(server);
    try {
      const { status, body } = await admin(gateway, "POST", "prices/refresh");
      assertEquals([status, body.error.message], [502, "The price source cannot be used: the connection broke"]);
      assertEquals((await pricingOf(gateway, MODEL))?.prompt, "0.000002");
    } finally {
      await gateway.stop();
      await server.stop();
    }
  });
}

Deno.test("a download that does not end is cancelled after a minute", async () => {
  const server = startRawServer("HTTP/1.1 200 OK\r\ncontent-length: 5000\r\n\r\n[", false);
  const clock = new ManualClock();
  const gateway = await startPricedGateway(server, { clock });
  try {
    clock.advance(1);
    await eventually(() => server.open.length === 1);
    await eventually(async () => {
      clock.advance(10_000);
      const { body } = await admin(gateway, "GET", "prices");
      return body.failure !== null && assertEquals(body.failure.reason, "the request timed out") === undefined;
    });
    assertEquals((await pricingOf(gateway, MODEL))?.prompt, "0.000002");
  } finally {
    await gateway.stop();
    await server.stop();
  }
});
