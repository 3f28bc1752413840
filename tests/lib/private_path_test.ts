import { assert, assertEquals } from "@std/assert";
import { makePrivateFolder, restrictPermissions } from "../../src/platform/lib/process/private_path.ts";
import { jsonLog } from "../../src/platform/lib/basics/log.ts";

const isWindows = Deno.build.os === "windows";

async function tightened(path: string): Promise<{ mode: string; events: { event: string; reason: string }[] }> {
  const lines: string[] = [];
  await restrictPermissions(path, jsonLog("debug", (line) => lines.push(line)));
  return { mode: ((await Deno.stat(path)).mode! & 0o7777).toString(8), events: lines.map((line) => JSON.parse(line)) };
}

Deno.test({
  name: "tighten() removes the permissions of group and others, and logs it once",
  ignore: isWindows,
  async fn() {
    const folder = await Deno.makeTempDir();
    for (
      const [mode, wanted] of [[0o644, "600"], [0o666, "600"], [0o640, "600"], [0o755, "700"], [0o444, "400"]] as const
    ) {
      await Deno.writeTextFile(`${folder}/file`, "");
      await Deno.chmod(`${folder}/file`, mode);
      const { mode: now, events } = await tightened(`${folder}/file`);
      assertEquals([now, events.map(({ event }) => event)], [wanted, ["permissions_tightened"]]);
      assertEquals((await tightened(`${folder}/file`)).events, []);
      await Deno.remove(`${folder}/file`);
    }
    await Deno.remove(folder);
  },
});

Deno.test({
  name: "tighten() leaves a shared folder and a missing path alone",
  ignore: isWindows,
  async fn() {
    const folder = await Deno.makeTempDir();
    await Deno.mkdir(`${folder}/shared`);
    await Deno.chmod(`${folder}/shared`, 0o1777);
    const { mode, events } = await tightened(`${folder}/shared`);
    assertEquals([mode, events.map(({ event }) => event)], ["1777", ["permissions_open"]]);
    await restrictPermissions(`${folder}/missing`, jsonLog("debug", () => assert(false)));
    await Deno.remove(folder, { recursive: true });
  },
});

Deno.test({
  name: "tighten() warns of a file that belongs to another user, and does not change it",
  ignore: isWindows || Deno.uid() !== 0, // only the superuser can give files away
  async fn() {
    const folder = await Deno.makeTempDir();
    await Deno.writeTextFile(`${folder}/file`, "");
    await Deno.chmod(`${folder}/file`, 0o644);
    await Deno.chown(`${folder}/file`, 12_345, 12_345);
    const { mode, events } = await tightened(`${folder}/file`);
    assertEquals([mode, events[0]?.event, events[0]?.reason], [
      "644",
      "permissions_open",
      "its mode is 0644, and another user owns it",
    ]);
    await Deno.remove(folder, { recursive: true });
  },
});

Deno.test({
  name: "makePrivateFolder() creates every missing folder for its owner only, and changes no existing one",
  ignore: isWindows,
  async fn() {
    const folder = await Deno.makeTempDir();
    await Deno.chmod(folder, 0o755);
    await makePrivateFolder(`${folder}/a/b`);
    const modes = await Promise.all([folder, `${folder}/a`, `${folder}/a/b`].map((path) => Deno.stat(path)));
    assertEquals(modes.map(({ mode }) => (mode! & 0o777).toString(8)), ["755", "700", "700"]);
    await Deno.remove(folder, { recursive: true });
  },
});
