import { assertEquals, assertMatch } from "@std/assert";
import { createApp } from "../../src/entry/app/app.ts";
import { openServices, type Services } from "../../src/entry/app/opening/services.ts";
import { own } from "../../src/entry/app/opening/own.ts";
import { type Config, readConfig } from "../../src/config/config.ts";
import { systemClock } from "../../src/platform/lib/basics/clock.ts";
import { silentLog } from "../../src/platform/lib/basics/log.ts";
import { itemAt } from "../support/items.ts";

/** What an earlier process can leave behind in the files folder. */
const LEFTOVERS = [
  "files/uploads/form-1",
  "files/.part-copy-1",
  "files/caches/.part-media-1",
  "files/01a1fdeb-b7c5-7000-bf54-5f9acd06a174-in-1.png",
];

/** Runs a test in a folder that holds an existing store's left-over files. */
async function inFolder(run: (folder: string, config: Config) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    for (const directory of ["files/uploads", "files/caches"]) {
      await Deno.mkdir(`${folder}/${directory}`, { recursive: true });
    }
    for (const path of LEFTOVERS) await Deno.writeTextFile(`${folder}/${path}`, "left over");
    const config = {
      server: { port: 0 },
      store: `kv:${folder}/store.db`,
      files: `${folder}/files`,
      accounts: [{ id: "demo", balance: "5.00" }],
      providers: {},
      models: [],
    };
    await run(folder, readConfig(JSON.stringify(config), "test.json", () => undefined));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

const open = (config: Config) => openServices({ config, log: silentLog, clock: systemClock, random: () => 0.5 });

async function leftIn(folder: string): Promise<string[]> {
  const found = await Promise.all(LEFTOVERS.map((path) => Deno.stat(`${folder}/${path}`).then(() => path, () => null)));
  return found.filter((path) => path !== null);
}

async function entriesIn({ store }: Services): Promise<number> {
  const all = await Promise.all(
    [["billing"], ["video"], ["files"], ["webhook"]].map((prefix) => store.scan(prefix, { limit: 10 })),
  );
  return all.flat().length;
}

Deno.test("openServices() leaves the files folder and the store as they are", async () => {
  await inFolder(async (folder, config) => {
    const services = await open(config);
    assertEquals(await leftIn(folder), LEFTOVERS);
    assertEquals(await entriesIn(services), 0);
    await services.close();
    assertEquals(await leftIn(folder), LEFTOVERS);
  });
});

Deno.test("own() creates the configured accounts, makes a signing key and removes left-over files", async () => {
  await inFolder(async (folder, config) => {
    const services = await own(await open(config));
    assertEquals(services.createdAccounts.created.map(({ id }) => id), ["demo"]);
    assertEquals(services.signingKeys.keys.length, 1);
    assertEquals(await leftIn(folder), []);
    await services.close();
  });
});

Deno.test("own() changes nothing when it runs again", async () => {
  await inFolder(async (_folder, config) => {
    const first = await own(await open(config));
    const key = itemAt(first.signingKeys.keys, 0).id;
    await first.close();
    const second = await own(await open(config));
    assertEquals(second.createdAccounts, { created: [], keysAdded: 0 });
    assertEquals(second.signingKeys.keys.map(({ id }) => id), [key]);
    await second.close();
  });
});

Deno.test("createApp() listens only after start()", async () => {
  await inFolder(async (_folder, config) => {
    const services = await own(await open(config));
    const app = createApp(services);
    const running = await app.start();
    assertMatch(running.address, /^http:\/\/127\.0\.0\.1:\d+$/);
    const response = await fetch(`${running.address}/readyz`);
    assertEquals([response.status, await response.text()], [200, "ready\n"]);
    await running.stop();
  });
});
