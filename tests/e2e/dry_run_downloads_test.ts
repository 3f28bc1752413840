import { assert, assertEquals } from "@std/assert";
import { newApiKey } from "../../src/money/billing/keys/api_key.ts";
import { startTestGateway, textModel } from "../support/gateway.ts";
import { CHAT, CONTENT, type Json, sendAs } from "./caller_protocols.ts";

const DRY = { "x-service-dry-run": "true" };
const RICH = newApiKey();
const ONCE = newApiKey();
const SPENT = newApiKey();
const LIMITED = newApiKey();
const POOR = newApiKey();
/** Dry runs of one account that run at once. */
const AT_ONCE = 4;
const DRY_RUNS = 12;
const PIXEL = Uint8Array.fromBase64(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
);

/** A server of pictures that counts its requests. With `holdsFrom`, it answers none before `release`. */
function startPictures(holdsFrom: number | null = null) {
  let [open, requests, maxOpen] = [0, 0, 0];
  const [reached, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  if (holdsFrom === null) released.resolve();
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, async () => {
    requests++;
    maxOpen = Math.max(maxOpen, ++open);
    if (open === holdsFrom) reached.resolve();
    await released.promise;
    open--;
    return new Response(PIXEL, { headers: { "content-type": "image/png" } });
  });
  return {
    url: `http://127.0.0.1:${server.addr.port}/a.png`,
    get requests() {
      return requests;
    },
    get maxOpen() {
      return maxOpen;
    },
    /** Resolves when `holdsFrom` requests are open. */
    reached: reached.promise,
    release: () => released.resolve(),
    stop: () => server.shutdown(),
  };
}

const config = {
  accounts: [
    {
      id: "rich",
      balance: "25.00",
      keys: [
        RICH,
        { key: ONCE, rpm: 1 },
        { key: SPENT, budget: { amount: "0.000001", per: "day" } },
        { key: LIMITED, models: ["sandbox/chat-1"] },
      ],
    },
    { id: "poor", balance: "0.000001", keys: [POOR] },
  ],
  models: [textModel("sandbox/chat-1", ["sandbox-openai"]), textModel("sandbox/content-1", ["sandbox-google"])],
};

/** A text that the vendor's format cannot express with an address: the gateway downloads it. */
const withPicture = (url: string): Json => ({
  model: "sandbox/content-1",
  max_tokens: 100,
  messages: [{
    role: "user",
    content: [{ type: "text", text: "What is it?" }, { type: "image_url", image_url: { url } }],
  }],
});
/** Content of a cache, larger than the smallest that can be cached. */
const cacheWith = (fileUri: string): Json => ({
  model: "models/sandbox/content-1",
  contents: [{
    role: "user",
    parts: [{ text: "word ".repeat(8_000) }, { fileData: { mimeType: "image/png", fileUri } }],
  }],
});
const CACHES = "/gencompat/v1beta/cachedContents";

for (const isolates of [1, 2]) {
  const threads = isolates === 1 ? "one thread" : "two threads";

  Deno.test(`a dry run downloads nothing for a key that could not be charged, in ${threads}`, async () => {
    const pictures = startPictures();
    const gateway = await startTestGateway({ config, isolates });
    const dry = (key: string) =>
      sendAs(CHAT, { address: gateway.address, key }, { headers: DRY, body: withPicture(pictures.url) });
    const dryCache = (key: string) =>
      sendAs(CONTENT, { address: gateway.address, key }, { headers: DRY, path: CACHES, body: cacheWith(pictures.url) });
    await sendAs(CHAT, { address: gateway.address, key: ONCE });
    for (
      const [key, code, providers] of [[ONCE, "rate_limited", 1], [SPENT, "insufficient_credits", 1], [
        POOR,
        "insufficient_credits",
        1,
      ]] as const
    ) {
      const { status, json, text } = await dry(key);
      assertEquals([status, json.admitted, json.refused_by?.code], [200, false, code], text);
      assertEquals(json.providers.length, providers);
      const cached = await dryCache(key);
      assertEquals([cached.status, cached.json.refused_by?.code], [200, code], cached.text);
    }
    assertEquals((await dry(LIMITED)).status, 403);
    assertEquals(pictures.requests, 0);
    assertEquals((await dry(RICH)).json.admitted, true);
    assertEquals(pictures.requests, 1);
    await gateway.stop();
    await pictures.stop();
  });

  Deno.test(`the dry runs of an account run ${AT_ONCE} at a time, in ${threads}`, async () => {
    const pictures = startPictures(AT_ONCE);
    const gateway = await startTestGateway({ config, isolates });
    const own = { address: gateway.address, key: RICH };
    const running = Array.from(
      { length: DRY_RUNS },
      () => sendAs(CHAT, own, { headers: DRY, body: withPicture(pictures.url) }),
    );
    await pictures.reached;
    // Later requests have their answers before, so none of the dry runs is on its way.
    for (let request = 0; request < 3; request++) assertEquals((await sendAs(CHAT, own)).status, 200);
    assertEquals(pictures.requests, AT_ONCE);
    pictures.release();
    const answers = await Promise.all(running);
    for (const { status, json, text } of answers) assertEquals([status, json.admitted], [200, true], text);
    assertEquals(pictures.requests, DRY_RUNS);
    assert(pictures.maxOpen <= AT_ONCE, `${pictures.maxOpen} downloads at once`);
    await gateway.stop();
    await pictures.stop();
  });
}
