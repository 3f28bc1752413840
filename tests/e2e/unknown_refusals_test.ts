import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { PRICING, startTestGateway, textModel } from "../support/gateway.ts";

// deno-lint-ignore no-explicit-any
type Json = any;

const SECRET = "the prompt of a caller";

/** A vendor that refuses the field that the caller's `user` names, in OpenAI's shape and words with the prompt. */
const vendor = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, async (request) => {
  const { user } = await request.json();
  const error = { message: `Unsupported: ${user} in "${SECRET}"`, type: "invalid_request_error", param: user };
  return Response.json({ error }, { status: 400 });
});

for (const isolates of [1, 2]) {
  Deno.test(`a vendor's 400 that names a field is counted and logged with an entry for the configuration, with ${isolates} threads`, async () => {
    const base_url = `http://127.0.0.1:${vendor.addr.port}/v1`;
    const gateway = await startTestGateway({
      isolates,
      config: {
        providers: { acme: { kind: "openai", base_url, api_key: "k" } },
        models: [{ ...textModel("acme/nova", ["acme"]), pricing: PRICING }],
      },
    });
    try {
      const ask = async (user: string, fields: Json = {}) => {
        const response = await fetch(`${gateway.address}/v1/chat/completions`, {
          method: "POST",
          headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
          body: JSON.stringify({ model: "acme/nova", user, messages: [{ role: "user", content: SECRET }], ...fields }),
        });
        assertEquals(response.status, 400);
        await response.body?.cancel();
      };
      await ask("temperature", { temperature: 0.5 });
      await ask("messages[0].content");
      await ask("reasoning_effort");
      await ask("the_secret_of_the_caller");
      await ask(SECRET);
      const { text, lines } = await metricsWith(gateway, 3);
      assertEquals(lines.toSorted(), ["messages.content", "reasoning_effort", "temperature"], text);
      const logged = gateway.logLines.filter((line) => line.includes('"unknown_refusal"')).map((line) =>
        JSON.parse(line)
      );
      assertEquals(logged.map(({ field, setting }) => [field, setting]).toSorted(), [
        ["messages.content", undefined],
        ["reasoning_effort", 'providers: { acme: { facts: { "nova": { efforts: [low, medium, high] } } } }'],
        ["temperature", 'providers: { acme: { facts: { "nova": { sampling_support: never } } } }'],
      ]);
      for (const line of gateway.logLines) assert(!line.includes(SECRET) && !line.includes("the_secret"), line);
    } finally {
      await gateway.stop();
    }
  });
}

/** Reads the metrics until they have a number of refused fields: another thread reports its own later. */
async function metricsWith(gateway: Awaited<ReturnType<typeof startTestGateway>>, count: number) {
  for (let reads = 0; reads < 100; reads++) {
    const response = await fetch(`${gateway.address}/metrics`, {
      headers: { authorization: `Bearer ${gateway.adminKey}` },
    });
    const text = await response.text();
    const found = [...text.matchAll(/^switchyard_unknown_refusals_total\{model="acme\/nova",field="([^"]*)"\} 1$/gm)];
    if (found.length === count) return { text, lines: found.map(([, field]) => field) };
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error("the metrics have no refusals");
}

Deno.test("the entry of the log is accepted as facts of the provider", async () => {
  const gateway = await startTestGateway({
    config: {
      providers: {
        acme: {
          kind: "openai",
          base_url: `http://127.0.0.1:${vendor.addr.port}/v1`,
          api_key: "k",
          facts: { "nova": { sampling_support: "never" } },
        },
      },
      models: [{ ...textModel("acme/nova", ["acme"]), pricing: PRICING }],
    },
  });
  assertStringIncludes(gateway.address, "http");
  await gateway.stop();
});

Deno.test("the vendor stops", async () => {
  await vendor.shutdown();
});
