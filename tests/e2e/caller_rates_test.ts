import { assert, assertEquals } from "@std/assert";
import { newApiKey } from "../../src/money/billing/keys/api_key.ts";
import { startTestGateway, type TestGateway, textModel } from "../support/gateway.ts";
import { assertErrorShape, CALLER_PROTOCOLS, CHAT, CONTENT, type Json, sendAs } from "./caller_protocols.ts";

const BURST = 3;
/** The keys of an account together have the rates of so many keys. */
const ACCOUNT_FACTOR = 10;
const DRY = { "x-service-dry-run": "true" };
const READS = ["/v1/requests", "/v1/requests/req_1", "/v1/usage", "/v1/key", "/v1/credits", "/v1/videos"];
const rate = { requests: 1, per: 86_400, burst: BURST };

/** A gateway whose account `many` has a key for every use, and `other` one. */
async function startRated(isolates: number) {
  const keys = Array.from({ length: 40 }, () => newApiKey());
  const other = newApiKey();
  const gateway = await startTestGateway({
    isolates,
    config: {
      accounts: [{ id: "many", balance: "25.00", keys }, { id: "other", balance: "25.00", keys: [other] }],
      models: [
        textModel("sandbox/chat-1", ["sandbox-openai"]),
        textModel("sandbox/messages-1", ["sandbox-anthropic"]),
        textModel("sandbox/content-1", ["sandbox-google"]),
      ],
      limits: { reads: rate, dry_runs: rate },
    },
  });
  return { gateway, other, nextKey: () => keys.pop() ?? "" };
}

/** A connection of its own for each, so that all threads get some. */
async function get({ address }: TestGateway, path: string, key: string) {
  const response = await fetch(address + path, {
    headers: { authorization: `Bearer ${key}`, connection: "close" },
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, json: JSON.parse(text) as Json };
}

function countOf(statuses: readonly { readonly status: number }[], status: number): number {
  return statuses.filter((each) => each.status === status).length;
}

/** The endpoints of the document that read something with a caller's key, with made-up ids. */
function documentedReads(): string[] {
  const { paths } = JSON.parse(Deno.readTextFileSync(new URL("../../docs/openapi.json", import.meta.url)));
  return Object.entries<Json>(paths).filter(([, { get }]) => {
    const schemes: Json[] = get?.security ?? [];
    return schemes.some((scheme) => "bearer" in scheme) && schemes.every((scheme) => Object.keys(scheme).length > 0);
  }).map(([path]) => path.replaceAll(/\{\w+\}/g, "unknown-1"));
}

/** Polls of a video have a rate of their own. */
const POLLS = ["/v1/videos/unknown-1", "/v1/videos/unknown-1/events"];

Deno.test("every documented read with a caller's key counts, except for polls", async () => {
  const { gateway, nextKey } = await startRated(1);
  const key = nextKey();
  for (let read = 0; read < BURST; read++) assertEquals((await get(gateway, "/v1/key", key)).status, 200);
  const uncounted: string[] = [];
  for (const path of documentedReads()) if ((await get(gateway, path, key)).status !== 429) uncounted.push(path);
  assertEquals(uncounted, POLLS);
  await gateway.stop();
});

for (const isolates of [1, 2]) {
  const threads = isolates === 1 ? "one thread" : "two threads";

  Deno.test(`dry runs of a key count in a rate of their own, in ${threads}`, async () => {
    const { gateway, nextKey } = await startRated(isolates);
    for (const face of CALLER_PROTOCOLS) {
      const own = { address: gateway.address, key: nextKey() };
      const dryRuns = await Promise.all(
        Array.from({ length: 10 }, () => sendAs(face, own, { headers: { ...DRY, connection: "close" } })),
      );
      assertEquals([countOf(dryRuns, 200), countOf(dryRuns, 429)], [BURST, 10 - BURST]);
      const refused = dryRuns.find(({ status }) => status === 429);
      assert(refused !== undefined);
      assertErrorShape(face, refused);
      assert(Number(refused.headers.get("retry-after")) >= 1);
      assertEquals((await sendAs(face, own)).status, 200);
      assertEquals((await get(gateway, "/v1/credits", own.key)).status, 200);
    }
    await gateway.stop();
  });

  Deno.test(`reads of a key count in a rate of their own, in ${threads}`, async () => {
    const { gateway, nextKey } = await startRated(isolates);
    const key = nextKey();
    const reads = await Promise.all(READS.map((path) => get(gateway, path, key)));
    assertEquals(countOf(reads, 429), READS.length - BURST, JSON.stringify(reads.map(({ status }) => status)));
    for (const path of READS) {
      const { status, headers, json } = await get(gateway, path, key);
      assertEquals([status, json.error.code], [429, "rate_limited"], path);
      assert(Number(headers.get("retry-after")) >= 1);
    }
    const caches = await get(gateway, "/gencompat/v1beta/cachedContents", key);
    assertErrorShape(CONTENT, caches);
    assertEquals([caches.status, caches.json.error.status], [429, "RESOURCE_EXHAUSTED"]);
    assertEquals((await sendAs(CHAT, { address: gateway.address, key })).status, 200);
    assertEquals((await sendAs(CHAT, { address: gateway.address, key }, { headers: DRY })).status, 200);
    await gateway.stop();
  });

  Deno.test(`the keys of an account have common rates, and other accounts theirs, in ${threads}`, async () => {
    const { gateway, other, nextKey } = await startRated(isolates);
    const allowed = BURST * ACCOUNT_FACTOR;
    const keys = Array.from({ length: ACCOUNT_FACTOR + 2 }, nextKey).flatMap((key) => [key, key, key]);
    const reads = await Promise.all(keys.map((key) => get(gateway, "/v1/key", key)));
    assertEquals(countOf(reads, 200), allowed);
    const dryRuns = await Promise.all(
      keys.map((key) => sendAs(CHAT, { address: gateway.address, key }, { headers: DRY })),
    );
    assertEquals(countOf(dryRuns, 200), allowed);
    assertEquals((await get(gateway, "/v1/key", other)).status, 200);
    assertEquals((await sendAs(CHAT, { address: gateway.address, key: other }, { headers: DRY })).status, 200);
    await gateway.stop();
  });

  Deno.test(`many searches by one key refuse nobody else a search, in ${threads}`, async () => {
    const gateway = await startTestGateway({ isolates });
    const searches = Array.from({ length: 60 }, () => get(gateway, "/v1/requests?q=some%20text", gateway.key));
    const operators = Array.from({ length: 8 }, () => get(gateway, "/admin/v1/requests?q=text", gateway.adminKey));
    assertEquals(countOf(await Promise.all(operators), 200), operators.length);
    const answers = await Promise.all(searches);
    assertEquals(countOf(answers, 200) + countOf(answers, 429), answers.length);
    assert(countOf(answers, 200) >= 1);
    await gateway.stop();
  });
}
