import { assertEquals, assertStringIncludes } from "@std/assert";
import { readModel } from "../../src/vendors/catalog/model.ts";
import { checkExpirations, checkPriceSource } from "../../src/entry/doctor/price_checks.ts";
import { startTestGateway } from "../support/gateway.ts";

const DAY_MS = 86_400_000;
const dateIn = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 10);

/** A vendor that answers every request in this way. */
function startVendor(answer: () => Response) {
  const requests: string[] = [];
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, async (request) => {
    requests.push((await request.json()).model);
    return answer();
  });
  return { baseUrl: `http://127.0.0.1:${server.addr.port}/v1`, requests, stop: () => server.shutdown() };
}

const GONE = {
  "OpenAI's 404": [404, { error: { message: "The model `old-1` does not exist", code: "model_not_found" } }],
  "Groq's 400": [400, { error: { message: "The model has been decommissioned", code: "model_decommissioned" } }],
  "a 410": [410, { error: { message: "This model was retired" } }],
  "a 404 that names it": [404, { error: { message: "models/old-1 is not found", code: 404 } }],
} as const;

for (const isolates of [1, 2]) {
  for (const [what, [status, body]] of Object.entries(GONE)) {
    Deno.test(`with ${isolates} threads: ${what} of a model that is gone is a 404 with its successor`, async () => {
      const vendor = startVendor(() => Response.json(body, { status }));
      const model = { pricing: { prompt: "0.000001" }, serves: [{ provider: "acme" }], expiration_date: dateIn(-3) };
      const gateway = await startTestGateway({
        isolates,
        config: {
          providers: { acme: { kind: "openai", base_url: vendor.baseUrl, api_key: "k", quirks: [] } },
          models: [
            { ...model, id: "acme/old-1", redirected_to: { model: "new-2", from: "2031-01-01" } },
            { ...model, id: "acme/new-2", expiration_date: null },
          ],
        },
      });
      try {
        const response = await fetch(`${gateway.address}/v1/chat/completions`, {
          method: "POST",
          headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
          body: JSON.stringify({ model: "acme/old-1", messages: [{ role: "user", content: "hi" }] }),
        });
        const { error } = await response.json();
        assertEquals(response.status, 404);
        assertStringIncludes(error.message, 'its successor is "acme/new-2"');
        assertEquals(vendor.requests, ["old-1"]);
      } finally {
        await gateway.stop();
        await vendor.stop();
      }
    });
  }
}

Deno.test("a 404 of something else than the model stays what it is", async () => {
  const vendor = startVendor(() => Response.json({ error: { message: "No such file", code: "x" } }, { status: 404 }));
  const gateway = await startTestGateway({
    config: {
      providers: { acme: { kind: "openai", base_url: vendor.baseUrl, api_key: "k", quirks: [] } },
      models: [{ id: "acme/one", pricing: "free", serves: [{ provider: "acme" }] }],
    },
  });
  try {
    const response = await fetch(`${gateway.address}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "acme/one", messages: [{ role: "user", content: "hi" }] }),
    });
    assertEquals((await response.json()).error.message.includes("successor"), false);
  } finally {
    await gateway.stop();
    await vendor.stop();
  }
});

Deno.test("doctor names models that end, changes that wait and a source that is not read", () => {
  const now = Date.now();
  const modelOf = (id: string, days: number) =>
    readModel({ id, expiration_date: dateIn(days), serves: [{ provider: "a" }] });
  assertEquals(checkExpirations([modelOf("a/far", 40)], now).level, "ok");
  const found = checkExpirations([modelOf("a/soon", 20), modelOf("a/past", -2)], now);
  assertStringIncludes(found.text, `a/soon (ends on ${dateIn(20)}); a/past (ended on ${dateIn(-2)})`);
  const settings = {
    source: "https://prices.example/list",
    isBuiltIn: false,
    everyMs: 1,
    maxChange: 0.5,
    keepMs: 30 * DAY_MS,
  };
  const sourceAt = (days: number, pending: readonly string[] = []) =>
    checkPriceSource(settings, { readAt: now - days * DAY_MS, failure: "expected status 200, got 503", pending }, now);
  assertEquals(sourceAt(1).level, "ok");
  assertStringIncludes(sourceAt(31).text, "could not be read for 31 days: expected status 200, got 503");
  assertStringIncludes(sourceAt(1, ["openai/gpt-6-sol"]).text, "changes of prices wait: openai/gpt-6-sol");
  assertEquals(checkPriceSource(settings, null, now).level, "ok");
  assertEquals(checkPriceSource({ ...settings, isBuiltIn: true }, null, now).level, "ok");
});
