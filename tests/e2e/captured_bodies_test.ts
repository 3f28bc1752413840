import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { newApiKey } from "../../src/money/billing/keys/api_key.ts";
import { startTestGateway, textModel } from "../support/gateway.ts";
import { untilSo } from "../support/patience.ts";

const [ERRORS_KEY, ALL_KEY, PLAIN_KEY, READER] = [newApiKey(), newApiKey(), newApiKey(), newApiKey()];
const OWNER = newApiKey();

const gateway = await startTestGateway({
  config: {
    server: {
      port: 0,
      admin_key: OWNER,
      admin_keys: [{ name: "writer", key: READER, role: "write" }],
      shutdown_grace: 1,
    },
    accounts: [{
      id: "demo",
      balance: "25.00",
      keys: [PLAIN_KEY, { key: ERRORS_KEY, capture: "errors" }, { key: ALL_KEY, capture: "all" }],
    }],
    models: [textModel("sandbox/chat-1", ["sandbox-openai"])],
    request_log: { capture: { secret_key: "the-secret-of-the-operator", body: 1_000 } },
  },
});

async function ask(key: string, text: string, fields: Record<string, unknown> = {}): Promise<string> {
  const response = await fetch(`${gateway.address}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "sandbox/chat-1", messages: [{ role: "user", content: text }], ...fields }),
  });
  await response.text();
  return await logged(response);
}

/** The id of a request, once it is in the log. */
async function logged(response: Response): Promise<string> {
  const requestId = response.headers.get("x-service-request-id")!;
  const isLogged = () => gateway.logLines.some((line) => line.includes('"request"') && line.includes(requestId));
  await untilSo(() => isLogged());
  return requestId;
}

// deno-lint-ignore no-explicit-any -- a test looks wherever it likes
async function admin(path: string, key = OWNER): Promise<{ status: number; body: any }> {
  const response = await fetch(`${gateway.address}/admin/v1${path}`, { headers: { authorization: `Bearer ${key}` } });
  return { status: response.status, body: await response.json() };
}

const bodiesOf = (requestId: string, key?: string) => admin(`/requests/${requestId}/bodies`, key);

Deno.test({ name: "bodies are kept as the key says, whole and streamed", ...open() }, async () => {
  for (const stream of [false, true]) {
    const whole = await bodiesOf(await ask(ALL_KEY, "hello prompt", { stream }));
    assertEquals(whole.status, 200);
    if (!stream) assertEquals(whole.body.is_cut, false); // a stream of this reply has more than 1,000 bytes
    assertStringIncludes(whole.body.request, "hello prompt");
    assertStringIncludes(whole.body.response, stream ? "data: " : '"choices"');
    assertEquals((await bodiesOf(await ask(PLAIN_KEY, "hello", { stream }))).status, 404);
    assertEquals((await bodiesOf(await ask(ERRORS_KEY, "hello", { stream }))).status, 404);
  }
  const kept = async (key: string) => (await admin(`/requests/${await ask(key, "hello")}`)).body.has_bodies;
  assertEquals([await kept(ALL_KEY), await kept(PLAIN_KEY)], [true, false]);
  const failed = await bodiesOf(await ask(ERRORS_KEY, "[[fail 500]] a failing prompt"));
  assertStringIncludes(failed.body.request, "a failing prompt");
});

Deno.test({ name: "a long body is cut, also one that a thread answers", ...open() }, async () => {
  for (const characters of [5_000, 2_100_000]) {
    const { body } = await bodiesOf(await ask(ALL_KEY, "long ".repeat(characters / 5)));
    assertEquals([body.request.length, body.is_cut], [1_000, true]);
    assert(body.response.length > 0);
  }
});

Deno.test({ name: "the texts of an edit's form are kept as JSON, without its pictures", ...open() }, async () => {
  const form = new FormData();
  form.append("model", "sandbox/unknown-1");
  form.append("prompt", "Paint it red");
  form.append("image[]", new Blob([new Uint8Array(300)]), "a.png");
  const headers = { authorization: `Bearer ${ALL_KEY}` };
  const response = await fetch(`${gateway.address}/v1/images/edits`, { method: "POST", headers, body: form });
  await response.text();
  const { body } = await bodiesOf(await logged(response));
  assertEquals(JSON.parse(body.request), { model: "sandbox/unknown-1", prompt: "Paint it red" });
  assertEquals(body.is_cut, true);
});

Deno.test(
  { name: "only owners read bodies, and the audit log tells who did, without the bodies", ...open() },
  async () => {
    const requestId = await ask(ALL_KEY, "a very private prompt");
    assertEquals((await bodiesOf(requestId, READER)).status, 403);
    assertEquals((await bodiesOf(requestId)).status, 200);
    const { body: { data } } = await admin("/audit");
    const entry = data.find(({ path }: { path: string }) => path.endsWith(`/${requestId}/bodies`));
    assertEquals([entry.actor, entry.state, entry.after], ["default", "done", null]);
    assert(!JSON.stringify(data).includes("private prompt"));
    assert(!gateway.logLines.some((line) => line.includes("private prompt")));
  },
);

function open() {
  return { sanitizeOps: false, sanitizeResources: false } as const;
}
