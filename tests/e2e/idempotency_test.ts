import { assert, assertEquals, assertMatch } from "@std/assert";
import OpenAI from "openai";
import { newApiKey } from "../../src/money/billing/keys/api_key.ts";
import { imageFile, imageModel, startImageGateway } from "../images/image_gateway.ts";
import { startTestGateway, textModel } from "../support/gateway.ts";
import { itemAt } from "../support/items.ts";
import { until } from "../support/manual_clock.ts";
import { answer, chatReply, startScriptedUpstream, STREAM_HEAD } from "../support/scripted_upstream.ts";
import { assertErrorShape, CALLER_PROTOCOLS, CHAT, CONTENT, sendAs } from "./caller_protocols.ts";

const KEY = newApiKey();
const SECOND = newApiKey();
const OTHER = newApiKey();
const ADMIN_KEY = "admin-key-of-the-operator-1";
const accounts = [
  { id: "demo", balance: "25.00", keys: [KEY, SECOND] },
  { id: "other", balance: "25.00", keys: [OTHER] },
];

/** What the vendor waits for before it answers a prompt that says `wait`. */
let gate = Promise.withResolvers<void>();
let failures = 0;
const CHUNK = (content: string) =>
  `data: {"id":"c","choices":[{"index":0,"delta":{"content":"${content}"},"finish_reason":null}]}\n\n`;
const slow = startScriptedUpstream(async (side) => {
  for (let request = await side.request(); request !== null; request = await side.request()) {
    if (request.body.includes("fail once") && failures++ === 0) {
      await side.say(answer(400, '{"error":{"message":"no","type":"invalid_request_error"}}'));
      continue;
    }
    if (request.body.includes('"stream":true')) {
      await side.say(STREAM_HEAD + CHUNK("one") + CHUNK("two"));
      await side.gone();
      return;
    }
    if (request.body.includes("wait")) await gate.promise;
    await side.say(chatReply("a".repeat(request.body.includes("long") ? 5_000 : 5), { prompt: 10, completion: 5 }));
  }
});

const config = {
  server: { port: 0, admin_key: ADMIN_KEY },
  accounts,
  providers: { slow: { kind: "openai", base_url: slow.baseUrl, api_key: "vendor-key-1", speaks: "chat" } },
  models: [textModel("sandbox/slow-1", ["slow"])],
};
const gateway = await startTestGateway({ config: { accounts, limits: { large_body: 4_000 } } });
const threads = await startTestGateway({ config: { accounts, limits: { large_body: 4_000 } }, isolates: 2 });
const other = await startTestGateway({
  config: { ...config, limits: { text_body: 500_000, idempotency: { reply: 4_000, keys: 60 } } },
});
const own = { address: gateway.address, key: KEY };
const slowly = { address: other.address, key: KEY };
const SLOW = { model: "sandbox/slow-1" };

let count = 0;
const withKey = (key = `key-${count++}`) => ({ "idempotency-key": key });

async function balanceOf({ address, key }: { readonly address: string; readonly key: string }): Promise<number> {
  const response = await fetch(`${address}/v1/credits`, { headers: { authorization: `Bearer ${key}` } });
  return Number((await response.json()).balance);
}

for (const [name, at] of Object.entries({ "one thread": gateway, "several threads": threads })) {
  for (const face of CALLER_PROTOCOLS) {
    for (const stream of [false, true]) {
      const kind = stream ? "streamed" : "whole";
      Deno.test(`a repeated ${face.name} request receives the same ${kind} reply and is charged once, in ${name}`, async () => {
        const caller = { address: at.address, key: KEY };
        const headers = withKey();
        const before = at.sandbox.requests.length;
        const first = await sendAs(face, caller, { stream, headers });
        const charged = await balanceOf(caller);
        const second = await sendAs(face, caller, { stream, headers });
        assertEquals([first.status, second.status, second.text], [200, 200, first.text]);
        assertEquals(at.sandbox.requests.length, before + 1);
        assertEquals(await balanceOf(caller), charged);
        assertEquals([first, second].map((each) => each.headers.get("idempotent-replayed")), [null, "true"]);
        assertEquals(second.headers.get("x-service-cost"), null);
        for (const field of ["content-type", "x-service-provider", "x-service-model"]) {
          assertEquals(second.headers.get(field), first.headers.get(field), field);
        }
        const [firstId, secondId] = [first, second].map((each) => each.headers.get("x-service-request-id"));
        assertEquals(second.headers.get("x-service-original-request-id"), firstId);
        assert(firstId !== secondId);
      });
    }
  }

  Deno.test(`a key belongs to its address and body: another one is 422, in ${name}`, async () => {
    const caller = { address: at.address, key: KEY };
    for (const face of CALLER_PROTOCOLS) {
      const headers = withKey();
      assertEquals((await sendAs(face, caller, { headers })).status, 200);
      const answer = await sendAs(face, caller, { headers, text: "something else" });
      assertEquals(answer.status, 422);
      assertErrorShape(face, answer);
    }
    const headers = withKey();
    await sendAs(CONTENT, caller, { headers });
    assertEquals((await sendAs(CONTENT, caller, { headers, model: "sandbox/any-1" })).status, 422);
  });

  Deno.test(`parallel requests with one key are charged once, in ${name}`, async () => {
    const caller = { address: at.address, key: KEY };
    const [single] = [await balanceOf(caller), await sendAs(CHAT, caller)];
    assertEquals(single > 0, true);
    const before = [at.sandbox.requests.length, await balanceOf(caller)];
    const headers = withKey();
    const replies = await Promise.all(Array.from({ length: 24 }, () => sendAs(CHAT, caller, { headers })));
    const after = [at.sandbox.requests.length, await balanceOf(caller)];
    assertEquals(itemAt(after, 0), itemAt(before, 0) + 1);
    const paid = replies.filter((each) => each.headers.has("x-service-cost"));
    assertEquals(paid.length, 1);
    const cost = Number(itemAt(paid, 0).headers.get("x-service-cost"));
    assertEquals((itemAt(before, 1) - itemAt(after, 1)).toFixed(8), cost.toFixed(8));
    for (const each of replies) assert(each.status === 200 || each.status === 409, each.text);
    for (const each of replies) if (each.status === 409) assert(Number(each.headers.get("retry-after")) >= 1);
  });

  Deno.test(`a large request is repeated too, in ${name}`, async () => {
    const caller = { address: at.address, key: KEY };
    for (const stream of [false, true]) {
      const headers = withKey();
      const question = { stream, headers, text: "word ".repeat(2_000) };
      const first = await sendAs(CHAT, caller, question);
      const second = await sendAs(CHAT, caller, question);
      assertEquals([first.status, second.status, second.text], [200, 200, first.text]);
      assertEquals(second.headers.get("idempotent-replayed"), "true");
    }
  });
}

Deno.test("keys of other credentials are other keys", async () => {
  const headers = withKey();
  for (const key of [KEY, SECOND, OTHER]) {
    const reply = await sendAs(CHAT, { address: gateway.address, key }, { headers, text: `I use ${key.slice(0, 8)}` });
    assertEquals([reply.status, reply.headers.get("idempotent-replayed")], [200, null]);
  }
});

Deno.test("a key is 1 to 255 visible characters", async () => {
  for (const face of CALLER_PROTOCOLS) {
    for (const key of ["k".repeat(256), "k".repeat(10_000), "two words"]) {
      const answer = await sendAs(face, own, { headers: withKey(key) });
      assertEquals(answer.status, 400);
      assertErrorShape(face, answer);
    }
  }
  assertEquals((await sendAs(CHAT, own, { headers: withKey("k".repeat(255)) })).status, 200);
});

Deno.test("images and cached contents are repeated, forms included", async () => {
  const images = await startImageGateway({
    models: [imageModel("sandbox/editor-1", { edits: true }, ["one"])],
  });
  const form = async () => {
    const body = new FormData();
    for (const [name, value] of Object.entries({ prompt: "a fox", quality: "low", model: "sandbox/editor-1" })) {
      body.append(name, value);
    }
    body.append("image", new File([await imageFile()], "a.png"));
    return body;
  };
  // Each form has another boundary.
  const edit = async () =>
    await fetch(`${images.address}/v1/images/edits`, {
      method: "POST",
      headers: { authorization: `Bearer ${images.key}`, ...withKey("edit") },
      body: await form(),
    });
  const generate = () =>
    images.post(
      "/v1/images/generations",
      { model: "sandbox/grok-1", prompt: "a fox", quality: "low" },
      withKey("generate"),
    );
  for (const send of [edit, generate]) {
    const first = await send();
    const text = await first.text();
    assertEquals(first.status, 200, text);
    const [before, balance] = [images.sandbox.requests.length, await images.balance()];
    const second = await send();
    assertEquals([second.status, await second.text()], [200, text]);
    assertEquals(second.headers.get("idempotent-replayed"), "true");
    assertEquals([images.sandbox.requests.length, await images.balance()], [before, balance]);
  }
  assertEquals((await images.post("/v1/images/generations", {}, withKey("edit"))).status, 422);
  await images.stop();

  const create = async () => {
    const response = await fetch(`${gateway.address}/gencompat/v1beta/cachedContents`, {
      method: "POST",
      headers: { ...CONTENT.headers(KEY), ...withKey("cache") },
      body: JSON.stringify({
        model: "sandbox/content-1",
        contents: [{ role: "user", parts: [{ text: "The sky is blue. ".repeat(400) }] }],
      }),
    });
    return { status: response.status, text: await response.text() };
  };
  const [first, second] = [await create(), await create()];
  assertEquals([first.status, second], [200, first]);
});

Deno.test("a request under way is 409 in every protocol, and its retry receives the reply", async () => {
  const headers = withKey();
  const before = slow.seen.length;
  gate = Promise.withResolvers();
  const first = sendAs(CHAT, slowly, { ...SLOW, headers, text: "wait" });
  await until(() => slow.seen.length > before);
  for (const face of CALLER_PROTOCOLS) {
    const answer = await sendAs(face, slowly, { ...SLOW, headers });
    assertEquals(answer.status, 409);
    assertErrorShape(face, answer);
  }
  gate.resolve();
  const { text } = await first;
  const retry = await sendAs(CHAT, slowly, { ...SLOW, headers, text: "wait" });
  assertEquals([retry.status, retry.text, retry.headers.get("idempotent-replayed")], [200, text, "true"]);
});

Deno.test("a caller that leaves a whole reply receives it by a retry, and is charged once", async () => {
  const headers = withKey();
  const before = [slow.seen.length, await balanceOf(slowly)];
  gate = Promise.withResolvers();
  const leaving = new AbortController();
  const sent = fetch(`${other.address}/v1/chat/completions`, {
    method: "POST",
    headers: { ...CHAT.headers(KEY), ...headers },
    body: JSON.stringify(CHAT.body("sandbox/slow-1", "wait")),
    signal: leaving.signal,
  }).catch(() => null);
  await until(() => slow.seen.length > itemAt(before, 0));
  leaving.abort();
  await sent;
  gate.resolve();
  let retry = await sendAs(CHAT, slowly, { ...SLOW, headers, text: "wait" });
  while (retry.status === 409) retry = await sendAs(CHAT, slowly, { ...SLOW, headers, text: "wait" });
  assertEquals([retry.status, retry.headers.get("idempotent-replayed")], [200, "true"]);
  assertEquals(slow.seen.length, itemAt(before, 0) + 1);
  assertEquals((itemAt(before, 1) - await balanceOf(slowly)).toFixed(6), "0.000020");
});

Deno.test("a stream that its caller left is repeated as far as it was produced", async () => {
  const headers = withKey();
  const before = slow.seen.length;
  const leaving = new AbortController();
  const body = JSON.stringify(CHAT.body("sandbox/slow-1", "hello", true));
  const post = { method: "POST", headers: { ...CHAT.headers(KEY), ...headers }, body };
  const response = await fetch(`${other.address}/v1/chat/completions`, { ...post, signal: leaving.signal });
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  while (!text.includes("two")) text += (await reader.read()).value;
  leaving.abort();
  await reader.closed.catch(() => {});
  let retry = await fetch(`${other.address}/v1/chat/completions`, post);
  while (retry.status === 409) {
    await retry.body?.cancel();
    retry = await fetch(`${other.address}/v1/chat/completions`, post);
  }
  assertEquals([retry.status, await retry.text()], [200, text]);
  assertEquals(slow.seen.length, before + 1);
});

Deno.test("a failure without a charge frees the key", async () => {
  const headers = withKey();
  failures = 0;
  const question = { ...SLOW, headers, text: "fail once" };
  const statuses = [await sendAs(CHAT, slowly, question), await sendAs(CHAT, slowly, question)];
  assertEquals(statuses.map(({ status }) => status), [400, 200]);
  assertEquals(itemAt(statuses, 1).headers.get("idempotent-replayed"), null);
  const unknown = withKey();
  for (let tries = 0; tries < 2; tries++) {
    const answer = await sendAs(CHAT, own, { model: "sandbox/nothing", headers: unknown });
    assertEquals([answer.status, answer.headers.get("idempotent-replayed")], [404, null]);
  }
  assertEquals((await sendAs(CHAT, own, { headers: unknown })).status, 200);
});

Deno.test("a stream that fails is repeated if it was charged", async () => {
  for (const text of ["[[error 0]] [[nousage]]", "[[error 3]] [[words 9]]", "[[cut 3]] [[words 9]]", "[[fail 503]]"]) {
    const headers = withKey();
    const before = await balanceOf(own);
    const first = await sendAs(CHAT, own, { stream: true, headers, text });
    const isCharged = await balanceOf(own) < before;
    const second = await sendAs(CHAT, own, { stream: true, headers, text });
    assertEquals(second.headers.get("idempotent-replayed"), isCharged ? "true" : null, text);
    if (isCharged) assertEquals(second.text, first.text);
  }
});

Deno.test("a body that is too large or incomplete does not use its key", async () => {
  const headers = withKey();
  const large = await sendAs(CHAT, slowly, { ...SLOW, headers, text: "x".repeat(1_000_000) });
  assertEquals(large.status, 413);
  const body = JSON.stringify(CHAT.body("sandbox/slow-1", "hello there"));
  const address = new URL(other.address);
  const fields = Object.entries({ ...CHAT.headers(KEY), ...headers, "content-length": String(body.length) });
  const head = [
    "POST /v1/chat/completions HTTP/1.1",
    `host: ${address.host}`,
    ...fields.map(([name, value]) => `${name}: ${value}`),
  ];
  const connection = await Deno.connect({ hostname: address.hostname, port: Number(address.port) });
  await connection.write(new TextEncoder().encode(`${head.join("\r\n")}\r\n\r\n${body.slice(0, 20)}`));
  connection.close();
  const question = { ...SLOW, headers, text: "hello there" };
  let whole = await sendAs(CHAT, slowly, question);
  while (whole.status === 409) whole = await sendAs(CHAT, slowly, question);
  assertEquals([whole.status, whole.headers.get("idempotent-replayed")], [200, null]);
});

Deno.test("a dry run uses no key", async () => {
  const headers = withKey();
  const dry = await sendAs(CHAT, own, { headers: { ...headers, "x-service-dry-run": "true" } });
  assertEquals(dry.json.dry_run, true);
  const paid = await sendAs(CHAT, own, { headers });
  assertEquals([paid.status, paid.headers.get("idempotent-replayed")], [200, null]);
});

Deno.test("a reply above the limit is delivered and not charged again: its repeat is 409", async () => {
  const headers = withKey();
  const question = { ...SLOW, headers, text: "long" };
  const first = await sendAs(CHAT, slowly, question);
  assertEquals([first.status, first.text.length > 4_000], [200, true]);
  const before = [slow.seen.length, await balanceOf(slowly)];
  const second = await sendAs(CHAT, slowly, question);
  assertEquals(second.status, 409);
  assertMatch(second.json.error.message, new RegExp(first.headers.get("x-service-request-id")!));
  assertEquals([slow.seen.length, await balanceOf(slowly)], before);
});

Deno.test("the official client repeats a request with its own key", async () => {
  const client = new OpenAI({ baseURL: `${gateway.address}/v1`, apiKey: KEY });
  const ask = () =>
    client.chat.completions.create(
      { model: "sandbox/chat-1", messages: [{ role: "user", content: "hello there" }] },
      { headers: withKey("official") },
    );
  assertEquals((await ask()).id, (await ask()).id);
});

Deno.test("an account has a limit of keys, above which it is refused, and others are not", async () => {
  const answers = [];
  for (let n = 0; n < 61; n++) answers.push(await sendAs(CHAT, slowly, { ...SLOW, headers: withKey() }));
  const refused = answers.filter(({ status }) => status === 429);
  assert(refused.length > 0 && answers.length > refused.length);
  assertMatch(itemAt(refused, 0).json.error.message, /Idempotency-Key/);
  assertEquals((await sendAs(CHAT, slowly, SLOW)).status, 200);
  assertEquals(
    (await sendAs(CHAT, { address: other.address, key: OTHER }, { ...SLOW, headers: withKey() })).status,
    200,
  );
});

for (const isolates of [1, 2]) {
  Deno.test(`replies that are stored at one time do not pass the bytes of their account together, ${isolates} threads`, async () => {
    const own = await startTestGateway({
      isolates,
      config: { limits: { idempotency: { reply: 100_000, account: 250_000 } } },
    });
    const text = "a word ".repeat(10_000); // the simulated vendor repeats it
    const ask = (key: string) => sendAs(CHAT, { address: own.address, key: own.key }, { headers: withKey(key), text });
    try {
      const keys = Array.from({ length: 10 }, (_, n) => `burst-${n}`);
      const bytes = (await Promise.all(keys.map(ask))).map((answer) => answer.text.length);
      const repeats = await Promise.all(keys.map(ask));
      const stored = repeats.flatMap(({ status }, n) => status === 200 ? [itemAt(bytes, n)] : []);
      assertEquals(new Set(repeats.map(({ status }) => status)), new Set([200, 409]));
      const sum = stored.reduce((total, one) => total + one, 0);
      assert(sum <= 250_000 && sum > 250_000 - Math.max(...bytes), `${stored.length} replies of ${sum} bytes`);
    } finally {
      await own.stop();
    }
  });

  Deno.test(`a burst of requests with keys uses the limit of its account, and does not pass it, ${isolates} threads`, async () => {
    const own = await startTestGateway({ isolates, config: { limits: { idempotency: { keys: 60 } } } });
    try {
      const ask = () => sendAs(CHAT, { address: own.address, key: own.key }, { headers: withKey() });
      const answers = await Promise.all(Array.from({ length: 120 }, ask));
      assertEquals(answers.filter(({ status }) => status === 200).length, 60);
      assertEquals(answers.filter(({ status }) => status === 429).length, 60);
    } finally {
      await own.stop();
    }
  });
}

Deno.test("keys can be switched off, except for videos", async () => {
  const off = await startTestGateway({ config: { limits: { idempotency: { enabled: false } } } });
  const headers = withKey();
  const before = off.sandbox.requests.length;
  for (let n = 0; n < 2; n++) assertEquals((await sendAs(CHAT, off, { headers })).status, 200);
  assertEquals(off.sandbox.requests.length, before + 2);
  await off.stop();
});

Deno.test("replies and keys are unreadable in the store, and an erased account has none", async () => {
  const folder = await Deno.makeTempDir();
  const stored = await startTestGateway({
    store: `kv:${folder}/s.db`,
    config: { accounts: [{ id: "first", balance: "1.00", keys: [] }] },
  });
  const admin = (method: string, path: string, body?: unknown) =>
    fetch(`${stored.address}/admin/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${stored.adminKey}`, "content-type": "application/json" },
      ...body !== undefined && { body: JSON.stringify(body) },
    }).then((response) => response.json());
  await admin("POST", "/accounts", { id: "acme" });
  await admin("POST", "/accounts/acme/credit", { amount: "5.00", reference: "r1" });
  const { secret } = await admin("POST", "/accounts/acme/keys", { name: "ci" });
  const caller = { address: stored.address, key: secret };
  const headers = withKey("a-key-with-a-name");
  assertEquals((await sendAs(CHAT, caller, { headers, text: "[[say marmalade]]" })).status, 200);
  const bytes = [...Deno.readDirSync(folder)].filter(({ isFile }) => isFile).map(({ name }) =>
    Deno.readTextFileSync(`${folder}/${name}`)
  ).join("");
  for (const text of ["marmalade", "a-key-with-a-name"]) assert(!bytes.includes(text), text);
  assertMatch(bytes, /replays/);
  const { removed } = await admin("POST", "/accounts/acme/erase");
  assertEquals(removed.idempotency_keys, 1);
  await stored.stop();
  await Deno.remove(folder, { recursive: true });
});

Deno.test.afterAll(async () => {
  await gateway.stop();
  await threads.stop();
  await other.stop();
  await slow.stop();
});
