import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { startGatewayProcess } from "../support/gateway_process.ts";
import { eventually } from "../support/account_money.ts";

/** Modes of everything below a folder, by path. */
async function modesBelow(folder: string, below = ""): Promise<Record<string, string>> {
  const modes: Record<string, string> = {};
  for await (const { name, isDirectory } of Deno.readDir(`${folder}/${below}`)) {
    const path = below === "" ? name : `${below}/${name}`;
    const about = await Deno.stat(`${folder}/${path}`).catch(() => null);
    if (about === null) continue; // deleted in the meantime
    modes[path] = (about.mode! & 0o777).toString(8);
    if (isDirectory) Object.assign(modes, await modesBelow(folder, path));
  }
  return modes;
}

async function startDev(folder: string) {
  const process = startGatewayProcess({ args: ["dev"], folder, env: { PORT: "0" }, umask: "000" });
  const [, address] = await process.until(/ready at (http:\S+)/);
  const [, key] = await process.until(/SWITCHYARD_KEY=(sk-sy-\w+)\n/);
  return { process, address, key };
}

Deno.test({
  name:
    "store, files, keys and folders are accessible to their owner only, whatever the umask, and others are tightened",
  ignore: Deno.build.os === "windows",
  async fn() {
    const folder = await Deno.makeTempDir();
    const first = await startDev(folder);
    const made = await fetch(`${first.address}/v1/videos`, {
      method: "POST",
      headers: { authorization: `Bearer ${first.key}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "sandbox/video-1", prompt: "A lighthouse" }),
    });
    await made.body?.cancel();
    const modes = await eventually(async () => {
      const modes = await modesBelow(folder);
      return Object.keys(modes).some((path) => /dev-files\/[^.]+\.\w+$/.test(path)) && modes;
    });
    for (const [path, mode] of Object.entries(modes)) {
      const { isDirectory } = await Deno.stat(`${folder}/${path}`).catch(() => ({ isDirectory: mode === "700" }));
      assertEquals(mode, isDirectory ? "700" : "600", path);
    }
    for (const name of ["dev.db", "dev.db-wal", "dev.db-shm", "dev.db.lock", "dev.db.admin-key", "dev-key"]) {
      assert(`data/${name}` in modes, `${name}: ${Object.keys(modes)}`);
    }
    first.process.kill("SIGKILL");
    await first.process.ended;

    const loose = ["dev.db", "dev.db-wal", "dev.db-shm", "dev.db.lock", "dev.db.admin-key", "dev-key"];
    for (const name of loose) await Deno.chmod(`${folder}/data/${name}`, 0o644);
    await Deno.chmod(`${folder}/data/dev-files`, 0o755);
    const again = await startDev(folder);
    const after = await modesBelow(folder);
    for (const name of loose) assertEquals([name, after[`data/${name}`]], [name, "600"]);
    assertEquals(after["data/dev-files"], "700");
    again.process.kill("SIGTERM");
    assertEquals((await again.process.ended).code, 0);
    assertStringIncludes(again.process.log(), '"event":"permissions_tightened"');
    assertStringIncludes(again.process.log(), "its mode was 0644, and is 0600");
    await Deno.remove(folder, { recursive: true });
  },
});

Deno.test("serve prints no generated secret by default, and explains how to get one", async () => {
  for (const isAsked of [false, true]) {
    const folder = await Deno.makeTempDir();
    const config = { accounts: [{ id: "acme" }], providers: {}, models: [] };
    await Deno.writeTextFile(`${folder}/switchyard.json`, JSON.stringify(config));
    const args = isAsked ? ["serve", "--show-secrets"] : ["serve"];
    const process = startGatewayProcess({ args, folder, env: { PORT: "0" } });
    await process.until(/ready at (http:\S+)/);
    process.kill("SIGTERM");
    await process.ended;
    assertEquals(/whsec_/.test(process.output() + process.log()), isAsked);
    if (!isAsked) {
      assertStringIncludes(process.output(), '"switchyard webhook-secrets rotate acme"');
      assertStringIncludes(process.output(), '"switchyard keys create acme"');
    }
    await Deno.remove(folder, { recursive: true });
  }
});
