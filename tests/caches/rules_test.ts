import { assertEquals } from "@std/assert";
import { CACHES_PATH, CONTENTS, inGateway, MODELS } from "./cache_gateway.ts";

inGateway(
  "an expiry out of bounds, in the past, malformed or given twice is 400 and creates nothing",
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
      const { status, json } = await gateway.call("POST", CACHES_PATH, {
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
    assertEquals((await gateway.call("GET", CACHES_PATH)).json, { cachedContents: [] });
    assertEquals([gateway.seen("/").length, gateway.files()], [0, []]);
  },
);

inGateway("a missing model or contents is 400, an unknown model 404, an image model 400", async (gateway) => {
  const create = async (body: unknown) => {
    const { status, json } = await gateway.call("POST", CACHES_PATH, body);
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
  "get, patch, delete and reference of another key's cache are 403, and list omits it",
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
    assertEquals((await gateway.call("GET", CACHES_PATH, undefined, other)).json, { cachedContents: [] });
    assertEquals((await gateway.call("GET", CACHES_PATH, undefined, { "x-content-api-key": "" })).status, 401);
  },
);

inGateway(
  "an unknown, malformed or very long name is 404 in the content protocol's error format, wherever it is used",
  async (gateway) => {
    const ids = ["unknown", "0".repeat(28), "x".repeat(5_000), "..%2fx"];
    for (const id of ids) {
      const { status, json } = await gateway.call("GET", `${CACHES_PATH}/${id}`);
      assertEquals([status, json.error.status], [404, "NOT_FOUND"], id.slice(0, 30));
      const response = await gateway.send("sandbox/chat-1", `cachedContents/${id}`);
      assertEquals([response.status, response.json.error.status], [404, "NOT_FOUND"], id.slice(0, 30));
    }
    for (const name of ["cachedContents/../x", "mine", "projects/p/locations/l/cachedContents/1"]) {
      assertEquals((await gateway.send("sandbox/content-1", name)).status, 404, name);
    }
    assertEquals((await gateway.send("sandbox/chat-1", 7 as never)).status, 400);
    const chat = { model: "sandbox/chat-1", messages: [{ role: "user", content: "Hi" }] };
    for (const [cached_content, status] of [["cachedContents/x", 404], [7, 400], ["", 400]] as const) {
      const answer = await gateway.call("POST", "/v1/chat/completions", { ...chat, extra_body: { cached_content } });
      assertEquals(answer.status, status);
    }
    assertEquals(gateway.seen("/").length, 0, "no vendor was asked");
  },
);

inGateway(
  "a reference for another model is 400, and so is one with instructions, tools or a choice of tools",
  async (gateway) => {
    const declaration = { functionDeclarations: [{ name: "f" }] };
    for (const model of MODELS) {
      const name = await gateway.create({ model });
      const response = gateway.seen("/").length;
      const another = await gateway.send(MODELS.find((each) => each !== model)!, name);
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
          (await gateway.send(model, name, fields)).status,
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
      assertEquals(gateway.seen("/").length, response, "no vendor was asked");
    }
  },
);

inGateway("a list has pages of the caller's own caches, newest first", async (gateway) => {
  const names = [];
  for (let made = 0; made < 5; made++) names.unshift(await gateway.create());
  const first = (await gateway.call("GET", `${CACHES_PATH}?pageSize=2`)).json;
  assertEquals(first.cachedContents.map(({ name }: { name: string }) => name), names.slice(0, 2));
  const second = (await gateway.call("GET", `${CACHES_PATH}?page_size=2&pageToken=${first.nextPageToken}`)).json;
  assertEquals(second.cachedContents.map(({ name }: { name: string }) => name), names.slice(2, 4));
  const last = (await gateway.call("GET", `${CACHES_PATH}?pageSize=2&pageToken=${second.nextPageToken}`)).json;
  assertEquals([last.cachedContents.length, last.nextPageToken], [1, undefined]);
  for (const query of ["pageSize=-1", "pageSize=x", "pageToken=x"]) {
    assertEquals((await gateway.call("GET", `${CACHES_PATH}?${query}`)).status, 400, query);
  }
  const pager = await gateway.client().caches.list({ config: { pageSize: 2 } });
  const all = [];
  for await (const { name } of pager) all.push(name);
  assertEquals(all, names);
});

inGateway("an unsupported method is 405 with the supported ones", async (gateway) => {
  const { status, headers } = await gateway.call("PUT", `${CACHES_PATH}/x`, {});
  assertEquals([status, headers.get("allow")], [405, "GET, PATCH, DELETE"]);
});

inGateway(
  "a part of an unknown type in a cache for another format returns 400 and creates nothing",
  async (gateway) => {
    const contents = [...CONTENTS, { role: "user", parts: [{ txt: "hi" }] }];
    const { status, json } = await gateway.call("POST", CACHES_PATH, { model: "sandbox/chat-1", contents });
    assertEquals([status, json.error.status], [400, "INVALID_ARGUMENT"]);
    assertEquals(json.error.message.includes(`"contents[${CONTENTS.length}].parts[0].txt"`), true, json.error.message);
    assertEquals((await gateway.call("GET", CACHES_PATH)).json, { cachedContents: [] });
  },
);
