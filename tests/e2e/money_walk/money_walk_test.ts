import { assert, assertEquals } from "@std/assert";
import { newApiKey } from "../../../src/money/billing/keys/api_key.ts";
import { listKeys } from "../../../src/money/billing/keys/issued_key.ts";
import { listLedgerEntries } from "../../../src/money/billing/ledger/ledger.ts";
import { verifyLedger } from "../../../src/money/billing/verify_ledger.ts";
import { readConfig } from "../../../src/config/config.ts";
import { silentLog } from "../../../src/platform/lib/basics/log.ts";
import { type Money, readMoney } from "../../../src/platform/lib/basics/money.ts";
import { startSandbox } from "../../../src/sandbox/mod.ts";
import type { Store } from "../../../src/platform/store/store.ts";
import { eventually } from "../../support/account_money.ts";
import { startApps, TEST_ISOLATES } from "../../support/apps.ts";
import { SeededRandom } from "./random.ts";
import { CONTEXT_TOKENS, startWalkVendor, type VendorBehaviour } from "./vendor.ts";

/** The environment can raise it for a longer run. */
const CALLS = Number(Deno.env.get("SWITCHYARD_TEST_WALK_CALLS") ?? "150");
const SEED = Number(Deno.env.get("SWITCHYARD_TEST_WALK_SEED") ?? "20261122");
const AT_ONCE = 12;
const BALANCES = { cent: "0.01", dime: "0.1", dollar: "1", five: "5" } as const;

/** Three dollars a million tokens in, fifteen out. */
const TOKENS = { prompt: "0.000003", completion: "0.000015" };
/** The same with a band, hours, a change while the test runs, and tiers. At most four times as much. */
const varied = (now: number) => ({
  ...TOKENS,
  overrides: [
    { min_prompt_tokens: 1_500, prompt: "0.000006", completion: "0.0000225" },
    { from: `${new Date(now + 2_000).toISOString().slice(0, 19)}Z`, factor: "1.2" },
    { utc_start: timeAt(now + 60_000), utc_end: timeAt(now + 120_000), factor: "1.1" },
    { utc_start: timeAt(now - 60_000), utc_end: timeAt(now + 60_000), factor: "0.5" },
    { service_tier: "flex", factor: "0.5" },
  ],
});
const TIERS = { fast: { prompt: "0.0000045", overrides: [{ min_prompt_tokens: 2_000, prompt: "0.000009" }] } };
const timeAt = (at: number) => new Date(at).toISOString().slice(11, 16);
const IMAGE_TOKENS = { prompt: "0.000005", image_output: "0.00004" };
const MAX_OUTPUT_TOKENS = 4_000;
const MAX_CHOICES = 4;

/** Tokens of an image of the highest quality. */
const TOKENS_OF_IMAGE = 6_240;
const MAX_IMAGES = 3;

/** Above the cost of any call: three images, each with its own context and output, or a text at all factors. */
const CEILING = readMoney("1.3");

interface Walker {
  readonly account: string;
  readonly key: string;
}

for (const manner of ["obeying", "hostile"] as const) {
  Deno.test(`no account falls below the documented bound, whatever it calls: a vendor that is ${manner}`, async () => {
    const random = new SeededRandom(SEED);
    const [sandbox, vendor] = [await startSandbox({ port: 0 }), startWalkVendor(new SeededRandom(SEED + 1), manner)];
    const files = await Deno.makeTempDir();
    const walkers = Object.keys(BALANCES).map((account) => ({ account, key: newApiKey() }));
    const config = readConfig(
      JSON.stringify(treeOf(walkers, files, vendor.baseUrl, sandbox.baseUrls.ark)),
      "test.json",
      () => undefined,
    );
    const { app, address, stop } = await startApps({ config, log: silentLog, random: () => random.next() });
    const statuses = new Map<number, number>();
    let left = CALLS;

    async function checkBound(account: string): Promise<void> {
      const { available } = await app.store.balance(account);
      assert(available >= -boundOf(manner), `${account} is at ${available}`);
    }

    async function walk(): Promise<void> {
      while (left-- > 0) {
        const walker = random.pick(walkers);
        const status = await callOnce(address, walker, random);
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        await checkBound(walker.account);
      }
    }

    try {
      await Promise.all(Array.from({ length: AT_ONCE }, walk));
      for (const { account } of walkers) {
        await eventually(async () => (await app.store.balance(account)).held === 0n);
        await checkBound(account);
      }
      assertEquals((await verifyLedger(app.store)).differences, []);
      for (const { account } of walkers) await checkKeys(app.store, account);
      assert((statuses.get(200) ?? 0) > 10 && (statuses.get(402) ?? 0) > 10, JSON.stringify([...statuses]));
      assertEquals(statuses.get(500) ?? 0, 0, JSON.stringify([...statuses]));
    } finally {
      await stop();
      await vendor.stop();
      await sandbox.stop();
      await Deno.remove(files, { recursive: true });
    }
  });
}

/** Zero where vendors respect the limits of requests; otherwise each open call may cost the maximum. */
function boundOf(manner: VendorBehaviour): Money {
  return manner === "obeying" ? 0n : BigInt(AT_ONCE) * CEILING;
}

/** Every entry that a call caused names the key of the account. */
async function checkKeys(store: Store, account: string): Promise<void> {
  const { keys } = await listKeys(store, account, { limit: 1 });
  const { lines } = await listLedgerEntries(store, account, { limit: 10_000 });
  for (const { operation, rows, detail } of lines) {
    if (operation === "credit") continue;
    const named = operation === "charge" ? rows.map(({ keyId }) => keyId) : [(detail as { key: string }).key];
    assertEquals([...new Set(named)], keys.map(({ id }) => id), operation);
  }
}

/** Makes one call of any kind; returns its status. */
async function callOnce(address: string, { key }: Walker, random: SeededRandom): Promise<number> {
  const { path, body } = random.pick([textCall, textCall, fileCall, pictureCall, cacheCall, videoCall])(random);
  const isLeft = random.chance(0.1);
  const leaving = new AbortController();
  const headers = { authorization: `Bearer ${key}`, "x-content-api-key": key, "content-type": "application/json" };
  try {
    const sent = fetch(address + path, { method: "POST", headers, body: JSON.stringify(body), signal: leaving.signal });
    // A caller who disconnects does so as soon as the request was sent.
    if (isLeft) queueMicrotask(() => leaving.abort());
    const response = await sent;
    await response.body?.pipeTo(new WritableStream());
    return response.status;
  } catch {
    return 0; // The caller disconnected, or the vendor cut the response.
  }
}

interface Call {
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
}

function textCall(random: SeededRandom): Call {
  const words = "word ".repeat(random.between(1, 1_000));
  const limit = random.chance(0.5) ? { max_tokens: random.between(1, MAX_OUTPUT_TOKENS) } : {};
  const n = random.chance(0.3) ? { n: random.between(1, MAX_CHOICES) } : {};
  const stream = random.chance(0.5);
  const tier = random.chance(0.5) ? { service_tier: random.pick(["fast", "flex"]) } : {};
  return {
    path: "/v1/chat/completions",
    body: { model: "walk/text", ...tier, stream, messages: [{ role: "user", content: words }], ...limit, ...n },
  };
}

function fileCall(random: SeededRandom): Call {
  const parts = [{ fileData: { fileUri: `https://files.example/${random.between(0, 9)}`, mimeType: "text/plain" } }];
  return {
    path: "/gencompat/v1beta/models/walk/cache:generateContent",
    body: { contents: [{ role: "user", parts }] },
  };
}

function pictureCall(random: SeededRandom): Call {
  return {
    path: "/v1/images/generations",
    body: { model: "walk/image", prompt: "a fox", quality: "high", n: random.between(1, MAX_IMAGES) },
  };
}

function cacheCall(random: SeededRandom): Call {
  const contents = [{ role: "user", parts: [{ text: "word ".repeat(random.between(1, 2_000)) }] }];
  return { path: "/gencompat/v1beta/cachedContents", body: { model: "walk/cache", contents, ttl: "900s" } };
}

function videoCall(random: SeededRandom): Call {
  const end = random.pick(["", "", "[[failure]]", "[[seconds 9]]", "[[expire]]", "[[reject]]"]);
  const prompt = `A lighthouse [[queue 0]] [[run 0]] ${end} ${random.between(0, 1e9)}`;
  return { path: "/v1/videos", body: { model: "walk/video", prompt, duration: random.between(2, 12) } };
}

function treeOf(walkers: readonly Walker[], files: string, vendor: string, ark: string): Record<string, unknown> {
  const limits = { context_length: CONTEXT_TOKENS, top_provider: { max_completion_tokens: MAX_OUTPUT_TOKENS } };
  const serves = (provider: string, model: string) => [{ provider, model }];
  return {
    server: { port: 0, admin_key: newApiKey(), shutdown_grace: 1, isolates: TEST_ISOLATES },
    store: "kv::memory:",
    files,
    accounts: walkers.map(({ account, key }) => ({
      id: account,
      balance: BALANCES[account as keyof typeof BALANCES],
      keys: [key],
    })),
    providers: {
      openai: { kind: "openai", base_url: `${vendor}/v1`, api_key: "vendor-key", speaks: "chat" },
      google: { kind: "google", base_url: vendor, api_key: "vendor-key" },
      ark: { kind: "ark", base_url: ark, api_key: "sandbox-key-ark" },
    },
    models: [
      { id: "walk/text", ...limits, pricing: varied(Date.now()), pricing_tiers: TIERS, serves: serves("openai", "m") },
      { id: "walk/cache", ...limits, pricing: varied(Date.now()), serves: serves("google", "m") },
      {
        id: "walk/image",
        context_length: CONTEXT_TOKENS,
        top_provider: { max_completion_tokens: TOKENS_OF_IMAGE },
        pricing: IMAGE_TOKENS,
        image: { series: "default" },
        serves: serves("openai", "gpt-image-1"),
      },
      {
        id: "walk/video",
        video: {
          modes: ["text2video"],
          price_per_second: { default: "0.02" },
          duration: { min: 2, max: 12, default: 5 },
        },
        serves: serves("ark", "seedance-sandbox"),
      },
    ],
    limits: {
      vendor_polling: { first: 0.02, least: 0.02, most: 0.05, per_second: 1_000 },
      video_polling: { requests: 100_000, per: 1, burst: 10_000 },
    },
    egress: { allow: ["127.0.0.1/32"] },
  };
}
