import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import { assert, assertEquals } from "@std/assert";
import { eventually } from "../support/account_money.ts";
import { startTestGateway, textModel } from "../support/gateway.ts";

/** A model whose providers are tried in this order. */
function inOrder(id: string, providers: readonly string[]) {
  const serves = providers.map((provider, at) => ({ provider, weight: at === 0 ? 1 : 0 }));
  return { ...textModel(id, []), serves };
}

const gateway = await startTestGateway({
  config: {
    models: [
      inOrder("sandbox/any-1", ["sandbox-anthropic", "sandbox-google"]),
      textModel("sandbox/messages-1", ["sandbox-anthropic"]),
    ],
  },
});
const genai = new GoogleGenAI({ apiKey: gateway.key, httpOptions: { baseUrl: `${gateway.address}/gencompat` } });
const anthropic = new Anthropic({ baseURL: `${gateway.address}/msgcompat`, apiKey: gateway.key, maxRetries: 0 });

/** Audio, which the messages format does not support. */
const SOUND = {
  role: "user",
  parts: [{ inlineData: { mimeType: "audio/wav", data: "UklGRiQAAABXQVZF" } }, { text: "What is said?" }],
};

/** Requests to vendors since a position in the list: their family and path. */
function askedSince(mark: number): string[] {
  return gateway.sandbox.requests.slice(mark).map(({ path }) => path);
}

Deno.test("a count skips a provider whose format does not support the request, as the call does", async () => {
  const mark = gateway.sandbox.requests.length;
  const reply = await genai.models.generateContent({ model: "sandbox/any-1", contents: [SOUND] });
  assert(reply.usageMetadata!.promptTokenCount! > 0);
  const { totalTokens } = await genai.models.countTokens({ model: "sandbox/any-1", contents: [SOUND] });
  assert(totalTokens! > 0);
  assertEquals(askedSince(mark).map((path) => path.replace(/.*:/, "")), ["generateContent", "countTokens"]);
});

Deno.test("a count that no provider's format supports is rejected, as the call is", async () => {
  const mark = gateway.sandbox.requests.length;
  const asking = { model: "sandbox/messages-1", contents: [SOUND] };
  const statusOf = (thrown: unknown) => (thrown as { status?: number }).status;
  assertEquals(await genai.models.countTokens(asking).then(() => null, statusOf), 400);
  assertEquals(await genai.models.generateContent(asking).then(() => null, statusOf), 400);
  assertEquals(askedSince(mark), []);
});

Deno.test("a count takes a slot of its provider, waits for one like a call, and returns it", async () => {
  const held: (() => void)[] = [];
  const vendor = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, async () => {
    await new Promise<void>((resolve) => held.push(resolve));
    return Response.json({ input_tokens: 7 });
  });
  const limited = await startTestGateway({
    config: {
      providers: {
        acme: {
          kind: "anthropic",
          base_url: `http://127.0.0.1:${vendor.addr.port}`,
          api_key: "vk",
          concurrency: 1,
          max_wait: 60,
        },
      },
      models: [textModel("acme/m", ["acme"])],
    },
  });
  const client = new Anthropic({ baseURL: `${limited.address}/msgcompat`, apiKey: limited.key, maxRetries: 0 });
  const count = () => client.messages.countTokens({ model: "acme/m", messages: [{ role: "user", content: "hello" }] });
  const loadOf = async () => {
    const headers = { authorization: `Bearer ${limited.adminKey}` };
    const { data } = await (await fetch(`${limited.address}/admin/v1/providers`, { headers })).json();
    return [data[0].limits.open, data[0].limits.waiting];
  };
  const counts = [count(), count()];
  await eventually(async () => held.length === 1 && String(await loadOf()) === "1,1");
  for (let served = 1; served <= 2; served++) {
    held.shift()!();
    if (served === 1) await eventually(() => held.length === 1);
  }
  assertEquals((await Promise.all(counts)).map(({ input_tokens }) => input_tokens), [7, 7]);
  assertEquals(await loadOf(), [0, 0]);
  await limited.stop();
  await vendor.shutdown();
});

Deno.test("a count is sent to the preferred provider when its format supports the request", async () => {
  const mark = gateway.sandbox.requests.length;
  const asking = { model: "sandbox/any-1", messages: [{ role: "user" as const, content: "hello" }] };
  const { data, response } = await anthropic.messages.countTokens(asking).withResponse();
  assert(data.input_tokens > 0);
  assertEquals(response.headers.get("x-service-counted-by"), "sandbox-anthropic");
  assertEquals(askedSince(mark), ["/anthropic/v1/messages/count_tokens"]);
});

Deno.test({
  name: "the gateway of these tests stops",
  sanitizeResources: false,
  sanitizeOps: false,
  fn: () => gateway.stop(),
});
