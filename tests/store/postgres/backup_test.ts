import { assert, assertEquals, assertGreaterOrEqual, assertMatch } from "@std/assert";
import { run } from "../../../src/entry/cli/run.ts";
import { callerOf } from "../../support/gateway_call.ts";
import { startGatewayProcess } from "../../support/gateway_process.ts";
import { textModel } from "../../support/gateway.ts";
import { itemAt } from "../../support/items.ts";
import { installedPrograms } from "../../support/postgres_programs.ts";
import { isPostgresWanted, startPostgres } from "../../support/postgres_server.ts";
import { chargedRequests, untilCharged } from "./charged_replies.ts";
import { openStream, startHeldVendor } from "./held_streams.ts";
import { untilSo } from "../../support/patience.ts";

const ADMIN_KEY = "admin-key-of-the-operator-1";
const KEY = "sk-anna-0123456789abcdef";
const CHAT = { model: "acme/m", messages: [{ role: "user", content: "hi" }] };

/** The blocks of commands of docs/scaling.md that make and restore a backup, each as its lines. */
async function documentedCommands(): Promise<string[][]> {
  const page = await Deno.readTextFile(new URL("../../../docs/scaling.md", import.meta.url));
  const section = page.split("### Backup and restore")[1]?.split("\n### ")[0] ?? "";
  return [...section.matchAll(/```sh\n([^]*?)```/g)].map(([, block = ""]) => block.trim().split("\n"));
}

/** The requests of the account in the log of a gateway. */
async function loggedRequests(address: string): Promise<number> {
  const admin = callerOf(address, { authorization: `Bearer ${ADMIN_KEY}` });
  return (await admin("GET", "/admin/v1/requests?account=demo")).json.data.length;
}

if (isPostgresWanted) {
  const programs = await installedPrograms("pg_dump");
  const reason = programs === null ? " (skipped: pg_dump is not installed)" : "";
  Deno.test({
    name: `backup with pg_dump: the commands of docs/scaling.md restore all accounts and charges${reason}`,
    ignore: programs === null,
    fn: () => backupAndRestore(programs ?? ""),
  });
}

async function backupAndRestore(programs: string): Promise<void> {
  const server = await startPostgres();
  await server.run("create database live");
  await server.run("create database restored");
  const folder = await Deno.realPath(await Deno.makeTempDir());
  const vendor = startHeldVendor();
  const acme = { kind: "openai", base_url: vendor.upstream.baseUrl, api_key: "key-of-the-provider", speaks: "chat" };
  const configure = async (name: string, database: string) => {
    const file = `${folder}/${name}.json`;
    await Deno.mkdir(`${folder}/${name}`);
    const config = {
      server: { port: 0, admin_key: ADMIN_KEY },
      store: server.url(database),
      files: `${folder}/${name}/files`,
      accounts: [{ id: "demo", balance: "25.00", keys: [KEY] }],
      providers: { acme },
      models: [textModel("acme/m", ["acme"])],
      egress: { allow: ["127.0.0.1/32"] },
    };
    await Deno.writeTextFile(file, JSON.stringify(config));
    return file;
  };
  const start = async (file: string) => {
    const child = startGatewayProcess({ args: ["serve", "--config", file], folder });
    const address = itemAt(await child.until(/is ready at (\S+)/), 1);
    return { child, address, adminKey: ADMIN_KEY, call: callerOf(address, { authorization: `Bearer ${KEY}` }) };
  };
  /** Runs commands of the page, of a gateway whose folder is that of `name`. */
  const follow = async (lines: readonly string[], name: string, database: string) => {
    for (const line of lines) {
      const command = line.replaceAll("/srv/switchyard/", `${folder}/${name}/`);
      if (command.startsWith("switchyard ")) {
        assertEquals(await run([...command.split(" ").slice(1), "--config", `${folder}/${name}.json`]), 0);
        continue;
      }
      const env = {
        PATH: `${programs}:${Deno.env.get("PATH")}`,
        DATABASE: server.url(database),
        BACKUP: `${folder}/backup`,
      };
      const { success, stderr } = await new Deno.Command("sh", { args: ["-c", command], env }).output();
      assert(success, `${command}: ${new TextDecoder().decode(stderr)}`);
    }
  };

  // The first gateway ends with a charge that only its journal has, as it is killed while the database is away.
  const lost = await start(await configure("lost", "live"));
  for (let n = 0; n < 3; n++) assertEquals((await lost.call("POST", "/v1/chat/completions", CHAT)).status, 200);
  await untilCharged(lost, 3);
  // The log of requests is written later than charges, and what a killed gateway has not written of it is lost.
  await untilSo(async () => await loggedRequests(lost.address) >= 3);
  let replies = 3;
  const stream = await openStream(lost.address, KEY);
  await server.whileDown(async () => {
    for (let status = 0; status !== 503; replies += Number(status === 200)) {
      ({ status } = await lost.call("POST", "/v1/chat/completions", CHAT));
    }
    vendor.release();
    assertMatch(await stream.text, /data: \[DONE\]/);
    replies++;
    lost.child.kill("SIGKILL");
    await lost.child.ended;
  });

  // The second one answers callers while the backup is made.
  const running = await start(await configure("running", "live"));
  assertEquals((await running.call("POST", "/v1/chat/completions", CHAT)).status, 200);
  await untilCharged(running, 4);
  replies++;
  await Deno.mkdir(`${folder}/backup`);
  const [backup = [], restore = []] = await documentedCommands();
  await follow(backup, "lost", "live");
  assertEquals((await running.call("POST", "/v1/chat/completions", CHAT)).status, 200);
  running.child.kill("SIGTERM");
  await running.child.ended;

  const file = await configure("new", "restored");
  await follow(restore, "new", "restored");
  const restored = await start(file);
  await untilCharged(restored, replies);
  const charged = await chargedRequests(restored);
  assertEquals([charged.length, new Set(charged).size], [replies, replies]);
  assert(charged.includes(stream.requestId));
  assertGreaterOrEqual(await loggedRequests(restored.address), 3);
  assertEquals((await restored.call("POST", "/v1/chat/completions", CHAT)).status, 200);
  await untilCharged(restored, replies + 1);
  restored.child.kill("SIGTERM");
  assertEquals((await restored.child.ended).code, 0, restored.child.log());
  await vendor.upstream.stop();
  await server.stop();
  await Deno.remove(folder, { recursive: true });
}
