import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import { assert, assertEquals } from "@std/assert";
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
