import { assertEquals, assertMatch } from "@std/assert";
import { dirname, join } from "node:path";
import { writeBundle } from "../../scripts/bundle.ts";
import { ROOT } from "../architecture/source_files.ts";
import { type Image, readDockerfile } from "./dockerfile.ts";

/** Set by `deno task test:package`. Another root with its own `/proc` needs the rights of root. */
const isWanted = Deno.env.has("SWITCHYARD_TEST_PACKAGE") && Deno.build.os === "linux" && await canMount();

async function canMount(): Promise<boolean> {
  const { success } = await new Deno.Command("unshare", { args: ["--mount", "true"] }).output();
  if (!success) console.log("skipped: the container, since mounting a file system is not permitted here");
  return success;
}

/** Runs words in a root, as a user, in a folder. */
const IN_ROOT = `mount -t proc proc "$1/proc" && exec chroot --userspec="$2" "$1" env -C "$3" -- "\${@:4}"`;

/** Makes the files of the image: Deno with the libraries that it loads, the bundle, and an empty folder of data. */
async function writeImage(root: string, { folder, user }: Image): Promise<void> {
  const deno = await Deno.realPath(Deno.execPath());
  await copy(deno, join(root, "bin/deno"));
  const { stdout } = await new Deno.Command("ldd", { args: [deno] }).output();
  for (const [path] of new TextDecoder().decode(stdout).matchAll(/\/\S+/g)) await copy(path, join(root, path));
  await writeBundle(join(root, "app"));
  await copy(`${ROOT}ops/container/check_ready.js`, join(root, "app/check_ready.js"));
  const [uid = 0, gid = 0] = user.split(":").map(Number);
  await Deno.mkdir(join(root, "proc"));
  for (const path of [folder, "/tmp"]) {
    await Deno.mkdir(join(root, path), { mode: 0o700 });
    await Deno.chown(join(root, path), uid, gid);
  }
}

async function copy(from: string, to: string): Promise<void> {
  await Deno.mkdir(dirname(to), { recursive: true });
  await Deno.copyFile(from, to);
}

Deno.test({
  name: "container: the gateway starts with nothing but the files of the image, without rights, and is healthy",
  ignore: !isWanted,
  async fn() {
    const image = await readDockerfile();
    const root = await Deno.makeTempDir();
    await Deno.chmod(root, 0o755);
    try {
      await writeImage(root, image);
      const env = { ...image.env, HOST: "127.0.0.1", PATH: "/bin:/usr/bin:/usr/sbin:/sbin", HOME: "/tmp" };
      const run = (words: readonly string[], port: number) =>
        new Deno.Command("unshare", {
          args: ["--mount", "bash", "-c", IN_ROOT, "bash", root, image.user, image.folder, ...words],
          clearEnv: true,
          env: { ...env, PORT: String(port) },
          stdout: "piped",
          stderr: "piped",
        });
      await copy("/usr/bin/env", join(root, "bin/env")); // changes the folder, as WORKDIR does
      const gateway = run([...image.entrypoint, ...image.command], 0).spawn();
      const log = new Response(gateway.stderr).text();
      let printed = "";
      let port = 0;
      for await (const text of gateway.stdout.pipeThrough(new TextDecoderStream())) {
        printed += text;
        port = Number(/ready at http:\/\/127\.0\.0\.1:(\d+)/.exec(printed)?.[1] ?? 0);
        if (port > 0) break;
      }
      if (port === 0) throw new Error(`The gateway ended: ${printed}${await log}`);
      const { code, stderr } = await run(image.healthCheck, port).output();
      assertEquals(code, 0, new TextDecoder().decode(stderr));
      gateway.kill("SIGTERM");
      assertEquals((await gateway.status).code, 0);
      assertMatch(await log, /"event":"stopped"/);
      const failed = await run(image.healthCheck, port).output();
      assertEquals(failed.code, 1);
    } finally {
      await Deno.remove(root, { recursive: true });
    }
  },
});
