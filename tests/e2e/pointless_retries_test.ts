import { assertEquals } from "@std/assert";
import OpenAI, { APIError } from "openai";
import { startTestGateway, textModel } from "../support/gateway.ts";

const QUOTA = { message: "You exceeded your current quota", type: "insufficient_quota", code: "insufficient_quota" };
const RATE = { message: "Slow down", type: "requests", code: "rate_limit_exceeded" };
const RECHARGE = { code: "1113", message: "Insufficient balance or no resource package. Please recharge." };
const BUSY = { message: "Busy", type: "server_error", code: null };

/** The answers of the vendor, by the model. */
const ANSWERS: Readonly<Record<string, readonly [number, object, Record<string, string>]>> = {
  quota: [429, QUOTA, {}],
  recharge: [429, RECHARGE, {}],
  rate: [429, RATE, { "retry-after": "0" }],
  long: [429, RATE, { "retry-after": "900" }],
  told: [500, BUSY, { "x-should-retry": "false" }],
};

Deno.test("clients do not retry what fails again", async () => {
  const asked: string[] = [];
  const vendor = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, async (request) => {
    const { model } = await request.json();
    asked.push(model);
    const [status, error, headers] = ANSWERS[model] ?? [200, {}, {}];
    return Response.json({ error }, { status, headers });
  });
  const gateway = await startTestGateway({
    config: {
      providers: {
        one: { kind: "openai", base_url: `http://127.0.0.1:${vendor.addr.port}/v1`, api_key: "k", speaks: "chat" },
      },
      models: Object.keys(ANSWERS).map((name) => ({
        ...textModel(`one/${name}`, ["one"]),
        serves: [{ provider: "one", model: name }],
      })),
    },
  });
  try {
    const client = new OpenAI({ apiKey: gateway.key, baseURL: `${gateway.address}/v1`, maxRetries: 1 });
    const result = async (name: string) => {
      asked.length = 0;
      const failure = await client.chat.completions.create({
        model: `one/${name}`,
        messages: [{ role: "user", content: "hi" }],
      }).then(() => null, (error) => error);
      if (!(failure instanceof APIError)) throw failure;
      return [failure.status, failure.headers?.get("x-should-retry"), asked.length];
    };
    assertEquals(await result("quota"), [502, "false", 1]);
    assertEquals(await result("recharge"), [502, "false", 1]);
    assertEquals(await result("told"), [502, "false", 1]);
    assertEquals(await result("long"), [429, "false", 1]);
    assertEquals((await result("rate")).slice(0, 2), [429, null]);
  } finally {
    await gateway.stop();
    await vendor.shutdown();
  }
});
