import { assertEquals, assertStringIncludes } from "@std/assert";
import { startTestGateway, type TestGateway, textModel } from "../support/gateway.ts";
import { LOOPBACK_CERTIFICATE, LOOPBACK_KEY } from "../support/loopback_certificate.ts";
import { CHAT, type Json, sendAs } from "./caller_protocols.ts";

const silent = { hostname: "127.0.0.1", port: 0, onListen() {} };

/** The address of a port at which nothing listens. */
function closedPort(): number {
  const listener = Deno.listen({ port: 0, hostname: "127.0.0.1" });
  const { port } = listener.addr;
  listener.close();
  return port;
}

/** A request as the log has it, once it is written. */
async function rowOf({ address, adminKey }: TestGateway, id: string): Promise<Json> {
  // Ends when the row is there: rows are written within a second.
  while (true) {
    const headers = { authorization: `Bearer ${adminKey}` };
    const response = await fetch(`${address}/admin/v1/requests/${id}`, { headers });
    const row = await response.json();
    if (response.ok) return row;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

Deno.test("the attempt in the request log has the reason why a vendor was not reached", async () => {
  const tls = Deno.serve({ ...silent, cert: LOOPBACK_CERTIFICATE, key: LOOPBACK_KEY }, () => new Response("x"));
  const plain = Deno.serve(silent, () => new Response("x"));
  const port = (server: Deno.HttpServer<Deno.NetAddr>) => server.addr.port;
  const bases = {
    certificate_untrusted: `https://127.0.0.1:${port(tls as Deno.HttpServer<Deno.NetAddr>)}/v1`,
    tls: `https://127.0.0.1:${port(plain as Deno.HttpServer<Deno.NetAddr>)}/v1`,
    refused: `http://127.0.0.1:${closedPort()}/v1`,
  };
  const causes = Object.keys(bases);
  const gateway = await startTestGateway({
    config: {
      providers: Object.fromEntries(
        Object.entries(bases).map((
          [name, base_url],
        ) => [name, { kind: "openai", base_url, api_key: "k", speaks: "chat" }]),
      ),
      models: causes.map((name) => textModel(`sandbox/${name}`, [name])),
    },
  });
  try {
    for (const cause of causes) {
      const { status, text, headers } = await sendAs(CHAT, gateway, { model: `sandbox/${cause}` });
      assertEquals(status, 502, text);
      assertStringIncludes(text, "could not be reached");
      const { attempts: [attempt] } = await rowOf(gateway, headers.get("x-service-request-id") ?? "");
      const message = `Provider "${cause}" could not be reached (${cause})`;
      assertEquals([attempt.code, attempt.message], ["unreachable", message]);
    }
  } finally {
    await gateway.stop();
    await Promise.all([tls.shutdown(), plain.shutdown()]);
  }
});
