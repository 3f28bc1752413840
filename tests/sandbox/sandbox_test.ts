import { assert, assertEquals, assertRejects } from "@std/assert";
import { type LoggedRequest, startSandbox } from "../../src/sandbox/mod.ts";
import { itemAt } from "../support/items.ts";
import { ManualClock, until } from "../support/manual_clock.ts";
import { ENDPOINTS, inSandbox, post, postStreamed } from "./support.ts";

Deno.test("a sandbox records its requests", async () => {
  const recorded: LoggedRequest[] = [];
  await inSandbox(async ({ sandbox }) => {
    const body = ENDPOINTS.content.body("Hi");
    const response = await post(sandbox, "content", body, { "x-extra": "1" });
    await response.body?.cancel();
    const seen = itemAt(sandbox.requests, 0);
    assertEquals([seen.method, seen.path], ["POST", "/google/v1beta/models/m:generateContent"]);
    assertEquals([seen.headers["x-extra"], seen.headers["x-goog-api-key"]], ["1", "sandbox"]);
    assertEquals(seen.body, body);
    assertEquals(recorded, [...sandbox.requests]);
  }, { onRequest: (seen) => void recorded.push(seen) });
});

Deno.test("a sandbox removes the oldest beyond a thousand requests", () =>
  inSandbox(async ({ sandbox }) => {
    const url = `${sandbox.baseUrls.openai}/models?n=`;
    const ask = async (n: number) => {
      await (await fetch(url + n)).body?.cancel();
    };
    for (let n = 0; n < 1002; n += 6) await Promise.all(Array.from({ length: 6 }, (_, index) => ask(n + index)));
    assertEquals(sandbox.requests.length, 1000);
    assert(sandbox.requests.at(-1)!.path.startsWith("/openai/v1/models?n="));
  }));

Deno.test("a sandbox records a client that disconnects before the response", () =>
  inSandbox(async ({ sandbox }) => {
    const leaving = new AbortController();
    const asked = postStreamed(sandbox, "chat", "[[stall 60000]]", leaving.signal);
    await until(() => sandbox.requests.length === 1);
    leaving.abort();
    await assertRejects(() => asked);
    await until(() => itemAt(sandbox.requests, 0).cancelled);
  }));

Deno.test("a sandbox records a client that disconnects during a stream", () =>
  inSandbox(async ({ sandbox }) => {
    const { body } = await postStreamed(sandbox, "messages", "[[pause 60000]] Hi");
    const reader = body!.getReader();
    await reader.read();
    assert(!itemAt(sandbox.requests, 0).cancelled);
    await reader.cancel();
    await until(() => itemAt(sandbox.requests, 0).cancelled);
  }));

Deno.test("a sandbox records no disconnection of a client that reads to the end", () =>
  inSandbox(async ({ sandbox }) => {
    await (await postStreamed(sandbox, "responses", "Hi")).text();
    await (await post(sandbox, "responses", ENDPOINTS.responses.body("Hi"))).text();
    assertEquals(sandbox.requests.map(({ cancelled }) => cancelled), [false, false]);
  }));

Deno.test("a sandbox returns equal bytes for equal sequences of requests", async () => {
  const answers = await Promise.all([1, 2].map(async () => {
    const texts: string[] = [];
    await inSandbox(async ({ sandbox }) => {
      for (const form of ["chat", "responses", "messages", "content"] as const) {
        texts.push(await (await postStreamed(sandbox, form, "[[think One]] [[tool f]]")).text());
      }
    }, { clock: new ManualClock() });
    return texts;
  }));
  assertEquals(answers[0], answers[1]);
});

Deno.test("a sandbox stops at once, even during a stream", async () => {
  const sandbox = await startSandbox({ port: 0 });
  const stalled = postStreamed(sandbox, "chat", "[[stall 60000]]");
  const { body } = await postStreamed(sandbox, "chat", "[[pause 60000]] Hi");
  await sandbox.stop();
  await assertRejects(() => stalled);
  await assertRejects(() => new Response(body).text());
});

Deno.test("a sandbox lists its vendors", () =>
  inSandbox(async ({ sandbox }) => {
    const response = await fetch(sandbox.baseUrls.openai.replace("/openai/v1", "/elsewhere"));
    assertEquals(response.status, 404);
    assert((await response.text()).includes("/openai"));
  }));

Deno.test("a sandbox reads a body once and rejects invalid JSON", () =>
  inSandbox(async ({ sandbox }) => {
    for (const form of ["chat", "messages", "content"] as const) {
      const { path, headers } = ENDPOINTS[form];
      const response = await fetch(path(sandbox), { method: "POST", headers, body: "{no" });
      assertEquals(response.status, 400);
      assert(typeof (await response.json()).error.message === "string");
    }
    assertEquals(sandbox.requests.map(({ body }) => body), ["{no", "{no", "{no"]);
  }));
