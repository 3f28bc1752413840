import { assertEquals } from "@std/assert";
import { startSandbox } from "../../../src/sandbox/mod.ts";
import { callerOf } from "../../support/gateway_call.ts";
import { startGatewayProcess } from "../../support/gateway_process.ts";
import { itemAt } from "../../support/items.ts";
import { longTest } from "../../support/long_test.ts";
import { stateOf } from "../../support/patience.ts";

const KEY = "sk-anna-0123456789abcdef";
const ADMIN_KEY = "sk-admin-0123456789abcdef";
/** What a video costs, in USD. */
const PRICE = 0.5;

/** The first frame of every video, which the lines name as a stored file. */
const FRAME = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

async function storeFrame(address: string): Promise<string> {
  const form = new FormData();
  form.set("purpose", "vision");
  form.set("file", new File([Uint8Array.fromBase64(FRAME)], "first.png"));
  const headers = { authorization: `Bearer ${KEY}` };
  return (await (await fetch(`${address}/v1/files`, { method: "POST", headers, body: form })).json()).id;
}

/** A batch of videos whose gateway is killed again and again, after some further requests to its vendor. */
async function killDuringVideos({ lines, kills }: { readonly lines: number; readonly kills: number }): Promise<void> {
  const folder = await Deno.makeTempDir();
  const prompts: string[] = [];
  let requests = 0;
  let onRequests: { readonly count: number; readonly then: () => void } | null = null;
  const sandbox = await startSandbox({
    port: 0,
    onRequest: ({ method, path, body }) => {
      if (method === "POST" && path.endsWith("/contents/generations/tasks")) prompts.push(JSON.stringify(body));
      requests++;
      if (onRequests === null || requests < onRequests.count) return;
      onRequests.then();
      onRequests = null;
    },
  });
  const config = `${folder}/switchyard.json`;
  await Deno.writeTextFile(
    config,
    JSON.stringify({
      server: { port: 0, admin_key: ADMIN_KEY },
      accounts: [{ id: "demo", balance: "1000.00", keys: [KEY] }],
      providers: { ark: { kind: "ark", base_url: sandbox.baseUrls.ark, api_key: "sandbox-key-ark" } },
      models: [{
        id: "sandbox/video-1",
        video: { modes: ["img2video"], price_per_second: { default: "0.10" } },
        serves: [{ provider: "ark" }],
      }],
      store: `kv:${folder}/store.db`,
      files: `${folder}/files`,
      limits: {
        video_doubt: 3,
        vendor_polling: { first: 0.05, least: 0.05, most: 0.2, per_second: 1_000 },
        video_polling: { requests: 100_000, per: 1, burst: 10_000 },
        reads: { requests: 100_000, per: 1, burst: 10_000 },
      },
      egress: { allow: ["127.0.0.1/32"] },
    }),
  );
  const start = async () => {
    const child = startGatewayProcess({ args: ["serve", "--config", config], folder });
    const address = itemAt(await child.until(/is ready at (\S+)/), 1);
    const caller = (key: string) => callerOf(address, { authorization: `Bearer ${key}` });
    return { child, address, call: caller(KEY), admin: caller(ADMIN_KEY) };
  };
  let running = await start();
  try {
    const frame = await storeFrame(running.address);
    const { json: batch, text } = await running.call("POST", "/v1/batches", {
      endpoint: "/v1/videos",
      requests: Array.from({ length: lines }, (_, n) => ({
        custom_id: `line-${n}`,
        body: {
          model: "sandbox/video-1",
          prompt: `Line ${n}. [[queue 0]] [[run ${200 + n % 5 * 150}]]`,
          duration: 5,
          input_reference: { file_id: frame },
        },
      })),
    });
    assertEquals(batch.service_batch?.mode, "emulated", text);
    for (let kill = 0; kill < kills; kill++) {
      const reached = Promise.withResolvers<void>();
      onRequests = {
        count: requests + 1 + kill * 7 % 23,
        then: () => void (running.child.kill("SIGKILL"), reached.resolve()),
      };
      // All videos may have ended before.
      const isOver = stateOf(
        "the batch has ended, or its gateway was killed",
        async () =>
          onRequests === null || (await running.call("GET", `/v1/batches/${batch.id}`)).json.status === "completed",
        (over) => over,
      ).catch(() => {}); // the gateway was killed during the request
      await Promise.race([reached.promise, isOver]);
      onRequests = null;
      running.child.kill("SIGKILL");
      await running.child.ended;
      running = await start();
    }
    const ended = await stateOf(
      "the batch has ended",
      async () => (await running.call("GET", `/v1/batches/${batch.id}`)).json,
      ({ status }) => status === "completed",
    );
    assertEquals(ended.request_counts, { total: lines, completed: lines, failed: 0 });
    assertEquals([prompts.length, new Set(prompts).size], [lines, lines]);
    assertEquals(prompts.filter((prompt) => !prompt.includes(FRAME)), [], "each video has its first frame");
    const file = await running.call("GET", `/v1/files/${ended.output_file_id}/content`);
    assertEquals(file.status, 200, file.text);
    const output = file.text.trimEnd().split("\n");
    const results = output.map((line) => JSON.parse(line));
    assertEquals(new Set(results.map(({ custom_id: id }) => id)).size, lines);
    assertEquals(new Set(results.map(({ response }) => response.body.id)).size, lines);
    const captured: string[] = [];
    for (let after = "";;) {
      const { json } = await running.admin("GET", `/admin/v1/accounts/demo/ledger?limit=100${after}`);
      for (const { operation, detail } of json.data) {
        assertEquals(operation === "charge", false);
        if (operation === "capture") captured.push(detail.custom_id);
      }
      if (json.next === null) break;
      after = `&after=${json.next}`;
    }
    assertEquals(captured.sort(), results.map(({ custom_id: id }) => id).sort());
    const { json: account } = await running.admin("GET", "/admin/v1/accounts/demo");
    assertEquals([account.held, Number(account.balance).toFixed(6)], [
      "0.0000000000",
      (1_000 - lines * PRICE).toFixed(6),
    ]);
    assertEquals(Number(ended.service_batch.cost).toFixed(6), (lines * PRICE).toFixed(6));
  } finally {
    running.child.kill("SIGKILL");
    await running.child.ended;
    await sandbox.stop();
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("a batch of videos whose gateway is killed makes each video once, and charges it once", async () => {
  await killDuringVideos({ lines: 30, kills: 5 });
});

longTest(
  "a batch of videos whose gateway is killed fifty times makes each video once, and charges it once",
  async () => {
    await killDuringVideos({ lines: 300, kills: 50 });
  },
);
