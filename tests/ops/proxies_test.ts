import { assert, assertEquals } from "@std/assert";
import { request } from "node:https";
import type { IncomingMessage } from "node:http";
import { join } from "node:path";
import { connect } from "node:tls";
import { startTestGateway, textModel } from "../support/gateway.ts";
import { TEST_ROOT } from "../support/test_certificates.ts";
import { PROXIES, proxyProgram, startProxy } from "./proxy_server.ts";

/** Set by `deno task test:ops`, because the test installs programs. */
const isWanted = Deno.env.has("SWITCHYARD_TEST_OPS");
const ADMIN_KEY = "admin-key-of-a-test-0123456789";
const TLS = { host: "127.0.0.1", servername: "receiver.example", ca: TEST_ROOT };

/** A vendor that sends the second part of a stream when it is told to. */
function startVendor() {
  const encoder = new TextEncoder();
  const chunk = (content: string, end: string | null) =>
    encoder.encode(
      `data: ${JSON.stringify({ id: "c", choices: [{ index: 0, delta: { content }, finish_reason: end }] })}\n\n`,
    );
  const released = Promise.withResolvers<void>();
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    const { stream } = await request.json();
    if (!stream) {
      const message = { role: "assistant", content: "whole" };
      return Response.json({ id: "c", choices: [{ index: 0, message, finish_reason: "stop" }] });
    }
    async function* parts() {
      yield chunk("first", null);
      await released.promise;
      yield chunk("second", "stop");
      yield encoder.encode("data: [DONE]\n\n");
    }
    return new Response(ReadableStream.from(parts()), { headers: { "content-type": "text/event-stream" } });
  });
  return { address: `http://127.0.0.1:${server.addr.port}`, release: released.resolve, stop: () => server.shutdown() };
}

async function withProxy(
  kind: typeof PROXIES[number],
  run: (stage: { port: number; key: string; address: string; release: () => void }) => Promise<void>,
): Promise<void> {
  const folder = await Deno.makeTempDir();
  const vendor = startVendor();
  const gateway = await startTestGateway({
    config: {
      server: { port: 0, admin_key: ADMIN_KEY, shutdown_grace: 1, trusted_proxies: ["127.0.0.1/32"] },
      providers: { vendor: { kind: "openai", base_url: `${vendor.address}/v1`, api_key: "k", speaks: "chat" } },
      models: [textModel("a/b", ["vendor"])],
    },
  });
  try {
    const unpacked = join(folder, "unpacked");
    await Deno.mkdir(unpacked);
    const program = await proxyProgram(kind.name, unpacked);
    const proxy = await startProxy(kind, program, { folder, upstream: new URL(gateway.address).host });
    try {
      await run({ ...gateway, port: proxy.port, release: vendor.release });
    } finally {
      await proxy.stop();
    }
  } finally {
    await gateway.stop();
    await vendor.stop();
    await Deno.remove(folder, { recursive: true });
  }
}

/** Sends a request through the proxy, with an address that a caller invents. */
async function post(port: number, key: string, body: unknown): Promise<IncomingMessage> {
  return await new Promise((resolve, reject) => {
    const sent = request({
      ...TLS,
      port,
      method: "POST",
      path: "/v1/chat/completions",
      headers: {
        host: "receiver.example",
        authorization: `Bearer ${key}`,
        "content-type": "application/json",
        "x-forwarded-for": "203.0.113.9",
      },
    }, resolve);
    sent.on("error", reject);
    sent.end(JSON.stringify(body));
  });
}

for (const kind of PROXIES) {
  const options = { ignore: !isWanted, sanitizeOps: false, sanitizeResources: false };
  Deno.test(`${kind.name} with the sample passes on events at once, and large bodies`, options, async () => {
    await withProxy(kind, async ({ port, key, release, address }) => {
      const messages = [{ role: "user", content: "hello" }];
      const stream = await post(port, key, { model: "a/b", stream: true, messages });
      let text = "";
      for await (const part of stream) {
        text += part;
        if (text.includes("first")) release(); // Only then does the vendor continue.
      }
      assert(text.includes("second") && text.trimEnd().endsWith("data: [DONE]"), text);
      const whole = await post(port, key, {
        model: "a/b",
        messages: [{ role: "user", content: "x".repeat(5_000_000) }],
      });
      assertEquals(whole.statusCode, 200);
      await whole.resume().toArray();
      const log = await fetch(`${address}/admin/v1/requests`, { headers: { authorization: `Bearer ${ADMIN_KEY}` } });
      const { data } = await log.json();
      assertEquals(data.map((row: { client_address: string }) => row.client_address), ["127.0.0.1", "127.0.0.1"]);
    });
  });

  Deno.test(`${kind.name} with the sample closes a connection that sends no whole request`, options, async () => {
    await withProxy(kind, async ({ port }) => {
      const socket = connect({ ...TLS, port });
      socket.on("error", () => {});
      socket.write("POST /v1/chat/completions HTTP/1.1\r\nHost: receiver.example\r\nX-Half:");
      socket.resume();
      await new Promise((resolve) => socket.on("close", resolve));
    });
  });
}
