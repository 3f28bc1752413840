import { assert, assertEquals, assertGreaterOrEqual, assertMatch, assertStringIncludes } from "@std/assert";
import { runCommand } from "../support/command.ts";
import { startGatewayProcess } from "../support/gateway_process.ts";
import { textModel } from "../support/gateway.ts";
import { atLeast } from "../support/items.ts";
import { always, chatReply, startScriptedUpstream } from "../support/scripted_upstream.ts";

const KEY = "sk-anna-0123456789abcdef";
const ADMIN_KEY = "sk-admin-0123456789abcdef";

/** Two places with one configuration: where a gateway runs, and where its backup is restored. */
class Places {
  readonly #vendor = startScriptedUpstream(always(chatReply("hello", { prompt: 10, completion: 5 })));

  private constructor(readonly folder: string) {}

  static async with(run: (places: Places) => Promise<void>): Promise<void> {
    const places = new Places(await Deno.makeTempDir());
    try {
      await places.configure("old");
      await places.configure("new");
      await run(places);
    } finally {
      await places.#vendor.stop();
      await Deno.remove(places.folder, { recursive: true });
    }
  }

  path(name: string): string {
    return `${this.folder}/${name}`;
  }

  async configure(place: string, fields: Record<string, unknown> = {}): Promise<void> {
    const config = {
      server: { port: 0, admin_key: ADMIN_KEY, isolates: 1 },
      accounts: [{ id: "demo", balance: "25.00", keys: [KEY] }],
      providers: { acme: { kind: "openai", base_url: this.#vendor.baseUrl, api_key: "vendor-key", speaks: "chat" } },
      models: [textModel("acme/m", ["acme"])],
      store: `kv:${this.path(place)}/store.db`,
      files: `${this.path(place)}/files`,
      ...fields,
    };
    await Deno.mkdir(this.path(place), { recursive: true });
    await Deno.writeTextFile(this.path(`${place}.json`), JSON.stringify(config));
  }

  async serve(place: string) {
    const child = startGatewayProcess({
      args: ["serve", "--config", this.path(`${place}.json`)],
      folder: this.folder,
    });
    const [, address] = atLeast(await child.until(/is ready at (\S+)/), 2);
    const stop = async (signal: Deno.Signal) => {
      child.kill(signal);
      await child.ended;
    };
    return { address, stop, log: child.log };
  }

  async run(place: string, ...words: string[]) {
    const ended = await runCommand([...words, "--config", this.path(`${place}.json`)]);
    assert(!/^ +at /m.test(ended.complaint), ended.complaint);
    return ended;
  }

  /** The number of charged requests in the ledger of a stopped gateway. */
  async charges(place: string): Promise<number> {
    const { said, complaint, code } = await this.run(place, "usage", "--format", "json");
    assertEquals(code, 0, complaint);
    const { data } = JSON.parse(said) as { data: { requests: number }[] };
    return data.reduce((sum, { requests }) => sum + requests, 0);
  }

  async names(place: string): Promise<string[]> {
    return (await Array.fromAsync(Deno.readDir(this.path(place)), ({ name }) => name)).sort();
  }
}

async function chat(address: string): Promise<boolean> {
  try {
    const response = await fetch(`${address}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${KEY}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "acme/m", messages: [{ role: "user", content: "hello" }] }),
    });
    await response.text();
    return response.status === 200;
  } catch {
    return false;
  }
}

const chats = async (address: string, count: number) =>
  (await Promise.all(Array.from({ length: count }, () => chat(address)))).filter(Boolean).length;

Deno.test("a backup of a running gateway has every charge from before it, through kills and a restore", async () => {
  await Places.with(async (places) => {
    const first = await places.serve("old");
    let charged = await chats(first.address, 20);
    await first.stop("SIGKILL");
    const second = await places.serve("old");
    charged += await chats(second.address, 20);
    assertEquals(charged, 40);
    // A query writes the rows that wait, so the backup has those of the second gateway.
    const logged = await fetch(`${second.address}/admin/v1/requests?limit=100`, {
      headers: { authorization: `Bearer ${ADMIN_KEY}` },
    });
    const { data: loggedRows } = await logged.json() as { data: unknown[] };
    assertGreaterOrEqual(loggedRows.length, 20);

    const load = { isOver: false, charged: 0 };
    const loading = (async () => {
      while (!load.isOver) load.charged += await chats(second.address, 5);
    })();
    const backup = await places.run("old", "backup", places.path("a.tar"));
    load.isOver = true;
    await loading;
    assertEquals([backup.code, backup.complaint], [0, ""]);
    assertMatch(backup.said, /readable only by its owner; it has secrets/);
    assertEquals((await Deno.stat(places.path("a.tar"))).mode! & 0o777, 0o600);
    await second.stop("SIGKILL");

    const restored = await places.run("new", "restore", places.path("a.tar"));
    assertEquals([restored.code, restored.complaint], [0, ""]);
    const verified = await places.run("new", "ledger", "verify");
    assertEquals([verified.code, verified.complaint], [0, ""], verified.said);
    assertStringIncludes(verified.said, " 0 differences");
    const found = await places.charges("new");
    assertGreaterOrEqual(found, charged);
    assert(found <= charged + load.charged, `${found} of ${charged} and ${load.charged}`);

    const third = await places.serve("new");
    assertEquals(await chats(third.address, 3), 3);
    await third.stop("SIGTERM");
    assertEquals(await places.charges("new"), found + 3);
    const rows = await places.run("new", "requests", "list", "--limit", "1000", "--json");
    assertGreaterOrEqual(rows.said.trim().split("\n").length, loggedRows.length + 3);
    const again = await places.run("old", "ledger", "verify");
    assertEquals([again.code, again.complaint], [0, ""]);
    assertEquals(await places.charges("old"), charged + load.charged);
  });
});

Deno.test("a backup that is cut short or altered is refused, and nothing is left behind", async () => {
  await Places.with(async (places) => {
    const gateway = await places.serve("old");
    await chats(gateway.address, 3);
    assertEquals((await places.run("old", "backup", places.path("a.tar"))).code, 0);
    await gateway.stop("SIGTERM");
    const bytes = await Deno.readFile(places.path("a.tar"));
    const refuses = async (content: Uint8Array, reason: string) => {
      await Deno.writeFile(places.path("b.tar"), content);
      const { code, complaint } = await places.run("new", "restore", places.path("b.tar"));
      assertEquals(code, 1);
      assertStringIncludes(complaint, reason);
      assertStringIncludes(complaint, "Nothing was changed");
      assertEquals((await places.names("new")).filter((name) => name !== "store.db.lock"), []);
    };
    await refuses(bytes.subarray(0, bytes.length - 1_024), "it is cut short");
    await refuses(bytes.subarray(0, bytes.length / 2), "it is cut short");
    await refuses(new Uint8Array(), "it is no backup");
    await refuses(new TextEncoder().encode("these are my notes\n".repeat(400)), "it is no backup");
    const altered = bytes.slice();
    altered[20_000] = (altered[20_000] ?? 0) ^ 1;
    await refuses(altered, "the entry store.db is not what was written");
    const at = new TextDecoder("latin1").decode(bytes).lastIndexOf('{"format":1');
    const newer = bytes.slice();
    newer.set(new TextEncoder().encode('{"format":9'), at);
    await refuses(newer, "this version reads format 1");
  });
});

Deno.test("a store that was copied without its log or its journal does not verify until that is accepted", async () => {
  await Places.with(async (places) => {
    const gateway = await places.serve("old");
    await chats(gateway.address, 5);
    const [from, to] = [places.path("old/store.db"), places.path("new/store.db")];
    await Deno.copyFile(from, to);
    const alone = await places.run("new", "ledger", "verify");
    assertEquals(alone.code, 1, alone.said);
    assertStringIncludes(alone.complaint, '"missing":"write_ahead_log"');
    assertStringIncludes(alone.complaint, "its last charges may be missing");

    await Deno.remove(places.path("new"), { recursive: true });
    await Deno.mkdir(places.path("new"));
    await Deno.copyFile(from, to);
    await Deno.copyFile(`${from}-wal`, `${to}-wal`);
    const withLog = await places.run("new", "ledger", "verify");
    assertEquals(withLog.code, 1, withLog.said);
    assertStringIncludes(withLog.complaint, '"missing":"journal_of_charges"');
    const started = await places.serve("new");
    await started.stop("SIGTERM");
    assertEquals((await places.run("new", "ledger", "verify")).code, 1);
    assertEquals((await places.run("new", "ledger", "verify", "--accept-incomplete")).code, 0);
    assertEquals((await places.run("new", "ledger", "verify")).code, 0);

    await gateway.stop("SIGKILL");
    assertEquals((await places.run("old", "ledger", "verify")).code, 0);
    const again = await places.serve("old");
    await again.stop("SIGTERM");
    await Deno.remove(places.path("new"), { recursive: true });
    await Deno.mkdir(places.path("new"));
    await Deno.copyFile(from, to);
    const stopped = await places.run("new", "ledger", "verify");
    assertEquals([stopped.code, stopped.complaint], [0, ""]);
    assertEquals(await places.charges("new"), 5);
  });
});

Deno.test("restore refuses a store in use and one that exists; --replace moves it aside, and files are restored", async () => {
  await Places.with(async (places) => {
    await Deno.mkdir(places.path("old/files/caches"), { recursive: true });
    const gateway = await places.serve("old");
    await chats(gateway.address, 2);
    await Deno.writeTextFile(places.path("old/files/video-1.mp4"), "a video");
    await Deno.writeTextFile(places.path("old/files/caches/media-1.png"), "a picture");
    assertEquals((await places.run("old", "backup", places.path("a.tar"), "--files")).code, 0);
    assertEquals((await places.run("old", "backup", places.path("list.tar"))).code, 0);
    const exists = await places.run("old", "backup", places.path("a.tar"));
    assertEquals(exists.code, 2);
    assertStringIncludes(exists.complaint, "exists already");
    const inUse = await places.run("old", "restore", places.path("a.tar"), "--replace");
    assertEquals(inUse.code, 1);
    assertStringIncludes(inUse.complaint, "it is in use by process");
    await gateway.stop("SIGKILL");
    const present = await places.run("old", "restore", places.path("a.tar"));
    assertEquals(present.code, 1);
    assertStringIncludes(present.complaint, "With --replace, the present store is moved aside");
    const replaced = await places.run("old", "restore", places.path("a.tar"), "--replace");
    assertEquals([replaced.code, replaced.complaint], [0, ""]);
    assertMatch(replaced.said, /moved aside +\S+store\.db\.replaced-\d{8}T\d{6}Z/);
    assertEquals(await places.charges("old"), 2);

    const listed = await places.run("new", "restore", places.path("list.tar"));
    assertStringIncludes(listed.said, "2 of 2 are not in");
    const whole = await places.run("new", "restore", places.path("a.tar"), "--replace");
    assertStringIncludes(whole.said, "all 2 are in");
    assertEquals(await Deno.readTextFile(places.path("new/files/caches/media-1.png")), "a picture");
  });
});

Deno.test("backup of a store in PostgreSQL names the database's own tools without its password", async () => {
  await Places.with(async (places) => {
    await places.configure("old", { store: "postgres://switchyard:hunter2@db.example/switchyard" });
    for (const words of [["backup", places.path("a.tar")], ["restore", places.path("a.tar")]]) {
      const { code, complaint } = await places.run("old", ...words);
      assertEquals(code, 1);
      assertStringIncludes(complaint, "pg_dump");
      assertStringIncludes(complaint, "files.charges");
      assert(!complaint.includes("hunter2"));
    }
  });
});

Deno.test("backup says what is wrong with its arguments and with a missing store", async () => {
  await Places.with(async (places) => {
    assertEquals((await places.run("old", "backup")).code, 2);
    assertEquals((await places.run("old", "restore", places.path("none.tar"))).code, 2);
    const missing = await places.run("old", "backup", places.path("a.tar"));
    assertEquals(missing.code, 1);
    assertStringIncludes(missing.complaint, "run the command where the gateway has its files");
  });
});

Deno.test("while dev runs, a backup is one of its store and its files, unless another store is configured", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const run = async (...args: string[]) => {
      const child = startGatewayProcess({ args, folder });
      const { code } = await child.ended;
      return { code, said: child.output(), complaint: child.log() };
    };
    const dev = startGatewayProcess({ args: ["dev"], folder, env: { PORT: "0" } });
    await dev.until(/is ready at (\S+)/);
    await Deno.writeTextFile(`${folder}/data/dev-files/one.mp4`, "a result");
    const { code, said, complaint } = await run("backup", "dev.tar");
    assertEquals(code, 0, complaint);
    assertStringIncludes(said, 'The store is that of "switchyard dev", which runs in this folder');
    assertMatch(said, /store +\S+\/data\/dev\.db, as of/);
    assertStringIncludes(said, "1 files with 8 bytes in ./data/dev-files");
    await Deno.writeTextFile(`${folder}/own.json`, "{}");
    const named = await run("backup", "named.tar", "--config", "own.json");
    assertEquals(named.code, 1);
    assertStringIncludes(named.complaint, "./data/dev.db, name no configuration and no store");
    dev.kill("SIGTERM");
    await dev.ended;
    const stopped = await run("backup", "stopped.tar");
    assertEquals(stopped.code, 1);
    assertStringIncludes(
      stopped.complaint,
      'to use the store of "switchyard dev", ./data/dev.db, start "switchyard dev"',
    );
    await Deno.copyFile(`${folder}/data/dev.db`, `${folder}/data/switchyard.db`);
    assertMatch((await run("backup", "own.tar")).said, /store +\S+\/data\/switchyard\.db, as of/);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
