import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { CHAT, sendAs } from "../e2e/caller_protocols.ts";
import { type GatewayProcess, startGatewayProcess } from "../support/gateway_process.ts";
import { atLeast } from "../support/items.ts";
import { closedOrigin } from "../support/video_gateway.ts";

/** A folder in which commands are run as an operator types them. */
class Folder {
  /** Of the configured address, where nobody listens unless a test says so. */
  readonly port = new URL(closedOrigin()).port;

  private constructor(readonly path: string) {}

  static async with(run: (folder: Folder) => Promise<void>): Promise<void> {
    const path = await Deno.makeTempDir();
    try {
      await run(new Folder(path));
    } finally {
      await Deno.remove(path, { recursive: true });
    }
  }

  start(args: readonly string[], env: Record<string, string> = {}): GatewayProcess {
    return startGatewayProcess({ args, folder: this.path, env: { PORT: this.port, ...env } });
  }

  async gateway(args: readonly string[], env?: Record<string, string>) {
    const process = this.start(args, env);
    const [, address] = atLeast(await process.until(/ready at (http:\S+)/), 2);
    return {
      address,
      process,
      async stop(signal: Deno.Signal = "SIGTERM") {
        process.kill(signal);
        await process.ended;
      },
    };
  }

  async run(line: string, env?: Record<string, string>) {
    const process = this.start(line.split(" "), env);
    const { code } = await process.ended;
    const complaint = process.log().trim();
    assert(!/^ +at /m.test(complaint), complaint);
    return { code, said: process.output(), complaint };
  }

  async config(name: string, fields: Record<string, unknown>): Promise<string> {
    await Deno.writeTextFile(`${this.path}/${name}`, JSON.stringify({ providers: {}, models: [], ...fields }));
    return name;
  }

  async has(name: string): Promise<boolean> {
    return await Deno.stat(`${this.path}/${name}`).then(() => true, () => false);
  }
}

const idsIn = (said: string) => JSON.parse(said).data.map(({ id }: { id: string }) => id);

Deno.test("while dev runs, commands use its store and new keys work immediately", async () => {
  await Folder.with(async (folder) => {
    const dev = await folder.gateway(["dev"], { PORT: "0" });
    const created = await folder.run("accounts create acme --balance 5");
    assertEquals([created.code, JSON.parse(created.said).balance], [0, "5.0000000000"], created.complaint);
    assertStringIncludes(created.complaint, `"switchyard dev" at ${dev.address}, store ./data/dev.db`);
    const { secret } = JSON.parse((await folder.run("keys create acme")).said);
    assertEquals((await sendAs(CHAT, { address: dev.address, key: secret })).status, 200);
    assertEquals(idsIn((await folder.run("accounts list")).said), ["acme", "demo"]);
    assertEquals((await folder.run("providers list")).code, 0);
    const proxy = { HTTP_PROXY: closedOrigin(), http_proxy: closedOrigin(), ALL_PROXY: closedOrigin() };
    assertEquals(idsIn((await folder.run("accounts list", proxy)).said), ["acme", "demo"]);
    const named = await folder.run(`accounts list --gateway ${dev.address}`);
    assertEquals(idsIn(named.said), ["acme", "demo"]);
    const verify = await folder.run("ledger verify");
    assertEquals(verify.code, 1);
    assertStringIncludes(verify.complaint, `while a gateway runs at ${dev.address}: stop the gateway first`);
    assertEquals(await folder.has("data/switchyard.db"), false);
    await dev.stop();

    const stopped = await folder.run("accounts list");
    assertEquals([stopped.code, stopped.said], [1, ""]);
    assertMatch(
      stopped.complaint,
      /^switchyard: No gateway runs, and there is no store at .*"\.\/data\/dev\.db"|dev\.db/,
    );
    assertEquals(await folder.has("data/switchyard.db"), false);
  });
});

Deno.test("the lock of a killed gateway is ignored", async () => {
  await Folder.with(async (folder) => {
    const dev = await folder.gateway(["dev"], { PORT: "0" });
    await dev.stop("SIGKILL");
    assertStringIncludes(await Deno.readTextFile(`${folder.path}/data/dev.db.lock`), dev.address);
    const listed = await folder.run("accounts list");
    assertEquals(listed.code, 1);
    assertStringIncludes(listed.complaint, "No gateway runs, and there is no store");
    const again = await folder.gateway(["dev"], { PORT: "0" });
    assertEquals(idsIn((await folder.run("accounts list")).said), ["demo"]);
    await again.stop();
  });
});

Deno.test("only accounts create creates a missing store, with a notice", async () => {
  await Folder.with(async (folder) => {
    for (
      const line of [
        "accounts list",
        "accounts show acme",
        "accounts credit acme 5",
        "accounts adjust acme -5 --reason slip",
        "keys create acme",
        "ledger list acme",
        "ledger verify",
        "tasks list",
        "deliveries list",
        "webhook-secrets rotate acme",
        "signing-keys rotate",
      ]
    ) {
      const { code, said, complaint } = await folder.run(line);
      assertEquals([code, said, complaint.split("\n").length], [1, "", 1], line);
      assertStringIncludes(complaint, 'data/switchyard.db" (setting "store")', line);
    }
    assertEquals(await folder.has("data"), false);
    const created = await folder.run("accounts create acme --balance 5");
    assertEquals(created.code, 0);
    assertStringIncludes(created.complaint, "there was no store: created ");
    assertStringIncludes(created.complaint, "/data/switchyard.db");
    const second = await folder.run("accounts create zeta");
    assertEquals([second.code, second.complaint], [0, ""]);
    assertEquals(idsIn((await folder.run("accounts list")).said), ["acme", "zeta"]);
    const adjusted = await folder.run("accounts adjust acme -4.20 --reason slip");
    assertEquals(JSON.parse(adjusted.said).balance, "0.8000000000");
    assertStringIncludes((await folder.run("ledger verify")).said, "0 differences");
  });
});

Deno.test("commands refuse a store in memory of a stopped gateway", async () => {
  await Folder.with(async (folder) => {
    const { code, complaint } = await folder.run("accounts create acme", { SWITCHYARD_STORE: "kv::memory:" });
    assertEquals([code, complaint], [
      1,
      "switchyard: No gateway runs, and a store in memory exists only while its gateway runs",
    ]);
  });
});

Deno.test("concurrent commands on a stopped store wait for each other", async () => {
  await Folder.with(async (folder) => {
    await folder.run("accounts create first");
    const made = await Promise.all(["a", "b", "c"].map((id) => folder.run(`accounts create ${id}`)));
    assertEquals(made.map(({ code, complaint }) => [code, complaint]), [[0, ""], [0, ""], [0, ""]]);
    assertEquals(idsIn((await folder.run("accounts list")).said), ["a", "b", "c", "first"]);
  });
});

const KEY = "admin-key-of-the-tests";

Deno.test("findGateway() finds a gateway by its store, or by its address when the store is not visible", async () => {
  await Folder.with(async (folder) => {
    const store = `kv:${folder.path}/own.db`;
    const own = await folder.config("own.json", { server: { admin_key: KEY }, store, accounts: [{ id: "demo" }] });
    const byStore = await folder.gateway(["serve", "--config", own], { PORT: "0" });
    assertEquals(idsIn((await folder.run(`accounts list --config ${own}`)).said), ["demo"]);
    await byStore.stop();

    const byAddress = await folder.gateway(["serve", "--config", own]);
    const other = await folder.config("other.json", {
      server: { admin_key: KEY },
      store: `kv:${folder.path}/other.db`,
    });
    for (const line of ["accounts create acme", "accounts list"]) {
      assertEquals((await folder.run(`${line} --config ${other}`)).code, 0);
    }
    assertEquals(idsIn((await folder.run(`accounts list --config ${own}`)).said), ["acme", "demo"]);
    assertEquals(await folder.has("other.db"), false);
    const unseen = { SWITCHYARD_STORE: `kv:${folder.path}/own.json/store.db` }; // Not a folder, so the store cannot be read.
    assertEquals(idsIn((await folder.run(`accounts list --config ${own}`, unseen)).said), ["acme", "demo"]);
    const wrong = await folder.run(`accounts list --config ${own}`, { SWITCHYARD_ADMIN_KEY: "another-admin-key" });
    assertEquals(wrong.code, 1);
    assertStringIncludes(wrong.complaint, `The gateway at ${byAddress.address} refuses the admin key`);
    await byAddress.stop();
  });
});

Deno.test("a gateway without an admin key is distinguished from a stopped one", async () => {
  await Folder.with(async (folder) => {
    const own = await folder.config("own.json", { store: `kv:${folder.path}/own.db` });
    const gateway = await folder.gateway(["serve", "--config", own]);
    const without = await folder.run(`accounts create acme --config ${own}`);
    assertEquals([without.code, without.said], [2, ""]);
    assertStringIncludes(
      without.complaint,
      `the gateway at ${gateway.address} runs, and server.admin_key is not set`,
    );
    const late = await folder.run(`accounts create acme --config ${own}`, { SWITCHYARD_ADMIN_KEY: KEY });
    assertEquals(late.code, 1);
    assertStringIncludes(
      late.complaint,
      `The gateway at ${gateway.address} has no admin API: set its server.admin_key`,
    );
    await gateway.stop();
    assertEquals((await folder.run(`accounts create acme --config ${own}`)).code, 0);
  });
});

Deno.test("with two gateways in a folder, --gateway must select one", async () => {
  await Folder.with(async (folder) => {
    await folder.config("switchyard.json", { server: { admin_key: KEY }, accounts: [{ id: "own" }] });
    const own = await folder.gateway(["serve"]);
    const dev = await folder.gateway(["dev"], { PORT: "0" });
    const unclear = await folder.run("accounts list");
    assertEquals([unclear.code, unclear.said], [2, ""]);
    assertStringIncludes(
      unclear.complaint,
      `two gateways run, one at ${own.address} and the one of "dev" at ${dev.address}`,
    );
    assertEquals(idsIn((await folder.run("accounts list --config switchyard.json")).said), ["own"]);
    assertEquals(idsIn((await folder.run(`accounts list --gateway ${own.address}`)).said), ["own"]);
    assertEquals(idsIn((await folder.run(`accounts list --gateway ${dev.address}`)).said), ["demo"]);
    await own.stop();
    assertEquals(idsIn((await folder.run("accounts list")).said), ["demo"]);
    await dev.stop();
  });
});

Deno.test("a store or files folder that is not writable gives one line that names the setting", async () => {
  await Folder.with(async (folder) => {
    await Deno.writeTextFile(`${folder.path}/file`, "");
    const outside = `${folder.path}-outside`;
    for (
      const [setting, env, reason] of [
        ["store", { SWITCHYARD_STORE: `kv:${outside}/store.db` }, "no permission to write there"],
        ["store", { SWITCHYARD_STORE: `kv:${folder.path}/file/store.db` }, "folder"],
        ["files", { SWITCHYARD_FILES: outside }, "no permission to write there"],
        ["files", { SWITCHYARD_FILES: `${folder.path}/file` }, "a file exists where a folder is expected"],
      ] as const
    ) {
      const { code, complaint } = await folder.run("serve", { ...env, SWITCHYARD_LOG_LEVEL: "error" });
      assertEquals([code, complaint.split("\n").length], [1, 1], complaint);
      assertStringIncludes(complaint, `(setting "${setting}")`);
      assertStringIncludes(complaint, reason);
    }
    const created = await folder.run("accounts create acme", { SWITCHYARD_STORE: `kv:${outside}/store.db` });
    assertEquals(created.code, 1);
    assertStringIncludes(created.complaint, '(setting "store")');
  });
});

Deno.test("the admin key of the environment takes precedence over the one of dev", async () => {
  await Folder.with(async (folder) => {
    const dev = await folder.gateway(["dev"], { PORT: "0", SWITCHYARD_ADMIN_KEY: KEY });
    assertEquals(idsIn((await folder.run("accounts list", { SWITCHYARD_ADMIN_KEY: KEY })).said), ["demo"]);
    const without = await folder.run("accounts list");
    assertEquals([without.code, without.said], [2, ""]);
    assertStringIncludes(without.complaint, "server.admin_key is not set");
    assertEquals(await folder.has("data/dev.db.admin-key"), false);
    await dev.stop();
  });
});
