import { assert, assertEquals } from "@std/assert";
import { startSandbox } from "../../src/sandbox/mod.ts";
import { callerOf, type GatewayCall } from "../support/gateway_call.ts";
import { type GatewayProcess, startGatewayProcess } from "../support/gateway_process.ts";
import { itemAt } from "../support/items.ts";
import { textModel } from "../support/gateway.ts";
import { longTest } from "../support/long_test.ts";
import { stateOf } from "../support/patience.ts";

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

/** The lines of a batch as JSONL, each with its number in the text. */
function fileOfLines(count: number): FormData {
  const lines = Array.from({ length: count }, (_, n) =>
    JSON.stringify({
      custom_id: `line-${n}`,
      method: "POST",
      url: "/v1/chat/completions",
      body: {
        model: "sandbox/chat-1",
        max_tokens: 30,
        messages: [{ role: "user", content: `[[stall ${20 + n % 7 * 10}]] Line ${n}` }],
      },
    }));
  const form = new FormData();
  form.append("purpose", "batch");
  form.append("file", new File([lines.join("\n")], "in.jsonl"));
  return form;
}

/** Kills the gateway of a batch again and again, each time after further lines were settled. */
async function killDuringBatch(lines: number, kills: number): Promise<void> {
  const folder = await Deno.makeTempDir();
  const sandbox = await startSandbox({ port: 0 });
  const config = `${folder}/switchyard.json`;
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
        },
      },
      models: [textModel("sandbox/chat-1", ["sandbox-openai"])],
      store: `kv:${folder}/store.db`,
      files: `${folder}/files`,
      egress: { allow: ["127.0.0.1/32"] },
    }),
  );
  let running = await startProcess(config, folder);
  try {
    const form = new Request("http://localhost", { method: "POST", body: fileOfLines(lines) });
    const type = form.headers.get("content-type") ?? "";
    const file = await running.call("POST", "/v1/files", await form.text(), { "content-type": type });
    const { json: batch } = await running.call("POST", "/v1/batches", {
      input_file_id: file.json.id,
      endpoint: "/v1/chat/completions",
      completion_window: "24h",
    });
    assertEquals(batch.status, "in_progress", JSON.stringify(batch));
    const counts: number[] = [];
    for (let kill = 0; kill < kills; kill++) {
      const { json } = await stateOf(
        "another line of the batch is completed",
        () => running.call("GET", `/v1/batches/${batch.id}`),
        ({ json: { request_counts, status } }) =>
          request_counts.completed > (counts.at(-1) ?? 0) || status !== "in_progress",
      );
      counts.push(json.request_counts.completed);
      running.child.kill("SIGKILL");
      await running.child.ended;
      running = await startProcess(config, folder);
    }
    let ended = batch;
    while (ended.status !== "completed") {
      ended = (await running.call("GET", `/v1/batches/${batch.id}`)).json;
      await new Promise((resolve) => setTimeout(resolve, 150));
    }
    assertEquals(ended.request_counts, { total: lines, completed: lines, failed: 0 });
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
    assert(counts.some((count) => count > 0 && count < lines), `the kills came during the run: ${counts}`);
    const left = Array.from(Deno.readDirSync(`${folder}/files`), ({ name }) => name);
    assertEquals(left.filter((name) => name.startsWith("batch-")), []);
  } finally {
    running.child.kill("SIGKILL");
    await running.child.ended;
    await sandbox.stop();
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("a batch whose gateway is killed loses no line, and charges none twice", () => killDuringBatch(60, 2));

longTest("a batch whose gateway is killed fifty times loses no line, and charges none twice", async () => {
  await killDuringBatch(1_000, 50);
});
