import { assert, assertEquals, assertMatch, assertStringIncludes, fail } from "@std/assert";
import { newApiKey } from "../../src/money/billing/keys/api_key.ts";
import { readMoney } from "../../src/platform/lib/basics/money.ts";
import { type Sandbox, startSandbox } from "../../src/sandbox/mod.ts";
import { textModel } from "../support/gateway.ts";
import { type GatewayProcess, type ProcessOptions, startGatewayProcess } from "../support/gateway_process.ts";
import { atLeast, itemAt } from "../support/items.ts";
import { accountMoney, eventually } from "../support/account_money.ts";
import { CALLER_PROTOCOLS, CHAT, CONTENT, sendAs } from "./caller_protocols.ts";

/** Of a gateway that runs out of them. */
const DESCRIPTORS = 256;

/** A folder with a configuration, and a vendor. */
interface Place {
  readonly folder: string;
  readonly sandbox: Sandbox;
  readonly key: string;
  readonly adminKey: string;
  start(options?: Pick<ProcessOptions, "descriptors" | "env">): GatewayProcess;
  remove(): Promise<void>;
}

async function makePlace(graceSeconds: number): Promise<Place> {
  const folder = await Deno.makeTempDir();
  const sandbox = await startSandbox({ port: 0 });
  const [key, adminKey] = [newApiKey(), newApiKey()];
  const config = {
    server: { port: 0, admin_key: adminKey, shutdown_grace: graceSeconds },
    store: `kv:${folder}/store.db`,
    files: `${folder}/files`,
    accounts: [{ id: "demo", balance: "25.00", keys: [key] }],
    providers: { vendor: { kind: "openai", base_url: sandbox.baseUrls.openai, api_key: "vendor-key", speaks: "both" } },
    models: [textModel("sandbox/chat-1", ["vendor"])],
  };
  const path = `${folder}/switchyard.json`;
  await Deno.writeTextFile(path, JSON.stringify(config));
  return {
    folder,
    sandbox,
    key,
    adminKey,
    start: (options) => startGatewayProcess({ args: ["serve", "--config", path], folder, ...options }),
    async remove() {
      await sandbox.stop();
      await Deno.remove(folder, { recursive: true });
    },
  };
}

async function addressOf(process: GatewayProcess): Promise<string> {
  return itemAt(await process.until(/ready at (http:\S+)/), 1);
}

const ONE = 2n * 10_000n + 4n * 20_000n; // "hello there" and "You said: hello there"

Deno.test("SIGTERM lets a stream finish, exits with 0 and loses no charge", async () => {
  const place = await makePlace(20);
  const process = place.start();
  const address = await addressOf(process);
  const { key } = place;
  assertEquals((await sendAs(CHAT, { address, key })).status, 200);
  const streaming = sendAs(CHAT, { address, key }, { text: "[[gap 8]] [[words 100]] go", stream: true });
  await eventually(() => place.sandbox.requests.length === 2);
  process.kill("SIGTERM");
  const { text } = await streaming;
  assertStringIncludes(text, "word100");
  assertStringIncludes(text, "data: [DONE]");
  assertEquals((await process.ended).code, 0);
  assertMatch(process.log(), /"stopped"/);

  const again = place.start();
  const account = accountMoney({ address: await addressOf(again), adminKey: place.adminKey });
  assertEquals(await account.balance(), readMoney("25.00") - ONE - (5n * 10_000n + 100n * 20_000n));
  again.kill("SIGTERM");
  assertEquals((await again.ended).code, 0);
  await place.remove();
});

Deno.test("SIGTERM ends what exceeds the grace period with an error event of its format, and charges the delivered part", async () => {
  const place = await makePlace(0.2);
  const process = place.start();
  const address = await addressOf(process);
  const { key } = place;
  const text = "[[gap 20]] [[words 5000]] go";
  const streams = CALLER_PROTOCOLS.map((face) =>
    sendAs(face, { address, key }, { model: "sandbox/chat-1", text, stream: true })
  );
  await eventually(() => place.sandbox.requests.length === 4);
  process.kill("SIGTERM");
  for (const answer of await Promise.all(streams)) {
    assertMatch(answer.text.trimEnd().split("\n\n").at(-1)!, /error/);
    assertStringIncludes(answer.text, "shutting down");
  }
  assertEquals((await process.ended).code, 0);
  await place.remove();
});

Deno.test("kill -9 loses no charge of a delivered reply", async () => {
  const place = await makePlace(1);
  const process = place.start();
  const address = await addressOf(process);
  const { key } = place;
  const told = { answered: 0, begun: 0 };
  const callers = Array.from({ length: 8 }, async () => {
    for (;;) {
      told.begun++;
      const answer = await sendAs(CHAT, { address, key }).catch(() => null);
      if (answer?.status !== 200) return;
      told.answered++;
    }
  });
  await eventually(() => told.answered >= 150);
  process.kill("SIGKILL");
  await Promise.all(callers);
  await process.ended;

  const again = place.start();
  const account = accountMoney({ address: await addressOf(again), adminKey: place.adminKey });
  const charged = readMoney("25.00") - await account.balance();
  assertEquals(charged % ONE, 0n);
  const count = Number(charged / ONE);
  assert(count >= told.answered && count <= told.begun, `${count} charged, ${told.answered} of ${told.begun} answered`);
  again.kill("SIGTERM");
  await again.ended;
  await place.remove();
});

Deno.test("a second process on the same store is rejected with one clear line", async () => {
  const place = await makePlace(1);
  const first = place.start();
  const address = await addressOf(first);
  const second = place.start();
  const { code } = await second.ended;
  assert(code !== 0);
  const said = (second.output() + second.log()).trim().split("\n");
  assertEquals(said.length, 1, said.join("\n"));
  assertMatch(itemAt(said, 0), new RegExp(`store\\.db.*in use by process ${first.pid}`));
  assertEquals((await sendAs(CHAT, { address, key: place.key })).status, 200);
  first.kill("SIGTERM");
  await first.ended;
  await place.remove();
});

Deno.test("the gateway survives more connections than there are file descriptors", async () => {
  const place = await makePlace(1);
  // With the watch of the npm that started it, which starts a thread when connections come already.
  const process = place.start({ descriptors: DESCRIPTORS, env: { npm_command: "exec" } });
  const address = await addressOf(process);
  const { key } = place;
  const port = Number(new URL(address).port);
  const connections: Deno.Conn[] = [];
  let refused = 0;
  for (let tries = 0; tries < 400; tries++) {
    const connection = await Deno.connect({ hostname: "127.0.0.1", port }).catch(() => null);
    if (connection === null) refused++;
    else connections.push(connection);
  }
  // The listener is closed for moments in which no descriptor is left, so the number of refused connections varies.
  assert(refused > 0 || connections.length > DESCRIPTORS, `${connections.length} connections used too few descriptors`);
  connections.forEach((connection) => connection.close());
  let last: unknown = null;
  const answer = await eventually(async () => {
    const asked = await sendAs(CHAT, { address, key }).catch((error) => (last = error, null));
    if (asked?.status === 200) return asked;
    if (asked !== null) last = asked;
    await new Promise((resolve) => setTimeout(resolve, 20));
    return null;
  }).catch(() => fail(`It does not answer again: ${Deno.inspect(last)}\n${process.log()}`));
  assertEquals(CHAT.textIn(answer.json), "You said: hello there");
  process.kill("SIGTERM");
  assertEquals((await process.ended).code, 0);
  await place.remove();
});

Deno.test("dev prints an address, a key and curl lines that work unchanged", async () => {
  const folder = await Deno.makeTempDir();
  const process = startGatewayProcess({ args: ["dev"], folder, env: { PORT: "0" } });
  const address = await addressOf(process);
  const [, key] = atLeast(await process.until(/SWITCHYARD_KEY=(sk-sy-\w+)\n/), 2);
  await process.until(/video-1[^\n]*\n/);
  const lines = process.output().split(/\n\s*\n/).map((block) => block.trim()).filter((block) =>
    block.startsWith("curl ")
  );
  assert(lines.length >= 3, process.output());
  for (const line of lines) {
    const args = ["-c", line.replace(/^curl /, "curl -sS -f ")];
    const { code, stdout } = await new Deno.Command("bash", { args, env: { SWITCHYARD_KEY: `${key}` } }).output();
    const said = new TextDecoder().decode(stdout);
    assertEquals(code, 0, `${line}: ${said}`);
    assertMatch(said, /You|"created"|polling_url/, line);
  }
  const answer = await sendAs(CONTENT, { address, key }, { model: "sandbox/any-1" });
  assertEquals([answer.status, CONTENT.textIn(answer.json)], [200, "You said: hello there"]);
  process.kill("SIGTERM");
  assertEquals((await process.ended).code, 0);
  await Deno.remove(folder, { recursive: true });
});
