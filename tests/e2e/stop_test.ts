import { assert, assertEquals, assertMatch } from "@std/assert";
import { eventually } from "../support/account_money.ts";
import { startTestGateway, type TestGateway } from "../support/gateway.ts";

/** A reply that does not come within the time of a test. */
const NEVER = "[[stall 600000]] hello";

function chat({ address, key }: TestGateway, content: string, stream = false): Promise<Response> {
  return fetch(`${address}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "sandbox/chat-1", stream, max_tokens: 50, messages: [{ role: "user", content }] }),
  });
}

for (const isolates of [1, 2]) {
  Deno.test(`a stop ends whole calls and streams at the end of its time, with an error: ${isolates} threads`, async () => {
    const gateway = await startTestGateway({ config: { server: { port: 0, isolates, shutdown_grace: 0 } } });
    const whole = chat(gateway, NEVER);
    const large = chat(gateway, NEVER + " word".repeat(500_000));
    const stream = await chat(gateway, "[[gap 600000]] one two three", true);
    await eventually(() => gateway.sandbox.requests.length === 3);
    const texts = Promise.all([whole, large, stream].map(async (response) => await (await response).text()));
    await gateway.stop();
    for (const text of await texts) assertMatch(text, /The gateway is shutting down; send the request again/);
    assertEquals((await whole).status, 502);
    assertEquals((await large).status, 502);
  });

  Deno.test(`a stop without time ends whatever callers do: ${isolates} threads`, async () => {
    const gateway = await startTestGateway({ config: { server: { port: 0, isolates, shutdown_grace: 0 } } });
    const { hostname, port } = new URL(gateway.address);
    const open = () => Deno.connect({ hostname, port: Number(port) });
    const [idle, half, unsent] = [await open(), await open(), await open()];
    await half.write(new TextEncoder().encode("POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\nX-Half:"));
    await unsent.write(
      new TextEncoder().encode(
        `POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${gateway.key}\r\n` +
          "Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{",
      ),
    );
    const slow = await chat(gateway, `[[words 20000]] go`, true);
    await gateway.stop();
    assert(slow.ok);
    await slow.body?.cancel().catch(() => {});
    for (const each of [idle, half, unsent]) each.close();
  });
}
