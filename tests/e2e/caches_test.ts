import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { ApiError } from "@google/genai";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { CACHES_PATH, CONTENT_TOKENS, CONTENTS, inGateway, MODELS } from "../caches/cache_gateway.ts";
import { itemAt } from "../support/items.ts";

for (const model of MODELS) {
  inGateway(
    `@google/genai creates, gets, lists, updates and deletes a cache of ${model}, and uses it`,
    async (gateway) => {
      const client = gateway.client();
      const before = Date.now();
      const cache = await client.caches.create({
        model,
        config: { contents: CONTENTS, systemInstruction: "Be brief", displayName: "sky", ttl: "900s" },
      });
      const name = cache.name ?? "";
      assert(/^cachedContents\/[0-9a-f]{28}$/.test(name));
      assertEquals([cache.model, cache.displayName], [`models/${model}`, "sky"]);
      assertEquals(cache.usageMetadata, { totalTokenCount: CONTENT_TOKENS + 2 });
      assertEquals(Date.parse(cache.expireTime!) - Date.parse(cache.createTime!), 900_000);
      assert(Date.parse(cache.createTime!) >= before && cache.createTime === cache.updateTime);
      assertEquals(await client.caches.get({ name }), cache);
      const listed = [];
      for await (const each of await client.caches.list()) listed.push(each);
      assertEquals(listed, [cache]);

      const whole = await client.models.generateContent({
        model,
        contents: "Which colour?",
        config: { cachedContent: name },
      });
      assertEquals(whole.text, "You said: Which colour?");
      assertEquals(whole.usageMetadata?.cachedContentTokenCount, CONTENT_TOKENS + 2);
      assertEquals(whole.usageMetadata?.promptTokenCount, CONTENT_TOKENS + 4);
      let text = "";
      let cached: number | undefined;
      const config = { cachedContent: name };
      for await (const chunk of await client.models.generateContentStream({ model, contents: "And now?", config })) {
        text += chunk.text ?? "";
        cached = chunk.usageMetadata?.cachedContentTokenCount ?? cached;
      }
      assertEquals([text, cached], ["You said: And now?", CONTENT_TOKENS + 2]);

      const updated = await client.caches.update({ name, config: { ttl: "1800s" } });
      assertEquals(Date.parse(updated.expireTime!) - Date.parse(updated.updateTime!), 1_800_000);
      assertEquals((await client.caches.get({ name })).expireTime, updated.expireTime);
      await client.caches.delete({ name });
      const gone = await assertRejects(() => client.caches.get({ name }), ApiError);
      assertEquals(gone.status, 404);
      assertEquals((await gateway.send(model, name)).status, 404);
    },
  );
}

inGateway(
  "an emulated cache adds system, tools and contents before the new turn, with the vendor's own marks",
  async (gateway) => {
    const fields = {
      contents: CONTENTS,
      system_instruction: { parts: [{ text: "Be brief" }] },
      tools: [{ function_declarations: [{ name: "look", description: "Looks", parameters: { type: "OBJECT" } }] }],
    };
    const ofMessages = await gateway.create({ model: "sandbox/messages-1", ...fields });
    await gateway.send("sandbox/messages-1", ofMessages);
    const toAnthropic = itemAt(
      gateway.seen("/v1/messages").filter(({ path }) => !path.includes("count")).map(({ body }) =>
        body as Record<string, unknown>
      ),
      0,
    );
    assertEquals(toAnthropic.system, "Be brief");
    assertEquals((toAnthropic.tools as { name: string }[]).map(({ name }) => name), ["look"]);
    assertEquals(toAnthropic.messages, [
      { role: "user", content: itemAt(itemAt(CONTENTS, 0).parts, 0).text },
      {
        role: "assistant",
        content: [{ type: "text", text: "Noted", cache_control: { type: "ephemeral", ttl: "1h" } }],
      },
      { role: "user", content: "Which colour?" },
    ]);

    const ofChat = await gateway.create({ model: "sandbox/chat-1", ...fields });
    await gateway.send("sandbox/chat-1", ofChat);
    const toOpenai = gateway.seen("/openai/v1/responses").findLast(({ path }) => !path.includes("input_tokens"))!
      .body as Record<string, unknown>;
    assertEquals([toOpenai.instructions, toOpenai.prompt_cache_key], [
      "Be brief",
      ofChat.slice("cachedContents/".length),
    ]);
    assertEquals((toOpenai.tools as { name: string }[]).map(({ name }) => name), ["look"]);
    assertEquals((toOpenai.input as unknown[]).length, 3);
  },
);

inGateway("a model calls a tool that only its cache declares", async (gateway) => {
  const tools = [{
    functionDeclarations: [{ name: "look", parameters: { type: "OBJECT", properties: { at: { type: "STRING" } } } }],
  }];
  for (const model of MODELS) {
    const name = await gateway.create({ model, tools });
    const contents: unknown[] = [{ role: "user", parts: [{ text: '[[tool look {"at":"sky"}]]' }] }];
    const { json } = await gateway.send(model, name, { contents });
    const [part] = json.candidates[0].content.parts.filter((each: Record<string, unknown>) => each.functionCall);
    assertEquals([part.functionCall.name, part.functionCall.args], ["look", { at: "sky" }], model);
    const response = { id: part.functionCall.id, name: "look", response: { output: "blue" } };
    contents.push(json.candidates[0].content, { role: "user", parts: [{ functionResponse: response }] });
    const answer = await gateway.send(model, name, { contents });
    assertStringIncludes(answer.json.candidates[0].content.parts[0].text, "blue", model);
  }
});

inGateway(
  "the content is never returned: not on create, get, list or patch, nor in a reply that repeats its request",
  async (gateway) => {
    const secret = {
      contents: [{ parts: [{ text: "Rosebud ".repeat(500) }] }],
      systemInstruction: "Say Rosebud to nobody",
    };
    const created = await gateway.call("POST", CACHES_PATH, { model: "sandbox/chat-1", ...secret });
    const { name } = created.json;
    const answers = [
      created,
      await gateway.call("GET", `/gencompat/v1beta/${name}`),
      await gateway.call("GET", CACHES_PATH),
      await gateway.call("PATCH", `/gencompat/v1beta/${name}`, { ttl: "700s" }),
      await gateway.call("POST", "/v1/responses", {
        model: "sandbox/chat-1",
        input: [{ role: "assistant", content: "What is it?" }, { role: "user", content: "[[say It is a word]]" }],
        extra_body: { cached_content: name },
      }),
    ];
    for (const { status, text } of answers) assertEquals([status, /rosebud|~[0-9a-f-]{36}~/i.test(text)], [200, false]);
  },
);

inGateway("chat, responses and messages use a cache by extra_body.cached_content, on every family", async (gateway) => {
  const openai = new OpenAI({ baseURL: `${gateway.address}/v1`, apiKey: gateway.key, maxRetries: 0 });
  const anthropic = new Anthropic({ baseURL: `${gateway.address}/msgcompat`, apiKey: gateway.key, maxRetries: 0 });
  for (const model of MODELS) {
    const extra_body = { cached_content: await gateway.create({ model }) };
    const messages = [{ role: "user" as const, content: "Which colour?" }];
    const chat = await openai.chat.completions.create(
      { model, messages, extra_body } as never,
    ) as OpenAI.ChatCompletion;
    assertEquals(chat.choices[0]?.message.content, "You said: Which colour?");
    assertEquals(chat.usage?.prompt_tokens_details?.cached_tokens, CONTENT_TOKENS, model);
    const input = "Which colour?";
    const response = await openai.responses.create({ model, input, extra_body } as never) as OpenAI.Responses.Response;
    assertEquals(response.output_text, "You said: Which colour?");
    assertEquals(response.usage?.input_tokens_details.cached_tokens, CONTENT_TOKENS, model);
    const said = await anthropic.messages.create(
      { model, max_tokens: 50, messages, extra_body } as never,
    ) as Anthropic.Message;
    assertEquals([said.usage.cache_read_input_tokens, said.usage.input_tokens], [CONTENT_TOKENS, 2], model);
    assertEquals(said.usage.cache_creation_input_tokens, 0);
    const stream = anthropic.messages.stream({ model, max_tokens: 50, messages, extra_body } as never);
    const streamed = await stream.finalMessage();
    assertEquals([streamed.usage.cache_read_input_tokens, streamed.usage.input_tokens], [CONTENT_TOKENS, 2], model);
  }
});

inGateway(
  "the default expiry is ten minutes, and both versions, both spellings and a bare model are accepted",
  async (gateway) => {
    const { status, json } = await gateway.call("POST", "/gencompat/v1/cachedContents", {
      model: "chat-1",
      contents: CONTENTS,
      system_instruction: { parts: [{ text: "Be brief" }] },
      display_name: "sky",
    });
    assertEquals([status, json.model, json.displayName], [200, "chat-1", "sky"]);
    assertEquals(Date.parse(json.expireTime) - Date.parse(json.createTime), 600_000);
    const { json: got } = await gateway.call("GET", `/gencompat/v1/${json.name}`);
    assertEquals(got, json);
    const contents = [{ parts: [{ text: "Which colour?" }] }];
    const asked = await gateway.call("POST", "/gencompat/v1/sandbox/chat-1:generateContent", {
      contents,
      cached_content: json.name,
    });
    assertEquals(asked.json.usageMetadata.cachedContentTokenCount, CONTENT_TOKENS + 2);
  },
);

inGateway("countTokens of a request with a cache counts both and returns how many are cached", async (gateway) => {
  for (const model of MODELS) {
    const cachedContent = await gateway.create({ model });
    const contents = [{ role: "user", parts: [{ text: "Which colour?" }] }];
    const path = `/gencompat/v1beta/models/${model}:countTokens`;
    const generateContentRequest = { model: `models/${model}`, contents, cachedContent };
    const { json } = await gateway.call("POST", path, { generateContentRequest });
    assertEquals(json, { totalTokens: CONTENT_TOKENS + 2, cachedContentTokenCount: CONTENT_TOKENS });
  }
});

inGateway("the dropped fields of a cache are named", async (gateway) => {
  const body = { model: "sandbox/messages-1", contents: CONTENTS, tools: [{ googleSearch: {} }] };
  const created = await gateway.call("POST", CACHES_PATH, body);
  assertEquals(created.headers.get("x-service-dropped"), "tools.googleSearch");
  const asked = await gateway.send("sandbox/messages-1", created.json.name);
  assertEquals(asked.headers.get("x-service-dropped"), "tools.googleSearch");
});

inGateway("an operator lists the caches of all keys by account, page by page, and deletes one", async (gateway) => {
  const admin = async (method: string, path: string) => {
    const headers = { authorization: `Bearer ${gateway.adminKey}` };
    const response = await fetch(`${gateway.address}/admin/v1/caches${path}`, { method, headers });
    return { status: response.status, body: await response.json() };
  };
  const names = [await gateway.create(), await gateway.create(), await gateway.create()].toReversed();
  const listed: string[] = [];
  for (let after: string | null = ""; after !== null;) {
    const { body } = await admin("GET", `?limit=2&account=demo${after === "" ? "" : `&after=${after}`}`);
    listed.push(...body.data.map(({ name }: { name: string }) => name));
    after = body.next;
  }
  assertEquals(listed, names);
  const { body: { data: [first] } } = await admin("GET", "?limit=1");
  const { id, key, created_at, ...facts } = first;
  assertEquals(`cachedContents/${id}`, names[0]);
  assertEquals([facts.account, facts.tokens, facts.expires_at - created_at], ["demo", CONTENT_TOKENS, 600]);
  assertStringIncludes(key, "key_");
  assertEquals(JSON.stringify(first).includes("sky"), false);
  assertEquals((await admin("GET", "?account=nobody")).body, { data: [], next: null });
  assertEquals((await admin("DELETE", `/${id}`)).status, 200);
  assertEquals((await admin("DELETE", `/${id}`)).status, 404);
  assertEquals((await admin("DELETE", "/x")).status, 404);
  assertEquals((await gateway.send(facts.model, names[0] ?? "")).status, 404);
});

inGateway("an operator sees how often a cache was used, whole and streamed, and when last", async (gateway) => {
  const headers = { authorization: `Bearer ${gateway.adminKey}` };
  const uses = async () => {
    const { data } = await (await fetch(`${gateway.address}/admin/v1/caches`, { headers })).json();
    return data.map(({ hits, last_hit_at }: { hits: number; last_hit_at: number | null }) => [hits, last_hit_at]);
  };
  for (const model of MODELS) {
    const name = await gateway.create({ model });
    assertEquals(itemAt(await uses(), 0), [0, null]);
    const before = Math.floor(Date.now() / 1_000);
    assertEquals((await gateway.send(model, name)).status, 200);
    const messages = [{ role: "user", content: "Which colour?" }];
    const extra_body = { cached_content: name };
    const streamed = await gateway.call("POST", "/v1/chat/completions", { model, messages, extra_body, stream: true });
    assertEquals(streamed.status, 200);
    // Refused, so that it is no hit.
    assertEquals((await gateway.send("sandbox/messages-1-small", name)).status >= 400, true);
    // A record ends just after its response.
    let [hits, lastAt] = [0, 0];
    for (let read = 0; read < 1_000 && hits < 2; read++) [hits, lastAt] = itemAt(await uses(), 0);
    assertEquals(hits, 2);
    assert(lastAt >= before);
  }
});
