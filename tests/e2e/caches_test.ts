import { assert, assertEquals, assertNotEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { ApiError } from "@google/genai";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { readMoney } from "../../src/lib/money.ts";
import { type CacheGateway, CONTENT_TOKENS, CONTENTS, MODELS, startCacheGateway } from "../caches/cache_gateway.ts";
import { eventually } from "../support/purse.ts";

const PATH = "/gencompat/v1beta/cachedContents";

/** Runs a test against a gateway of its own. */
function inGateway(name: string, test: (gateway: CacheGateway) => Promise<void>, options = {}): void {
  Deno.test({
    name,
    // The clients keep connections of their own open.
    sanitizeResources: false,
    sanitizeOps: false,
    async fn() {
      const gateway = await startCacheGateway(options);
      try {
        await test(gateway);
      } finally {
        await gateway.stop();
      }
    },
  });
}

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
      assertEquals((await gateway.ask(model, name)).status, 404);
    },
  );
}

inGateway(
  "an emulated cache puts system, tools and contents before the new turn, with the vendor's own marks",
  async (gateway) => {
    const fields = {
      contents: CONTENTS,
      system_instruction: { parts: [{ text: "Be brief" }] },
      tools: [{ function_declarations: [{ name: "look", description: "Looks", parameters: { type: "OBJECT" } }] }],
    };
    const ofMessages = await gateway.create({ model: "sandbox/messages-1", ...fields });
    await gateway.ask("sandbox/messages-1", ofMessages);
    const [toAnthropic] = gateway.seen("/v1/messages").filter(({ path }) => !path.includes("count")).map(({ body }) =>
      body as Record<string, unknown>
    );
    assertEquals(toAnthropic.system, "Be brief");
    assertEquals((toAnthropic.tools as { name: string }[]).map(({ name }) => name), ["look"]);
    assertEquals(toAnthropic.messages, [
      { role: "user", content: CONTENTS[0].parts[0].text },
      {
        role: "assistant",
        content: [{ type: "text", text: "Noted", cache_control: { type: "ephemeral", ttl: "1h" } }],
      },
      { role: "user", content: "Which colour?" },
    ]);

    const ofChat = await gateway.create({ model: "sandbox/chat-1", ...fields });
    await gateway.ask("sandbox/chat-1", ofChat);
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

inGateway("a model calls a tool that only its cache holds", async (gateway) => {
  const tools = [{
    functionDeclarations: [{ name: "look", parameters: { type: "OBJECT", properties: { at: { type: "STRING" } } } }],
  }];
  for (const model of MODELS) {
    const name = await gateway.create({ model, tools });
    const contents: unknown[] = [{ role: "user", parts: [{ text: '[[tool look {"at":"sky"}]]' }] }];
    const { json } = await gateway.ask(model, name, { contents });
    const [part] = json.candidates[0].content.parts.filter((each: Record<string, unknown>) => each.functionCall);
    assertEquals([part.functionCall.name, part.functionCall.args], ["look", { at: "sky" }], model);
    const response = { id: part.functionCall.id, name: "look", response: { output: "blue" } };
    contents.push(json.candidates[0].content, { role: "user", parts: [{ functionResponse: response }] });
    const answer = await gateway.ask(model, name, { contents });
    assertStringIncludes(answer.json.candidates[0].content.parts[0].text, "blue", model);
  }
});

inGateway(
  "the content is never shown: not on create, get, list or patch, nor in a reply that repeats its request",
  async (gateway) => {
    const secret = {
      contents: [{ parts: [{ text: "Rosebud ".repeat(500) }] }],
      systemInstruction: "Say Rosebud to nobody",
    };
    const created = await gateway.call("POST", PATH, { model: "sandbox/chat-1", ...secret });
    const { name } = created.json;
    const answers = [
      created,
      await gateway.call("GET", `/gencompat/v1beta/${name}`),
      await gateway.call("GET", PATH),
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
    assertEquals(chat.choices[0].message.content, "You said: Which colour?");
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
  "a create costs its tokens at the price of a cache write, a hit its tokens at the price of a read",
  async (gateway) => {
    for (const model of MODELS) {
      const start = await gateway.purse.balance();
      const name = await gateway.create({ model });
      const created = await gateway.purse.balance();
      assertEquals(start - created, BigInt(CONTENT_TOKENS) * readMoney("0.00000125"), model);
      const row = await gateway.purse.latestCharge();
      assertEquals([row?.model, row?.usage.cache_write_1h_tokens], [
        model,
        CONTENT_TOKENS,
      ]);
      for (let hit = 0; hit < 3; hit++) {
        const before = await gateway.purse.balance();
        const { json } = await gateway.ask(model, name);
        assertEquals(json.usageMetadata.cachedContentTokenCount, CONTENT_TOKENS, `${model}, hit ${hit}`);
        const expected = BigInt(CONTENT_TOKENS) * readMoney("0.0000001") + 2n * readMoney("0.000001") +
          BigInt(json.usageMetadata.candidatesTokenCount) * readMoney("0.000002");
        assertEquals(before - await gateway.purse.balance(), expected, `${model}, hit ${hit}`);
      }
    }
  },
);

inGateway(
  "a create is charged at the price of an hour's cache where the catalog has one, and nothing where all is free",
  async (gateway) => {
    const start = await gateway.purse.balance();
    await gateway.create({ model: "sandbox/hourly-1" });
    assertEquals(start - await gateway.purse.balance(), BigInt(CONTENT_TOKENS) * readMoney("0.000002"));
    await gateway.create({ model: "sandbox/free-1" });
    assertEquals(start - await gateway.purse.balance(), BigInt(CONTENT_TOKENS) * readMoney("0.000002"));
  },
);

inGateway(
  "tokens are counted by the vendor's counter where it has one, else by the gateway, and the answer says by whom",
  async (gateway) => {
    const countedBy = async (model: string) => {
      const { headers, json } = await gateway.call("POST", PATH, { model, contents: CONTENTS });
      const again = await gateway.call("GET", `/gencompat/v1beta/${json.name}`);
      assertEquals(again.headers.get("x-service-counted-by"), headers.get("x-service-counted-by"));
      return headers.get("x-service-counted-by");
    };
    assertEquals(await countedBy("sandbox/content-1"), "sandbox-google");
    assertEquals(await countedBy("sandbox/chat-1"), "sandbox-openai");
    assertEquals(await countedBy("sandbox/messages-1"), "sandbox-anthropic");
    assertEquals(await countedBy("sandbox/plain-1"), "gateway");
  },
);

inGateway(
  "the default life is ten minutes; both versions, both spellings and a bare model are good",
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

inGateway(
  "a life out of bounds, in the past, in another shape or said twice is 400 and creates nothing",
  async (gateway) => {
    const now = Date.now();
    const bad: Record<string, unknown>[] = [
      ...["599s", "3601s", "600", "10m", "-600s", "600.5s"].map((ttl) => ({ ttl })),
      { ttl: "600s", expireTime: new Date(now + 700_000).toISOString() },
      ...[
        new Date(now - 1_000).toISOString(),
        "tomorrow",
        "2030-01-01T00:00:00",
        new Date(now + 7_200_000).toISOString(),
      ]
        .map((expireTime) => ({ expireTime })),
    ];
    for (const fields of bad) {
      const { status, json } = await gateway.call("POST", PATH, {
        model: "sandbox/chat-1",
        contents: CONTENTS,
        ...fields,
      });
      assertEquals(
        [status, json.error.code, json.error.status],
        [400, 400, "INVALID_ARGUMENT"],
        JSON.stringify(fields),
      );
    }
    assertEquals((await gateway.call("GET", PATH)).json, { cachedContents: [] });
    assertEquals([gateway.seen("/").length, gateway.files()], [0, []]);
  },
);

inGateway("a missing model or contents is 400, an unknown model 404, one that makes pictures 400", async (gateway) => {
  const create = async (body: unknown) => {
    const { status, json } = await gateway.call("POST", PATH, body);
    return [status, json.error.status];
  };
  assertEquals(await create({ contents: CONTENTS }), [400, "INVALID_ARGUMENT"]);
  assertEquals(await create({ model: "sandbox/chat-1" }), [400, "INVALID_ARGUMENT"]);
  assertEquals(await create({ model: "sandbox/chat-1", contents: [] }), [400, "INVALID_ARGUMENT"]);
  assertEquals(await create({ model: "sandbox/nothing", contents: CONTENTS }), [404, "NOT_FOUND"]);
  assertEquals(await create({ model: "sandbox/picture-1", contents: CONTENTS }), [400, "INVALID_ARGUMENT"]);
  assertEquals(await create("{"), [400, "INVALID_ARGUMENT"]);
}, { models: [{ id: "sandbox/picture-1", image: { series: "default" }, serves: [{ provider: "sandbox-openai" }] }] });

inGateway(
  "get, patch, delete and reference of another credential's cache are 403, and list does not show it",
  async (gateway) => {
    const other = { "x-content-api-key": gateway.otherKey };
    for (const model of MODELS) {
      const name = await gateway.create({ model });
      const path = `/gencompat/v1beta/${name}`;
      const contents = [{ parts: [{ text: "Hi" }] }];
      const answers = [
        await gateway.call("GET", path, undefined, other),
        await gateway.call("PATCH", path, { ttl: "700s" }, other),
        await gateway.call("DELETE", path, undefined, other),
        await gateway.call("POST", `/gencompat/v1beta/models/${model}:generateContent`, {
          contents,
          cachedContent: name,
        }, other),
      ];
      for (const { status, json } of answers) assertEquals([status, json.error.status], [403, "PERMISSION_DENIED"]);
      assertEquals((await gateway.call("GET", path)).status, 200);
    }
    assertEquals((await gateway.call("GET", PATH, undefined, other)).json, { cachedContents: [] });
    assertEquals((await gateway.call("GET", PATH, undefined, { "x-content-api-key": "" })).status, 401);
  },
);

inGateway(
  "an unknown, malformed or endless handle is 404 in the content shape, wherever it stands",
  async (gateway) => {
    const ids = ["unknown", "0".repeat(28), "x".repeat(5_000), "..%2fx"];
    for (const id of ids) {
      const { status, json } = await gateway.call("GET", `${PATH}/${id}`);
      assertEquals([status, json.error.status], [404, "NOT_FOUND"], id.slice(0, 30));
      const asked = await gateway.ask("sandbox/chat-1", `cachedContents/${id}`);
      assertEquals([asked.status, asked.json.error.status], [404, "NOT_FOUND"], id.slice(0, 30));
    }
    for (const name of ["cachedContents/../x", "mine", "projects/p/locations/l/cachedContents/1"]) {
      assertEquals((await gateway.ask("sandbox/content-1", name)).status, 404, name);
    }
    assertEquals((await gateway.ask("sandbox/chat-1", 7 as never)).status, 400);
    const chat = { model: "sandbox/chat-1", messages: [{ role: "user", content: "Hi" }] };
    for (const [cached_content, status] of [["cachedContents/x", 404], [7, 400], ["", 400]] as const) {
      const answer = await gateway.call("POST", "/v1/chat/completions", { ...chat, extra_body: { cached_content } });
      assertEquals(answer.status, status);
    }
    assertEquals(gateway.seen("/").length, 0, "no vendor was asked");
  },
);

inGateway(
  "a reference for another model is 400, and so is one beside instructions, tools or a choice of tools",
  async (gateway) => {
    const declaration = { functionDeclarations: [{ name: "f" }] };
    for (const model of MODELS) {
      const name = await gateway.create({ model });
      const asked = gateway.seen("/").length;
      const another = await gateway.ask(MODELS.find((each) => each !== model)!, name);
      assertEquals([another.status, another.json.error.status], [400, "INVALID_ARGUMENT"]);
      const beside: Record<string, unknown>[] = [
        { systemInstruction: { parts: [{ text: "Be loud" }] } },
        { system_instruction: "Be loud" },
        { tools: [declaration] },
        { toolConfig: { functionCallingConfig: { mode: "NONE" } } },
        { tool_config: { function_calling_config: { mode: "AUTO" } } },
      ];
      for (const fields of beside) {
        assertEquals(
          (await gateway.ask(model, name, fields)).status,
          400,
          JSON.stringify(fields),
        );
      }
      const extra_body = { cached_content: name };
      const user = { role: "user", content: "Hi" };
      const tool = { type: "function", function: { name: "f" } };
      const others: [string, Record<string, unknown>][] = [
        ["/v1/chat/completions", { messages: [{ role: "system", content: "Be loud" }, user] }],
        ["/v1/chat/completions", { messages: [user], tools: [tool] }],
        ["/v1/responses", { input: "Hi", instructions: "Be loud" }],
        ["/v1/responses", { input: [{ role: "developer", content: "Be loud" }, user] }],
        ["/msgcompat/v1/messages", { messages: [user], max_tokens: 10, system: "Be loud" }],
      ];
      for (const [path, body] of others) {
        const headers = { "msg-version": "2023-06-01" };
        const { status, text } = await gateway.call("POST", path, { model, extra_body, ...body }, headers);
        assertEquals([status, text.includes("cached content")], [400, true], JSON.stringify(body));
      }
      assertEquals(gateway.seen("/").length, asked, "no vendor was asked");
    }
  },
);

inGateway("a reference goes where the cache is; a pin elsewhere is 400 and says where that is", async (gateway) => {
  for (const provider of ["sandbox-google", "sandbox-anthropic", "sandbox-openai"]) {
    const pin = { "x-service-provider-type": provider };
    const created = await gateway.call("POST", PATH, { model: "sandbox/any-1", contents: CONTENTS }, pin);
    assertEquals([created.status, created.headers.get("x-service-provider")], [200, provider]);
    const { name } = created.json;
    for (let times = 0; times < 6; times++) {
      const { status, headers } = await gateway.ask("sandbox/any-1", name);
      assertEquals([status, headers.get("x-service-provider")], [200, provider]);
    }
    const path = "/gencompat/v1beta/models/sandbox/any-1:generateContent";
    const body = { contents: [{ parts: [{ text: "Hi" }] }], cachedContent: name };
    assertEquals((await gateway.call("POST", path, body, pin)).status, 200);
    const elsewhere = provider === "sandbox-openai" ? "sandbox-google" : "sandbox-openai";
    const { status, json } = await gateway.call("POST", path, body, { "x-service-provider-type": elsewhere });
    assertEquals([status, json.error.message.includes(`"${provider}"`)], [400, true]);
  }
  const unserved = { "x-service-provider-type": "sandbox-anthropic" };
  const refused = await gateway.call("POST", PATH, { model: "sandbox/chat-1", contents: CONTENTS }, unserved);
  assertEquals([refused.status, refused.json.error.type], [400, "provider_type_unavailable"]);
});

inGateway("an emulated cache survives its provider's failure elsewhere; a vendor's own does not", async (gateway) => {
  const pin = (provider: string) => ({ "x-service-provider-type": provider });
  const body = { model: "sandbox/any-1", contents: CONTENTS };
  const emulated = (await gateway.call("POST", PATH, body, pin("sandbox-anthropic"))).json.name;
  const native = (await gateway.call("POST", PATH, body, pin("sandbox-google"))).json.name;
  // Fails once: at the first provider that is asked.
  const flaky = { contents: [{ parts: [{ text: "[[flaky 1]] Which colour?" }] }] };
  const survived = await gateway.ask("sandbox/any-1", emulated, flaky);
  assertEquals(survived.status, 200);
  assertNotEquals(survived.headers.get("x-service-provider"), "sandbox-anthropic");
  assertEquals(survived.json.usageMetadata.cachedContentTokenCount, CONTENT_TOKENS);
  const failing = { contents: [{ parts: [{ text: "[[fail 503]]" }] }] };
  const asked = gateway.seen("/").length;
  assertEquals((await gateway.ask("sandbox/any-1", native, failing)).status, 502);
  assertEquals(gateway.seen("/").length, asked + 1);
});

inGateway("patch moves the end, with the vendor too; model, name and contents are immutable", async (gateway) => {
  for (const model of MODELS) {
    const name = await gateway.create({ model });
    const path = `/gencompat/v1beta/${name}`;
    const expireTime = new Date(gateway.clock.now() + 3_000_000).toISOString();
    const { status, json } = await gateway.call("PATCH", `${path}?updateMask=expireTime`, { expireTime });
    assertEquals([status, json.expireTime], [200, expireTime], model);
    for (const fields of [{ model }, { displayName: "new" }, { contents: CONTENTS }, {}, { ttl: "599s" }]) {
      assertEquals((await gateway.call("PATCH", path, fields)).status, 400, JSON.stringify(fields));
    }
    assertEquals((await gateway.call("PATCH", `${path}?updateMask=displayName`, { ttl: "700s" })).status, 400);
    gateway.clock.shift(2_900_000);
    assertEquals((await gateway.ask(model, name)).status, 200, "it lives on");
    gateway.clock.shift(200_000);
    assertEquals((await gateway.ask(model, name)).status, 404, "and ends");
  }
  assertEquals(gateway.seen("updateMask=expireTime").length, 1);
});

inGateway("a shorter life takes effect, and what was kept is removed soon after the end", async (gateway) => {
  for (const model of MODELS) {
    const name = await gateway.create({ model, ttl: "3600s" });
    await gateway.call("PATCH", `/gencompat/v1beta/${name}`, { ttl: "600s" });
    gateway.clock.shift(601_000);
    const expired = await gateway.ask(model, name);
    assertEquals([expired.status, expired.json.error.status], [404, "NOT_FOUND"]);
    assertEquals((await gateway.call("GET", `/gencompat/v1beta/${name}`)).status, 404);
    assertEquals((await gateway.call("GET", PATH)).json, { cachedContents: [] });
    gateway.clock.shift(60_000);
    await eventually(async () => gateway.files().length === 0 && (await cacheRecords(gateway)) === 0);
  }
});

inGateway("delete is answered {}, reaches the vendor, and a second one is 404", async (gateway) => {
  for (const model of MODELS) {
    const path = `/gencompat/v1beta/${await gateway.create({ model })}`;
    assertEquals(gateway.files().length, model === "sandbox/content-1" ? 0 : 1);
    const { status, json } = await gateway.call("DELETE", path);
    assertEquals([status, json], [200, {}]);
    assertEquals((await gateway.call("DELETE", path)).status, 404);
    await eventually(async () => gateway.files().length === 0 && (await cacheRecords(gateway)) === 0);
  }
  assertEquals(gateway.seen("/cachedContents/").filter(({ method }) => method === "DELETE").length, 1);
});

inGateway("a list has pages, newest first, of one's own", async (gateway) => {
  const names = [];
  for (let made = 0; made < 5; made++) names.unshift(await gateway.create());
  const first = (await gateway.call("GET", `${PATH}?pageSize=2`)).json;
  assertEquals(first.cachedContents.map(({ name }: { name: string }) => name), names.slice(0, 2));
  const second = (await gateway.call("GET", `${PATH}?page_size=2&pageToken=${first.nextPageToken}`)).json;
  assertEquals(second.cachedContents.map(({ name }: { name: string }) => name), names.slice(2, 4));
  const last = (await gateway.call("GET", `${PATH}?pageSize=2&pageToken=${second.nextPageToken}`)).json;
  assertEquals([last.cachedContents.length, last.nextPageToken], [1, undefined]);
  for (const query of ["pageSize=-1", "pageSize=x", "pageToken=x"]) {
    assertEquals((await gateway.call("GET", `${PATH}?${query}`)).status, 400, query);
  }
  const pager = await gateway.client().caches.list({ config: { pageSize: 2 } });
  const all = [];
  for await (const { name } of pager) all.push(name);
  assertEquals(all, names);
});

inGateway("a create is 402 when the balance is used up, and nothing is asked or kept", async (gateway) => {
  const { status, json } = await gateway.call("POST", PATH, { model: "sandbox/content-1", contents: CONTENTS });
  assertEquals([status, json.error.status], [402, "FAILED_PRECONDITION"]);
  assertEquals([gateway.seen("/").length, gateway.files(), await cacheRecords(gateway)], [0, [], 0]);
}, { balance: "0" });

inGateway(
  "a create that its vendor refuses or fails is that failure, costs nothing and leaves nothing",
  async (gateway) => {
    const start = await gateway.purse.balance();
    const create = async (model: string, contents: unknown = CONTENTS) => {
      const { status, json } = await gateway.call("POST", PATH, { model, contents });
      return [status, json.error.status];
    };
    const small = [{ role: "user", parts: [{ text: "The sky is blue" }] }];
    assertEquals(
      await create("sandbox/small-1", small),
      [400, "INVALID_ARGUMENT"],
      "the vendor's least size is passed on",
    );
    assertEquals(await create("sandbox/missing-1"), [404, "NOT_FOUND"]);
    assertEquals(await create("sandbox/missing-2"), [404, "NOT_FOUND"]);
    assertEquals(await create("sandbox/badkey-1"), [401, "UNAUTHENTICATED"]);
    const video = [{ role: "user", parts: [{ inlineData: { mimeType: "video/mp4", data: "AAAA" } }] }];
    assertEquals(await create("sandbox/messages-1", video), [400, "INVALID_ARGUMENT"]);
    await eventually(async () => (await cacheRecords(gateway)) === 0);
    assertEquals([gateway.files(), await gateway.purse.balance()], [[], start]);
  },
  {
    models: [
      { id: "sandbox/small-1", serves: [{ provider: "sandbox-google", model: "gemini-3-flash" }] },
      { id: "sandbox/missing-1", serves: [{ provider: "sandbox-google", model: "missing" }] },
      { id: "sandbox/missing-2", serves: [{ provider: "sandbox-anthropic", model: "missing" }] },
      { id: "sandbox/badkey-1", serves: [{ provider: "bad-google" }] },
    ],
    providers: ({ baseUrls }: { baseUrls: { google: string } }) => ({
      "bad-google": { kind: "google", base_url: baseUrls.google, api_key: "bad-key" },
    }),
  },
);

inGateway("a create goes to the next provider when the first fails", async (gateway) => {
  const body = { model: "sandbox/two-1", contents: CONTENTS };
  const { status, headers } = await gateway.call("POST", PATH, body);
  assertEquals([status, headers.get("x-service-provider")], [200, "sandbox-anthropic"]);
  await eventually(async () => (await cacheRecords(gateway)) === 1);
}, {
  models: [{ id: "sandbox/two-1", serves: [{ provider: "bad-google" }, { provider: "sandbox-anthropic", weight: 0 }] }],
  providers: ({ baseUrls }: { baseUrls: { google: string } }) => ({
    "bad-google": { kind: "google", base_url: baseUrls.google, api_key: "bad-key" },
  }),
});

inGateway("a vendor that has lost its cache is told as 404, and the turn costs nothing", async (gateway) => {
  const name = await gateway.create({ model: "sandbox/content-1" });
  const [{ name: lost }] = (await vendorCaches(gateway)).cachedContents;
  await fetch(`${gateway.sandbox.baseUrls.google}/v1beta/${lost}?key=sandbox-key-google`, { method: "DELETE" })
    .then((response) => response.body?.cancel());
  const before = await gateway.purse.balance();
  const { status, json } = await gateway.ask("sandbox/content-1", name);
  assertEquals([status, json.error.status], [404, "NOT_FOUND"]);
  const chat = {
    model: "sandbox/content-1",
    messages: [{ role: "user", content: "Hi" }],
    extra_body: { cached_content: name },
  };
  assertEquals((await gateway.call("POST", "/v1/chat/completions", chat)).status, 404);
  assertEquals((await gateway.call("PATCH", `/gencompat/v1beta/${name}`, { ttl: "700s" })).status, 404);
  assertEquals(await gateway.purse.balance(), before);
  assertEquals(
    (await gateway.ask("sandbox/content-1", await gateway.create({ model: "sandbox/content-1" }))).status,
    200,
  );
});

inGateway(
  "a vendor's cache is created under the gateway's mark until the same instant, and deleted with ours",
  async (gateway) => {
    const { json } = await gateway.call("POST", PATH, {
      model: "sandbox/content-1",
      contents: CONTENTS,
      displayName: "sky",
    });
    const [kept] = (await vendorCaches(gateway)).cachedContents;
    assertEquals([kept.displayName, kept.expireTime], [json.name.slice("cachedContents/".length), json.expireTime]);
    assertEquals(kept.model, "models/content-1");
    const asked = await gateway.ask("sandbox/content-1", json.name);
    assertEquals(asked.status, 200);
    const sent = gateway.seen(":generateContent").at(-1)!.body as Record<string, unknown>;
    assertEquals(sent, { contents: [{ role: "user", parts: [{ text: "Which colour?" }] }], cachedContent: kept.name });
    await gateway.call("DELETE", `/gencompat/v1beta/${json.name}`);
    await eventually(async () => (await vendorCaches(gateway)).cachedContents === undefined);
  },
);

inGateway("countTokens of a whole request with a cache counts both and says how many are cached", async (gateway) => {
  for (const model of MODELS) {
    const cachedContent = await gateway.create({ model });
    const contents = [{ role: "user", parts: [{ text: "Which colour?" }] }];
    const path = `/gencompat/v1beta/models/${model}:countTokens`;
    const generateContentRequest = { model: `models/${model}`, contents, cachedContent };
    const { json } = await gateway.call("POST", path, { generateContentRequest });
    assertEquals(json, { totalTokens: CONTENT_TOKENS + 2, cachedContentTokenCount: CONTENT_TOKENS });
  }
});

inGateway("what the model will not be told of a cache is named", async (gateway) => {
  const body = { model: "sandbox/messages-1", contents: CONTENTS, tools: [{ googleSearch: {} }] };
  const created = await gateway.call("POST", PATH, body);
  assertEquals(created.headers.get("x-service-dropped"), "tools.googleSearch");
  const asked = await gateway.ask("sandbox/messages-1", created.json.name);
  assertEquals(asked.headers.get("x-service-dropped"), "tools.googleSearch");
});

inGateway("an address that is no method of caches is 405 with the methods that there are", async (gateway) => {
  const { status, headers } = await gateway.call("PUT", `${PATH}/x`, {});
  assertEquals([status, headers.get("allow")], [405, "GET, PATCH, DELETE"]);
});

/** How many caches the store knows of, in whatever state. */
async function cacheRecords({ app }: CacheGateway): Promise<number> {
  return (await app.store.scan(["cache", "content"], { limit: 100 })).length;
}

// deno-lint-ignore no-explicit-any -- a test looks wherever it likes
async function vendorCaches({ sandbox }: CacheGateway): Promise<any> {
  const response = await fetch(`${sandbox.baseUrls.google}/v1beta/cachedContents?key=sandbox-key-google`);
  return await response.json();
}
