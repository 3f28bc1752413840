import { assertEquals, assertMatch } from "@std/assert";
import { accountMoney, eventually } from "../support/account_money.ts";
import { type GatewayProcess, startGatewayProcess } from "../support/gateway_process.ts";
import { textModel } from "../support/gateway.ts";
import { itemAt } from "../support/items.ts";
import { always, chatReply, startScriptedUpstream } from "../support/scripted_upstream.ts";
import { longTest } from "../support/long_test.ts";

const [KEY, ADMIN_KEY] = ["sk-anna-0123456789abcdef", "sk-admin-0123456789abcdef"];
/** 25 USD, and 1,000 prompt tokens and 500 of the reply, in units of 10^-10 USD. */
const [BALANCE, COST] = [250_000_000_000n, 20_000_000n];
const REPLY = chatReply("hello", { prompt: 1000, completion: 500 });

type Mode = "process" | "power";

interface Stage {
  readonly folder: string;
  /** The folder of the journal. */
  readonly journal: string;
  start(mode: Mode): Promise<{ readonly child: GatewayProcess; readonly address: string }>;
  /** Runs a command of the operator without a gateway. */
  run(...args: string[]): Promise<GatewayProcess>;
}

/** @param isolates The threads that accept connections. Default: one. */
async function onStage(work: (stage: Stage) => Promise<void>, isolates = 1): Promise<void> {
  const folder = await Deno.makeTempDir();
  const vendor = startScriptedUpstream(always(REPLY));
  const configOf = async (durability: Mode) => {
    const path = `${folder}/${durability}.json`;
    const config = {
      server: { port: 0, admin_key: ADMIN_KEY, isolates },
      accounts: [{ id: "demo", balance: "25.00", keys: [KEY] }],
      providers: { acme: { kind: "openai", base_url: vendor.baseUrl, api_key: "key-of-the-provider", speaks: "chat" } },
      models: [textModel("acme/m", ["acme"])],
      store: `kv:${folder}/store.db`,
      files: `${folder}/files`,
      billing: { durability },
    };
    await Deno.writeTextFile(path, JSON.stringify(config));
    return path;
  };
  try {
    await work({
      folder,
      journal: `${folder}/store.db.charges`,
      async start(mode) {
        const child = startGatewayProcess({ args: ["serve", "--config", await configOf(mode)], folder });
        return { child, address: itemAt(await child.until(/is ready at (\S+)/), 1) };
      },
      async run(...args) {
        const child = startGatewayProcess({ args: [...args, "--config", await configOf("process")], folder });
        await child.ended;
        return child;
      },
    });
  } finally {
    await vendor.stop();
    await Deno.remove(folder, { recursive: true });
  }
}

/** Sends a request over a connection of its own, so that any thread may get it. */
async function chat(address: string): Promise<Response> {
  using client = Deno.createHttpClient({ poolMaxIdlePerHost: 0 });
  const response = await fetch(`${address}/v1/chat/completions`, {
    client,
    method: "POST",
    headers: { authorization: `Bearer ${KEY}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "acme/m", messages: [{ role: "user", content: "hello" }] }),
  });
  return new Response(await response.text(), response);
}

/** Makes calls at once, and kills the gateway when the last reply is complete. */
async function callAndKill({ child, address }: { child: GatewayProcess; address: string }, count: number) {
  const statuses = await Promise.all(Array.from({ length: count }, async () => {
    const response = await chat(address);
    await response.text();
    return response.status;
  }));
  child.kill("SIGKILL");
  await child.ended;
  assertEquals(new Set(statuses), new Set([200]));
}

for (const isolates of [1, 2]) {
  longTest(
    `every reply that was complete before kill -9 is charged once, in both modes and after a change of mode, with ${isolates} threads`,
    () => onStage((stage) => assertChargedOnce(stage), isolates),
  );
}

async function assertChargedOnce({ start, run, journal }: Stage): Promise<void> {
  let calls = 0;
  for (const mode of ["process", "power", "process"] as const) {
    const gateway = await start(mode);
    await Promise.all(Array.from({ length: 10 }, () => chat(gateway.address))); // threads lease their parts
    await callAndKill(gateway, 20);
    calls += 30;
  }
  // The stopped store shows the charges of the journal, and verifies.
  const shown = JSON.parse((await run("accounts", "show", "demo")).output());
  assertEquals(shown.balance, decimal(BALANCE - COST * BigInt(calls)));
  const verified = await run("ledger", "verify");
  assertMatch(verified.output(), /^1 account, \d+ ledger entries, 0 differences$/m);
  const { child, address } = await start("power");
  assertEquals(await accountMoney({ address, adminKey: ADMIN_KEY }).balance(), BALANCE - COST * BigInt(calls));
  child.kill("SIGTERM");
  assertEquals((await child.ended).code, 0, child.log());
  assertEquals([...Deno.readDirSync(journal)], [], "a stop leaves no journal");
}

for (const isolates of [1, 2]) {
  Deno.test(`the admin API shows a charge right after its reply, with ${isolates} threads`, () =>
    onStage(async ({ start }) => {
      const { child, address } = await start("process");
      const money = accountMoney({ address, adminKey: ADMIN_KEY });
      for (let calls = 1n; calls <= 12n; calls++) {
        await (await chat(address)).text();
        assertEquals(await money.balance(), BALANCE - COST * calls);
      }
      child.kill("SIGTERM");
      await child.ended;
    }, isolates));
}

Deno.test("a damaged journal is logged and kept, its whole records are charged, and the gateway starts", () =>
  onStage(async ({ start, journal }) => {
    await callAndKill(await start("process"), 1);
    const name = itemAt([...Deno.readDirSync(journal)].filter((file) => file.name.endsWith(".log")), 0).name;
    await Deno.writeFile(`${journal}/${name}`, new TextEncoder().encode("\ngarbage\n\0\0"), { append: true });
    const { child, address } = await start("process");
    await eventually(() => /"journal_damaged".*000000000001\.log\.damaged/.test(child.log()));
    assertEquals(await accountMoney({ address, adminKey: ADMIN_KEY }).balance(), BALANCE - COST);
    await (await chat(address)).text();
    child.kill("SIGTERM");
    await child.ended;
    assertEquals([...Deno.readDirSync(journal)].map((file) => file.name), [`${name}.damaged`]);
  }));

Deno.test("without a writable journal a reply waits for the ledger", () =>
  onStage(async ({ start, journal }) => {
    for (const mode of ["process", "power"] as const) {
      const gateway = await start(mode);
      await Deno.remove(journal, { recursive: true });
      await Deno.writeTextFile(journal, "a file where the folder was");
      assertEquals((await chat(gateway.address)).status, 200);
      await eventually(() => gateway.child.log().includes('"journal_unwritable"'));
      gateway.child.kill("SIGKILL");
      await gateway.child.ended;
      await Deno.remove(journal);
    }
    const { child, address } = await start("process");
    assertEquals(await accountMoney({ address, adminKey: ADMIN_KEY }).balance(), BALANCE - 2n * COST);
    child.kill("SIGTERM");
    await child.ended;
  }));

function decimal(amount: bigint): string {
  const digits = amount.toString().padStart(11, "0");
  return `${digits.slice(0, -10)}.${digits.slice(-10)}`;
}
