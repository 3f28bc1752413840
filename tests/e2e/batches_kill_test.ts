import { assert, assertEquals } from "@std/assert";
import { sleep, systemClock } from "../../src/platform/lib/basics/clock.ts";
import { startSandbox } from "../../src/sandbox/mod.ts";
import { callerOf, type GatewayCall } from "../support/gateway_call.ts";
import { type GatewayProcess, startGatewayProcess } from "../support/gateway_process.ts";
import { itemAt } from "../support/items.ts";
import { PRICING, textModel } from "../support/gateway.ts";
import { longTest } from "../support/long_test.ts";

const KEY = "sk-anna-0123456789abcdef";
const ADMIN_KEY = "sk-admin-0123456789abcdef";

interface Running {
  readonly child: GatewayProcess;
  readonly call: GatewayCall;
  readonly admin: GatewayCall;
}

async function startProcess(config: string, folder: string): Promise<Running> {
  const child = startGatewayProcess({ args: ["serve", "--config", config], folder });
  const address = itemAt(await child.until(/is ready at (\S+)/), 1);
  const caller = (key: string) => callerOf(address, { authorization: `Bearer ${key}` });
  return { child, call: caller(KEY), admin: caller(ADMIN_KEY) };
}

/** How a batch is run while its gateway is killed. */
interface KillPlan {
  readonly lines: number;
  readonly kills: number;
  /** Whether the lines are in batches of their vendor, one of each model. */
  readonly toVendor: boolean;
}

const VENDOR_MODELS = ["chat-1", "chat-2", "chat-3", "chat-4", "chat-5"];
const MAX_LOOKS = 6_000;

/** The lines of a batch as JSONL, each with its number in the text. */
function fileOfLines({ lines: count, toVendor }: KillPlan): FormData {
  const lines = Array.from({ length: count }, (_, n) =>
    JSON.stringify({
      custom_id: `line-${n}`,
      method: "POST",
      url: "/v1/chat/completions",
      body: {
        model: `sandbox/${toVendor ? VENDOR_MODELS[n % VENDOR_MODELS.length] : "chat-1"}`,
        max_tokens: 30,
        messages: [{
          role: "user",
          content: `[[${toVendor ? `batch wait ${1_000 + n % 3 * 1_000}` : `stall ${20 + n % 7 * 10}`}]] Line ${n}`,
        }],
      },
    }));
  const form = new FormData();
  form.append("purpose", "batch");
  form.append("file", new File([lines.join("\n")], "in.jsonl"));
  return form;
}

/**
 * Waits until the next kill: after further lines were settled, or, as a vendor's lines are settled together, after a
 * span that differs from kill to kill.
 */
async function untilKill(call: GatewayCall, id: string, { kill, before, toVendor }: {
  readonly kill: number;
  readonly before: number;
  readonly toVendor: boolean;
}): Promise<number> {
  if (toVendor) await sleep(systemClock, 30 + kill * 137 % 900);
  for (let look = 0; look < MAX_LOOKS; look++) {
    const { json } = await call("GET", `/v1/batches/${id}`);
    const { completed } = json.request_counts;
    if (toVendor || completed > before || json.status !== "in_progress") return completed;
    await sleep(systemClock, 20);
  }
  throw new Error("No further line was settled");
}

/** Kills the gateway of a batch again and again. */
async function killDuringBatch(plan: KillPlan): Promise<void> {
  const { lines, kills, toVendor } = plan;
  const folder = await Deno.makeTempDir();
  const created: string[] = [];
  const sandbox = await startSandbox({
    port: 0,
    onRequest: ({ method, path, body }) => {
      if (method === "POST" && path.endsWith("/batches")) created.push(JSON.stringify(body));
    },
  });
  const config = `${folder}/switchyard.json`;
  const pricing = { ...PRICING, overrides: [{ batch: true, factor: "0.5" }] };
  await Deno.writeTextFile(
    config,
    JSON.stringify({
      server: { port: 0, admin_key: ADMIN_KEY },
      accounts: [{ id: "demo", balance: "25.00", keys: [KEY] }],
      providers: {
        "sandbox-openai": {
          kind: "openai",
          base_url: sandbox.baseUrls.openai,
          api_key: "sandbox-key-openai",
          speaks: "both",
          quirks: [],
          batches: toVendor ? "on" : "off",
        },
      },
      models: VENDOR_MODELS.map((name) => ({ ...textModel(`sandbox/${name}`, ["sandbox-openai"]), pricing })),
      store: `kv:${folder}/store.db`,
      files: `${folder}/files`,
      egress: { allow: ["127.0.0.1/32"] },
    }),
  );
  let running = await startProcess(config, folder);
  try {
    const form = new Request("http://localhost", { method: "POST", body: fileOfLines(plan) });
    const type = form.headers.get("content-type") ?? "";
    const file = await running.call("POST", "/v1/files", await form.text(), { "content-type": type });
    const { json: batch } = await running.call("POST", "/v1/batches", {
      input_file_id: file.json.id,
      endpoint: "/v1/chat/completions",
      completion_window: "24h",
    });
    assertEquals(batch.service_batch?.mode, toVendor ? "vendor" : "emulated", JSON.stringify(batch));
    const counts: number[] = [];
    for (let kill = 0; kill < kills; kill++) {
      counts.push(await untilKill(running.call, batch.id, { kill, before: counts.at(-1) ?? 0, toVendor }));
      running.child.kill("SIGKILL");
      await running.child.ended;
      running = await startProcess(config, folder);
    }
    let ended = batch;
    for (let look = 0; look < MAX_LOOKS && ended.status !== "completed"; look++) {
      ended = (await running.call("GET", `/v1/batches/${batch.id}`)).json;
      await sleep(systemClock, 150);
    }
    assertEquals(ended.request_counts, { total: lines, completed: lines, failed: 0 });
    // Each of the vendor's batches was created once.
    assertEquals(created.length, toVendor ? VENDOR_MODELS.length : 0, created.join("\n"));
    const output = (await running.call("GET", `/v1/files/${ended.output_file_id}/content`)).text.trimEnd().split("\n");
    const ids = output.map((line) => JSON.parse(line).custom_id);
    assertEquals(new Set(ids).size, lines);
    assertEquals(ids.length, lines);
    const references: string[] = [];
    for (let after = "";;) {
      const { json } = await running.admin("GET", `/admin/v1/accounts/demo/ledger?limit=100${after}`);
      for (const { operation, reference } of json.data) if (operation === "charge") references.push(reference);
      if (json.next === null) break;
      after = `&after=${json.next}`;
    }
    assertEquals(references.length, lines);
    assertEquals(new Set(references).size, lines);
    const { json: account } = await running.admin("GET", "/admin/v1/accounts/demo");
    assertEquals(account.held, "0.0000000000");
    assertEquals(Number(account.balance).toFixed(8), (25 - Number(ended.service_batch.cost)).toFixed(8));
    assert(toVendor || counts.some((count) => count > 0 && count < lines), `the kills came during the run: ${counts}`);
    const left = () =>
      Array.from(Deno.readDirSync(`${folder}/files`), ({ name }) => name).filter((name) => name.startsWith("batch-"));
    // A job removes them after the end of the batch.
    for (let look = 0; look < MAX_LOOKS && left().length > 0; look++) await sleep(systemClock, 20);
    assertEquals(left(), []);
  } finally {
    running.child.kill("SIGKILL");
    await running.child.ended;
    await sandbox.stop();
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("a batch whose gateway is killed loses no line, and charges none twice", async () => {
  await killDuringBatch({ lines: 60, kills: 2, toVendor: false });
});

Deno.test("vendors' batches whose gateway is killed are created once, and no line is lost or charged twice", async () => {
  await killDuringBatch({ lines: 100, kills: 4, toVendor: true });
});

longTest("a batch whose gateway is killed fifty times loses no line, and charges none twice", async () => {
  await killDuringBatch({ lines: 1_000, kills: 50, toVendor: false });
});

longTest(
  "vendors' batches whose gateway is killed fifty times are created once, and no line is charged twice",
  async () => {
    await killDuringBatch({ lines: 1_000, kills: 50, toVendor: true });
  },
);
