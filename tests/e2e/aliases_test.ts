import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import OpenAI from "openai";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { startTestGateway, textModel } from "../support/gateway.ts";
import { itemAt, present } from "../support/items.ts";
import { accountMoney } from "../support/account_money.ts";
import {
  assertErrorShape,
  CALLER_PROTOCOLS,
  type CallerProtocol,
  CHAT,
  CONTENT,
  MESSAGES,
  sendAs,
} from "./caller_protocols.ts";

const gateway = await startTestGateway({
  config: {
    models: [
      { ...textModel("sandbox/chat-1", ["sandbox-openai"]) },
      textModel("sandbox/messages-1", ["sandbox-anthropic"]),
      textModel("sandbox/content-1", ["sandbox-google"]),
      { ...textModel("far/meta-llama/llama-4", ["sandbox-openai", "sandbox-google"]) },
      {
        id: "sandbox/image-1",
        image: {},
        pricing: { per_image: "0.04" },
        serves: [{ provider: "sandbox-openai", model: "gpt-image-1.5" }],
      },
    ],
    aliases: {
      "talk": "sandbox/chat-1",
      "claude-opus-4-8": { model: "sandbox/messages-1", listed: true },
      "gemini/*": "sandbox/content-*",
      "*-anything": "sandbox/messages-1",
      "llama": "far/meta-llama/llama-4",
      "picture": "sandbox/image-1",
    },
  },
});
const account = accountMoney(gateway);
const openai = new OpenAI({ baseURL: `${gateway.address}/v1`, apiKey: gateway.key, maxRetries: 0 });
const anthropic = new Anthropic({ baseURL: `${gateway.address}/msgcompat`, apiKey: gateway.key, maxRetries: 0 });
const google = new GoogleGenAI({ apiKey: gateway.key, httpOptions: { baseUrl: `${gateway.address}/gencompat` } });

/** Every model name in a reply or stream, in any field of the format. */
function modelsIn(text: string): string[] {
  return [...new Set([...text.matchAll(/"(?:model|modelVersion)":\s*"([^"]*)"/g)].map((match) => itemAt(match, 1)))];
}

const LEADS_TO: Readonly<Record<string, string>> = {
  "talk": "sandbox/chat-1",
  "claude-opus-4-8": "sandbox/messages-1",
  "gemini/1": "sandbox/content-1",
};

for (const face of CALLER_PROTOCOLS) {
  Deno.test(`an alias works in ${face.name}: translated replies have the alias, the header and the ledger the model`, async () => {
    for (const [alias, model] of Object.entries(LEADS_TO)) {
      if (model === face.ownModel) continue;
      for (const stream of [false, true]) {
        const answer = await sendAs(face, gateway, { model: alias, stream });
        assertEquals([answer.status, answer.headers.get("x-service-model")], [200, model], answer.text);
        assertEquals(modelsIn(answer.text), [alias]);
        assertEquals((await account.latestCharge())?.model, model);
      }
    }
  });

  Deno.test(`an alias passes through in ${face.name}, and the reply has the vendor's own bytes`, async () => {
    const [alias] = Object.entries(LEADS_TO).find(([, model]) => model === face.ownModel)!;
    for (const stream of [false, true]) {
      const byId = await sendAs(face, gateway, { stream });
      const byAlias = await sendAs(face, gateway, { model: alias, stream });
      assertEquals([byAlias.status, byAlias.headers.get("x-service-model")], [200, face.ownModel]);
      assertEquals(modelsIn(byAlias.text), modelsIn(byId.text));
      const asked = gateway.sandbox.requests.at(-1)!;
      assert(!JSON.stringify(asked).includes(alias), "The vendor is asked by its own name of the model");
    }
  });

  Deno.test(`an unknown model in ${face.name} is answered with the three nearest, in the format of its errors`, async () => {
    const answer = await sendAs(face, gateway, { model: "sandbox/chat-11" });
    assertEquals(answer.status, 404);
    assertErrorShape(face, answer);
    assertStringIncludes(
      answer.json.error.message,
      'Cannot find the model "sandbox/chat-11"; the nearest: "sandbox/chat-1", "sandbox/content-1", "sandbox/messages-1"',
    );
  });

  Deno.test(`an id with more slashes works in ${face.name}, with pins`, async () => {
    for (const provider of ["sandbox-openai", "sandbox-google"]) {
      const headers = { "x-service-provider-type": provider };
      const answer = await sendAs(face, gateway, { model: "far/meta-llama/llama-4", headers });
      assertEquals([answer.status, answer.headers.get("x-service-provider")], [200, provider], answer.text);
      assertEquals((await account.latestCharge())?.model, "far/meta-llama/llama-4");
    }
    const headers = { "x-service-provider-type": "sandbox-anthropic" };
    const refused = await sendAs(face, gateway, { model: "llama", headers });
    assertEquals(refused.status, 400);
    assertStringIncludes(refused.json.error.message, '"far/meta-llama/llama-4"');
  });
}

Deno.test("the content protocol accepts slashes in its path plain and percent-encoded", async () => {
  for (
    const path of ["far/meta-llama/llama-4", "far%2Fmeta-llama%2Fllama-4", "far/meta-llama%2fllama-4", "gemini%2F1"]
  ) {
    for (const base of ["/gencompat/v1beta/models/", "/gencompat/v1beta/", "/gencompat/v1/models/models/"]) {
      const answer = await sendAs(CONTENT, gateway, { path: `${base}${path}:generateContent` });
      assertEquals(answer.status, 200, base + path);
    }
  }
});

Deno.test("a long name is rejected without being repeated", async () => {
  const answer = await sendAs(CHAT, gateway, { model: "a".repeat(1_000_000) });
  assertEquals([answer.status, answer.json.error.param, answer.text.length < 1_000], [400, "model", true]);
  for (const model of ["a".repeat(500), "é".repeat(500)]) {
    const missed = await sendAs(CHAT, gateway, { model });
    assertEquals([missed.status, missed.text.length < 1_000], [404, true]);
  }
});

Deno.test("tokens are counted, and contents cached, by alias", async () => {
  const messages = [{ role: "user" as const, content: "hello" }];
  const { data, response } = await anthropic.messages.countTokens({ model: "claude-opus-4-8", messages })
    .withResponse();
  assertEquals([data.input_tokens > 0, response.headers.get("x-service-counted-by")], [true, "sandbox-anthropic"]);
  assert((await google.models.countTokens({ model: "gemini/1", contents: "hello" })).totalTokens! > 0);
  const contents = [{ role: "user", parts: [{ text: "word ".repeat(3_000) }] }];
  const cache = await google.caches.create({ model: "gemini/1", config: { contents, ttl: "600s" } });
  assertEquals((await account.latestCharge())?.model, "sandbox/content-1");
  for (const model of ["gemini/1", "sandbox/content-1"]) {
    const reply = await google.models.generateContent({
      model,
      contents: "go on",
      config: { cachedContent: present(cache.name, "name of the cache") },
    });
    assert(reply.usageMetadata!.cachedContentTokenCount! > 0);
  }
});

Deno.test("images are made by alias, and their responses have the alias", async () => {
  const { data: made, response } = await openai.images.generate({ model: "picture", prompt: "a fox", quality: "low" })
    .withResponse();
  assertEquals((made as unknown as { model: string }).model, "picture");
  assertEquals(response.headers.get("x-service-model"), "sandbox/image-1");
  assertEquals((await account.latestCharge())?.model, "sandbox/image-1");
  const headers = { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" };
  const body = JSON.stringify({ model: "picturee", prompt: "a fox", quality: "low" });
  const missed = await fetch(`${gateway.address}/v1/images/generations`, { method: "POST", headers, body });
  assertEquals(missed.status, 404);
  assertStringIncludes((await missed.json()).error.message, 'nearest: "sandbox/image-1"');
});

Deno.test("clients get a model by alias, by id with more slashes, and by both percent-encoded", async () => {
  for (
    const [name, slug] of [["talk", "sandbox/chat-1"], ["gemini/1", "sandbox/content-1"], [
      "llama",
      "far/meta-llama/llama-4",
    ]] as const
  ) {
    const model = await openai.models.retrieve(name) as unknown as Record<string, unknown>;
    assertEquals([model.id, model.canonical_slug], [name, slug]);
    assertEquals((await anthropic.models.retrieve(name)).id, name);
    assertEquals((await google.models.get({ model: name })).name, `models/${name}`);
    for (const path of ["/v1/models/", "/msgcompat/v1/models/", "/gencompat/v1beta/models/"]) {
      const answer = await fetch(gateway.address + path + name);
      assertEquals(answer.status, 200, path + name);
      await answer.body?.cancel();
    }
  }
  const deep = await (await fetch(`${gateway.address}/v1/models/far/meta-llama/llama-4`)).json();
  assertEquals([deep.id, deep.name, deep.owned_by], ["far/meta-llama/llama-4", "meta-llama/llama-4", "far"]);
});

Deno.test("the catalogs list an alias only when its configuration asks for it", async () => {
  const names: string[] = [];
  for await (const model of openai.models.list()) names.push(model.id);
  assertEquals(names.filter((name) => !name.startsWith("sandbox/")), ["far/meta-llama/llama-4", "claude-opus-4-8"]);
  const below = await (await fetch(`${gateway.address}/v1/models/sandbox`)).json();
  assert(below.data.some(({ id }: { id: string }) => id === "claude-opus-4-8"));
  const listed = [];
  for await (const model of anthropic.models.list({ limit: 2 })) listed.push(model.id);
  assertEquals(listed.at(-1), "claude-opus-4-8");
  const pages = await google.models.list({ config: { pageSize: 2 } });
  const contents = [];
  for await (const model of pages) contents.push(model.name);
  assertEquals(contents.at(-1), "models/claude-opus-4-8");
});

Deno.test("an alias in a large body resolves to the same model in the worker thread", async () => {
  const cases: readonly (readonly [CallerProtocol, string])[] = [[CHAT, "claude-opus-4-8"], [MESSAGES, "talk"]];
  for (const [face, alias] of cases) {
    const answer = await sendAs(face, gateway, { model: alias, text: "word ".repeat(40_000) });
    assertEquals([answer.status, answer.headers.get("x-service-model")], [200, LEADS_TO[alias]], answer.text);
    assertEquals(modelsIn(answer.text), [alias]);
  }
});

Deno.test({
  name: "the gateway of these tests stops",
  sanitizeResources: false,
  sanitizeOps: false,
  fn: () => gateway.stop(),
});
