import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { startTestGateway, textModel } from "../support/gateway.ts";

for (const isolates of [1, 2]) {
  const threads = isolates === 1 ? "one thread" : "two threads";

  Deno.test(`${threads}: a stored reply is not repeated to a key that lost its model or its provider`, async () => {
    await withGateway(isolates, async ({ key, admin, chat }) => {
      const repeat = () => chat(key.secret, { "idempotency-key": "one" });
      assertEquals((await repeat()).status, 200);
      const repeated = await repeat();
      assertEquals([repeated.status, repeated.headers.get("idempotent-replayed")], [200, "true"]);
      await admin("PATCH", `/accounts/demo/keys/${key.id}`, { models: ["sandbox/other-1"] });
      const other = await repeat();
      assertEquals(other.status, 403);
      assertStringIncludes(other.text, "this key may use");
      await admin("PATCH", `/accounts/demo/keys/${key.id}`, { models: null, providers: ["sandbox-google"] });
      assertEquals((await repeat()).status, 403);
      await admin("PATCH", `/accounts/demo/keys/${key.id}`, { providers: ["sandbox-openai"] });
      assertEquals((await repeat()).headers.get("idempotent-replayed"), "true");
      await admin("PATCH", `/accounts/demo/keys/${key.id}`, { endpoints: ["embeddings"] });
      assertEquals((await repeat()).status, 403);
      await admin("DELETE", `/accounts/demo/keys/${key.id}`);
      assertEquals((await repeat()).status, 401);
    });
  });

  Deno.test(`${threads}: a stream is not resumed by a key that may not use its model, its provider or its endpoint`, async () => {
    await withGateway(isolates, async ({ address, key, admin, chat }) => {
      const begun = await chat(key.secret, { "x-service-resume": "true" }, { stream: true });
      assertEquals(begun.status, 200);
      const path = begun.headers.get("x-service-resume") ?? "";
      const resume = async (secret: string) => {
        const response = await fetch(address + path, { headers: { authorization: `Bearer ${secret}` } });
        return { status: response.status, text: await response.text() };
      };
      const whole = await resume(key.secret);
      assertEquals(whole.status, 200);
      assert(whole.text.includes("data:"));
      const second = await admin("POST", "/accounts/demo/keys", { name: "second", models: ["sandbox/other-1"] });
      assertEquals((await resume(second.secret)).status, 403);
      for (
        const limits of [
          { models: ["sandbox/other-1"] },
          { models: null, providers: ["sandbox-google"] },
          { providers: null, endpoints: ["embeddings"] },
        ]
      ) {
        await admin("PATCH", `/accounts/demo/keys/${key.id}`, limits);
        assertEquals([limits, (await resume(key.secret)).status], [limits, 403]);
      }
      await admin("PATCH", `/accounts/demo/keys/${key.id}`, { endpoints: null });
      assertEquals((await resume(key.secret)).status, 200);
      await admin("DELETE", `/accounts/demo/keys/${key.id}`);
      assertEquals((await resume(key.secret)).status, 401);
    });
  });
}

interface Tools {
  readonly address: string;
  readonly key: { readonly id: string; readonly secret: string };
  // deno-lint-ignore no-explicit-any -- a test looks wherever it likes
  admin(method: string, path: string, body?: unknown): Promise<any>;
  chat(
    secret: string,
    headers: Record<string, string>,
    fields?: Record<string, unknown>,
  ): Promise<{ readonly status: number; readonly headers: Headers; readonly text: string }>;
}

async function withGateway(isolates: number, test: (tools: Tools) => Promise<void>): Promise<void> {
  const models = [textModel("sandbox/chat-1", ["sandbox-openai"]), textModel("sandbox/other-1", ["sandbox-openai"])];
  const gateway = await startTestGateway({ isolates, config: { models } });
  const { address, adminKey } = gateway;
  const post = async (url: string, method: string, headers: Record<string, string>, body?: unknown) => {
    const response = await fetch(url, {
      method,
      headers: { "content-type": "application/json", ...headers },
      ...body !== undefined && { body: JSON.stringify(body) },
    });
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
  const admin: Tools["admin"] = async (method, path, body) => {
    const authorization = `Bearer ${adminKey}`;
    const { status, text } = await post(`${address}/admin/v1${path}`, method, { authorization }, body);
    assert(status < 300, text);
    return JSON.parse(text);
  };
  const chat: Tools["chat"] = (secret, headers, fields = {}) =>
    post(`${address}/v1/chat/completions`, "POST", { authorization: `Bearer ${secret}`, ...headers }, {
      model: "sandbox/chat-1",
      messages: [{ role: "user", content: "Hello" }],
      ...fields,
    });
  try {
    await test({ address, key: await admin("POST", "/accounts/demo/keys", { name: "ci" }), admin, chat });
  } finally {
    await gateway.stop();
  }
}
