import { assert, assertEquals } from "@std/assert";
import { newApiKey } from "../../../src/billing/api_key.ts";
import { readMoney, writeMoney } from "../../../src/lib/money.ts";
import { startSandbox } from "../../../src/sandbox/mod.ts";
import { ALL_MODES } from "../../support/video_gateway.ts";

/** How often the gateway is killed, and how many tasks it is given meanwhile. */
const ROUNDS = 20;
const FIRST_TASKS = 105;
const TASKS_A_ROUND = 5;
const MAIN = new URL("../../../main.ts", import.meta.url).pathname;

interface Child {
  readonly address: string;
  kill(): Promise<void>;
}

/** Starts the gateway as its operator does, and waits for its line. */
async function startChild(config: string, folder: string): Promise<Child> {
  const args = ["run", "--quiet", "-A", "--unstable-kv", "--unstable-cron", MAIN, "serve", "--config", config];
  const child = new Deno.Command(Deno.execPath(), { args, cwd: folder, stdout: "piped", stderr: "null" }).spawn();
  const lines = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { done, value } = await lines.read();
    if (done) throw new Error(`The gateway ended before it was ready: ${text}`);
    text += value;
    const address = /is ready at (\S+)/.exec(text)?.[1];
    if (address === undefined) continue;
    return {
      address,
      async kill() {
        child.kill("SIGKILL");
        await lines.cancel();
        await child.status;
      },
    };
  }
}

function configOf(arkUrl: string, folder: string, key: string, adminKey: string): string {
  return JSON.stringify({
    server: { port: 0, admin_key: adminKey },
    store: `kv:${folder}/store.db`,
    files: `${folder}/files`,
    accounts: [{ id: "demo", balance: "1000.00", keys: [key] }],
    providers: { ark: { kind: "ark", base_url: arkUrl, api_key: "sandbox-key" } },
    models: [{
      id: "sandbox/video-1",
      video: { modes: ALL_MODES, price_per_second: { default: "0.10" } },
      serves: [{ provider: "ark", model: "seedance-sandbox" }],
    }],
    limits: {
      video_doubt: 3,
      vendor_polling: { first: 0.05, least: 0.05, most: 0.2, per_second: 1_000 },
      video_polling: { requests: 1_000_000, per: 1, burst: 1_000_000 },
    },
    egress: { allow: ["127.0.0.1/32"] },
  });
}

const ENDINGS = ["", "", "", "[[refuse]]", "[[expire]]", "[[noresult]]"];

Deno.test("kill -9 twenty times under 200 open videos: each acknowledged one ends once, the vendor saw it once, money agrees", async () => {
  const made = new Map<string, number>();
  const sandbox = await startSandbox({
    port: 0,
    record({ method, path, body }) {
      const id = (body as { safety_identifier?: string } | null)?.safety_identifier;
      if (method === "POST" && path.endsWith("/tasks") && id) made.set(id, (made.get(id) ?? 0) + 1);
    },
  });
  const folder = await Deno.makeTempDir();
  const [key, adminKey] = [newApiKey(), newApiKey()];
  const config = `${folder}/switchyard.json`;
  await Deno.writeTextFile(config, configOf(sandbox.baseUrls.ark, folder, key, adminKey));
  const acknowledged = new Map<string, string>();
  let numbered = 0;
  let unanswered: string[] = [];

  async function create(address: string, name: string): Promise<void> {
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json", "idempotency-key": name };
    const order = Number(name);
    const prompt = `Video ${name} [[queue ${order % 3 * 300}]] [[run ${order * 97 % 9_000}]] ${ENDINGS[order % 6]}`;
    const body = JSON.stringify({ model: "sandbox/video-1", prompt, duration: 1 + order % 5 });
    try {
      const answer = await fetch(`${address}/v1/videos`, { method: "POST", headers, body });
      const { id } = await answer.json();
      if (answer.status === 202) acknowledged.set(name, id);
      else unanswered.push(name);
    } catch {
      unanswered.push(name); // killed meanwhile: asked again with the same key
    }
  }

  for (let round = 0; round < ROUNDS; round++) {
    const child = await startChild(config, folder);
    const count = round === 0 ? FIRST_TASKS : TASKS_A_ROUND;
    const names = [...unanswered.splice(0), ...Array.from({ length: count }, () => String(++numbered))];
    const creating = Promise.all(names.map((name) => create(child.address, name)));
    await new Promise((resolve) => setTimeout(resolve, 50 + Math.random() * 650));
    await child.kill();
    await creating;
  }

  const child = await startChild(config, folder);
  await Promise.all(unanswered.splice(0).map((name) => create(child.address, name)));
  unanswered = [];
  const ask = async (path: string, secret: string) =>
    await (await fetch(child.address + path, { headers: { authorization: `Bearer ${secret}` } })).json();
  let paid = 0n;
  const ended = new Map<string, number>();
  for (const id of acknowledged.values()) {
    for (;;) {
      const task = await ask(`/v1/videos/${id}`, key);
      if (task.status !== "pending") {
        ended.set(task.status, (ended.get(task.status) ?? 0) + 1);
        paid += readMoney(task.usage.video_cost);
        break;
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
  assertEquals(acknowledged.size, FIRST_TASKS + (ROUNDS - 1) * TASKS_A_ROUND);
  assertEquals(new Set(acknowledged.values()).size, acknowledged.size);
  for (const id of acknowledged.values()) assertEquals(made.get(id), 1, `the vendor saw ${id}`);
  assertEquals([...made.keys()].filter((id) => ![...acknowledged.values()].includes(id)), []);
  const account = await ask("/admin/v1/accounts/demo", adminKey);
  assertEquals([account.balance, account.held], [writeMoney(readMoney("1000") - paid), "0.0000000000"]);
  assert((ended.get("completed") ?? 0) > 90, `most were completed: ${JSON.stringify([...ended])}`);
  await child.kill();
  await sandbox.stop();
  await Deno.remove(folder, { recursive: true });
});
