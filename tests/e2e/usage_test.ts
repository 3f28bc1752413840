import { assert, assertEquals } from "@std/assert";
import { startImageGateway } from "../images/image_gateway.ts";
import { startTestGateway, type TestGateway } from "../support/gateway.ts";
import { callerOf } from "../support/gateway_call.ts";

function inGateway(name: string, test: (gateway: TestGateway) => Promise<void>): void {
  Deno.test(name, async () => {
    const gateway = await startTestGateway();
    try {
      await test(gateway);
    } finally {
      await gateway.stop();
    }
  });
}

const asOperator = ({ address, adminKey }: TestGateway) => callerOf(address, { authorization: `Bearer ${adminKey}` });
const asCaller = ({ address }: TestGateway, key: string) => callerOf(address, { authorization: `Bearer ${key}` });

const CHAT = { model: "sandbox/chat-1", messages: [{ role: "user", content: "Hello" }] };

async function chat(gateway: TestGateway, key = gateway.key, fields: Record<string, unknown> = {}): Promise<void> {
  const { status, text } = await asCaller(gateway, key)("POST", "/v1/chat/completions", { ...CHAT, ...fields });
  assertEquals(status, 200, text);
}

async function secondKey(gateway: TestGateway): Promise<string> {
  const { json } = await asOperator(gateway)("POST", "/admin/v1/accounts/demo/keys");
  return json.secret;
}

inGateway("GET /admin/v1/usage sums all calls made before it, as the ledger does", async (gateway) => {
  const operator = asOperator(gateway);
  const other = await secondKey(gateway);
  await chat(gateway);
  await chat(gateway, other);
  await chat(gateway, other, { model: "sandbox/any-1", stream: true });
  const { status, json } = await operator("GET", "/admin/v1/usage?group_by=key,model,day");
  assertEquals(status, 200);
  const { json: ledger } = await operator("GET", "/admin/v1/accounts/demo/ledger?limit=100");
  const rows = ledger.data.flatMap((entry: { requests?: unknown[] }) => entry.requests ?? []);
  assertEquals(json.data.length, 3);
  for (const group of json.data) {
    const own = rows.filter((row: { key: string; model: string }) =>
      row.key === group.key && row.model === group.model
    );
    assertEquals([group.requests, group.cost], [own.length, own[0].cost]);
    assertEquals(group.day, new Date(own[0].created_at * 1_000).toISOString().slice(0, 10));
    assert(/^key_/.test(group.key) && group.input_tokens > 0 && group.output_tokens > 0);
  }
  assertEquals([json.total.requests, json.next], [3, null]);
  const { json: account } = await operator("GET", "/admin/v1/accounts/demo");
  assertEquals(Number(account.balance) + Number(json.total.cost), 25);
});

inGateway(
  "X-Service-Cost is the charge of a whole reply or a cache, and missing where nothing was charged",
  async (gateway) => {
    const caller = asCaller(gateway, gateway.key);
    const path = {
      messages: "/msgcompat/v1/messages",
      content: "/gencompat/v1beta/models/sandbox/chat-1:generateContent",
    };
    const contents = [{ role: "user", parts: [{ text: "Hello" }] }];
    const answers = [
      await caller("POST", "/v1/chat/completions", CHAT),
      await caller("POST", "/v1/chat/completions", { ...CHAT, model: "sandbox/messages-1" }),
      await caller("POST", path.messages, { ...CHAT, max_tokens: 50 }, { "msg-version": "2023-06-01" }),
      await caller("POST", path.content, { contents }),
      await caller("POST", "/gencompat/v1beta/cachedContents", { model: "sandbox/content-1", contents, ttl: "900s" }),
    ];
    const { json } = await asOperator(gateway)("GET", "/admin/v1/accounts/demo/ledger?limit=100");
    const costs = json.data.flatMap((entry: { requests?: { cost: string; request_id: string }[] }) =>
      entry.requests ?? []
    );
    for (const { status, headers, text } of answers) {
      assertEquals(status, 200, text);
      const own = costs.find((each: { request_id: string }) => each.request_id === headers.get("x-service-request-id"));
      assertEquals(headers.get("x-service-cost"), own?.cost);
      assert(own !== undefined);
    }
    for (
      const uncharged of [
        await caller("POST", "/v1/chat/completions", { ...CHAT, stream: true }),
        await caller("POST", "/v1/chat/completions", { ...CHAT, model: "none" }),
        await caller("GET", "/v1/usage"),
      ]
    ) assertEquals(uncharged.headers.get("x-service-cost"), null);
  },
);

inGateway("GET /admin/v1/usage filters by fields and days, and continues after a page", async (gateway) => {
  const operator = asOperator(gateway);
  await chat(gateway);
  await chat(gateway, gateway.key, { model: "sandbox/any-1" });
  const models = async (query: string) => {
    const { json } = await operator("GET", `/admin/v1/usage?group_by=model${query}`);
    return json.data.map(({ model }: { model: string }) => model);
  };
  assertEquals(await models("&model=sandbox/any-1"), ["sandbox/any-1"]);
  assertEquals(await models("&account=demo&kind=text&limit=1000"), ["sandbox/any-1", "sandbox/chat-1"]);
  assertEquals(await models("&account=nobody"), []);
  const today = new Date().toISOString().slice(0, 10);
  assertEquals((await models(`&from=${today}`)).length, 2);
  assertEquals(await models(`&to=${today}`), []);
  const { json } = await operator("GET", "/admin/v1/usage?group_by=model&limit=1");
  assertEquals([json.data[0].model, json.total.requests], ["sandbox/any-1", 2]);
  assertEquals(await models(`&limit=1&after=${json.next}`), ["sandbox/chat-1"]);
});

inGateway("GET /admin/v1/usage with top has the groups that cost most, and the sum of the others", async (gateway) => {
  const operator = asOperator(gateway);
  for (const model of ["sandbox/chat-1", "sandbox/chat-1", "sandbox/any-1", "sandbox/messages-1"]) {
    await chat(gateway, gateway.key, { model });
  }
  const costs = async (query: string) => {
    const { json } = await operator("GET", `/admin/v1/usage?${query}`);
    return json;
  };
  const all = await costs("group_by=model");
  assertEquals([all.data.length, all.others], [3, undefined]);
  const sorted = all.data.toSorted((one: { cost: string }, other: { cost: string }) => +other.cost - +one.cost);
  const top = await costs("group_by=model&top=1");
  assertEquals(top.data, sorted.slice(0, 1));
  assertEquals(top.others.map(({ requests }: { requests: number }) => requests), [4 - sorted[0].requests]);
  assertEquals(top.total, all.total);
  const byDay = await costs("group_by=day,model&top=1");
  assertEquals([byDay.data.length, byDay.others.length], [1, 1]);
  assertEquals(byDay.others[0].day, byDay.data[0].day);
  assertEquals((await costs("group_by=model&top=3")).others, []);
});

inGateway("GET /admin/v1/usage refuses a mistake with the nearest name", async (gateway) => {
  const operator = asOperator(gateway);
  const error = async (query: string) => (await operator("GET", `/admin/v1/usage?${query}`)).json.error;
  const { doc_url: _address, ...refused } = await error("groupby=model");
  assertEquals(refused, {
    code: "invalid_request",
    message: 'Cannot read "groupby": no such parameter; did you mean "group_by"?',
    field: "groupby",
  });
  assertEquals(
    (await error("group_by=modle")).message,
    'Cannot read "group_by": expected a list of account, key, model, provider, kind, day, separated by commas; ' +
      'did you mean "model"?',
  );
  for (
    const [query, field] of [
      ["group_by=model,model", "group_by"],
      ["from=2026-02-30", "from"],
      ["from=1790000001", "from"],
      ["to=yesterday", "to"],
      ["from=2026-11-21&to=2026-11-21", "to"],
      ["format=xml", "format"],
      ["format=csv&limit=5", "limit"],
      ["format=csv&top=5", "top"],
      ["limit=1001", "limit"],
      ["top=0", "top"],
      ["after=x", "after"],
      ["after=WyJhIl0", "after"],
      ["from=2026-11-21&from=2026-11-22", "from"],
    ] as const
  ) assertEquals((await error(query)).field, field, query);
});

inGateway("GET /admin/v1/usage writes CSV, in which a cell is no formula", async (gateway) => {
  const operator = asOperator(gateway);
  await operator("POST", "/admin/v1/accounts", { id: "-acme", balance: "1" });
  const { json } = await operator("POST", "/admin/v1/accounts/-acme/keys");
  await chat(gateway, json.secret);
  const { headers, text } = await operator("GET", "/admin/v1/usage?group_by=account,model&format=csv");
  assertEquals(headers.get("content-type"), "text/csv; charset=utf-8; header=present");
  const [head, row, end] = text.split("\r\n");
  assertEquals(
    head,
    "account,model,cost,requests,estimated_requests,input_tokens,cache_read_tokens,cache_write_tokens,output_tokens," +
      "reasoning_tokens,images,web_searches,video_seconds,cache_saved",
  );
  assert(row?.startsWith(`'-acme,sandbox/chat-1,0.00`), row);
  assertEquals(end, "");
});

inGateway("GET /v1/usage shows a key its own usage, and that of its account without other keys", async (gateway) => {
  const other = await secondKey(gateway);
  await chat(gateway);
  await chat(gateway, other);
  const caller = asCaller(gateway, other);
  const own = (await caller("GET", "/v1/usage?group_by=model,day")).json;
  assertEquals([own.data.length, own.total.requests], [1, 1]);
  assertEquals((await caller("GET", "/v1/usage?scope=account")).json.total.requests, 2);
  for (const query of ["group_by=key", "group_by=account", "key=x", "account=demo", "scope=all"]) {
    assertEquals((await caller("GET", `/v1/usage?${query}`)).status, 400, query);
  }
  assertEquals((await callerOf(gateway.address, {})("GET", "/v1/usage")).status, 401);
});

Deno.test("GET /v1/usage counts the pictures of a model that is priced by tokens", async () => {
  const gateway = await startImageGateway();
  try {
    const made = await gateway.post("/v1/images/generations", {
      model: "sandbox/painter-1",
      prompt: "A barn",
      quality: "low",
      n: 2,
    });
    assertEquals(made.status, 200, await made.text());
    const { json } = await callerOf(gateway.address, { authorization: `Bearer ${gateway.key}` })("GET", "/v1/usage");
    assertEquals([json.total.images, json.total.requests], [2, 1]);
  } finally {
    await gateway.stop();
  }
});
