import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { ApiError } from "@google/genai";
import { present } from "../support/items.ts";
import { ManualClock } from "../support/manual_clock.ts";
import { inSandbox } from "./support.ts";

const CONTENTS = [{ role: "user", parts: [{ text: "one two three four" }] }, {
  role: "model",
  parts: [{ text: "five" }],
}];
const model = "sandbox-1";

Deno.test("google sandbox: the vendor's client creates, reads, lists, updates, uses and deletes caches", async () => {
  await inSandbox(async ({ google }) => {
    const config = { contents: CONTENTS, systemInstruction: "six", displayName: "numbers", ttl: "60s" };
    const cache = await google.caches.create({ model, config });
    assertEquals([cache.model, cache.displayName], [`models/${model}`, "numbers"]);
    assertEquals(cache.usageMetadata, { totalTokenCount: 6 });
    assertEquals(Date.parse(cache.expireTime!) - Date.parse(cache.createTime!), 60_000);
    const name = cache.name!;
    assertEquals(await google.caches.get({ name }), cache);
    assertEquals((await google.caches.list()).page, [cache]);
    const updated = await google.caches.update({ name, config: { ttl: "120s" } });
    assertEquals(Date.parse(updated.expireTime!) - Date.parse(updated.updateTime!), 120_000);
    const reply = await google.models.generateContent({ model, contents: "seven", config: { cachedContent: name } });
    assertEquals(reply.text, "You said: seven");
    assertEquals(reply.usageMetadata?.promptTokenCount, 7);
    assertEquals(reply.usageMetadata?.cachedContentTokenCount, 6);
    await google.caches.delete({ name });
    assertEquals((await google.caches.list()).page, []);
  });
});

Deno.test("google sandbox: a deleted or expired cache, or one of another key, is 403", async () => {
  const clock = new ManualClock();
  await inSandbox(async ({ google, sandbox }) => {
    const { name } = await google.caches.create({ model, config: { contents: CONTENTS, ttl: "60s" } });
    const foreign = await fetch(`${sandbox.baseUrls.google}/v1beta/${name}?key=other`);
    assertEquals([foreign.status, (await foreign.json()).error.status], [403, "PERMISSION_DENIED"]);
    clock.advance(60_000);
    const config = { cachedContent: present(name, "name of the cache") };
    const error = await assertRejects(
      () => google.models.generateContent({ model, contents: "x", config }),
      ApiError,
    );
    assertEquals(error.status, 403);
  }, { clock });
});

Deno.test("google sandbox: requests about caches that the vendor rejects are rejected", async () => {
  await inSandbox(async ({ google, sandbox }) => {
    const post = async (path: string, body: unknown) => {
      const response = await fetch(`${sandbox.baseUrls.google}/v1beta/${path}?key=sandbox`, {
        method: path.includes("cachedContents/") ? "PATCH" : "POST",
        body: JSON.stringify(body),
      });
      return { status: response.status, message: (await response.json()).error?.message ?? "" };
    };
    const good = { model: `models/${model}`, contents: CONTENTS };
    const refused: [unknown, string][] = [
      [{ contents: CONTENTS }, "model is required"],
      [{ ...good, model }, "unexpected model name format"],
      [{ model: good.model }, "contents is not specified"],
      [{ ...good, unknown: 1 }, 'Unknown name "unknown"'],
      [{ ...good, ttl: "60s", expireTime: "2100-01-01T00:00:00Z" }, "already set"],
      [{ ...good, ttl: "60" }, "Duration"],
      [{ ...good, expireTime: "soon" }, "Timestamp"],
      [{ ...good, expireTime: "2020-01-01T00:00:00Z" }, "must be in the future"],
      [{ ...good, model: "models/gemini-3-pro" }, "too small"],
    ];
    for (const [body, words] of refused) {
      const { status, message } = await post("cachedContents", body);
      assertEquals(status, 400, words);
      assertStringIncludes(message, words);
    }
    const { name: cachedContent } = await google.caches.create({ model, config: { contents: CONTENTS } });
    const ask = { contents: CONTENTS.slice(0, 1), cachedContent };
    const beside = await post(`models/${model}:generateContent`, {
      ...ask,
      systemInstruction: { parts: [{ text: "x" }] },
    });
    assertEquals([beside.status, beside.message.includes("can not be used")], [400, true]);
    const another = await post("models/another:generateContent", ask);
    assertEquals([another.status, another.message.includes("has to be the same")], [400, true]);
  });
});
