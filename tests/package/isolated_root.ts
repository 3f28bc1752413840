import { dirname, join } from "node:path";
import { writeBundle } from "../../scripts/bundle.ts";
import { ROOT } from "../architecture/source_files.ts";
import { type Image, readDockerfile } from "./dockerfile.ts";

/** Whether a root can be made here: it takes Linux and the rights of its administrator. */
export async function canIsolate(): Promise<boolean> {
  if (Deno.build.os !== "linux") return false;
  const { success } = await new Deno.Command("unshare", { args: ["--mount", "true"] }).output();
  if (!success) console.log("skipped: the container, since mounting a file system is not permitted here");
  return success;
}

/** A root with nothing but the files of the image: Deno, the libraries it loads, the bundle and a folder of data. */
export interface IsolatedRoot {
  readonly image: Image;
  /** The path of the root outside it. */
  readonly path: string;
  /** The path of its folder of data outside it. */
  readonly data: string;
  /** Adds a file that the user of the image may read, below the folder of data. */
  addFile(name: string, text: string): Promise<void>;
  /** Runs words in it, in its folder of data and as its user, to their end. */
  run(words: readonly string[], env?: Readonly<Record<string, string>>): Promise<Finished>;
  /** Starts a gateway in it, and resolves when it accepts connections. Rejects with its output when it ends before. */
  start(words: readonly string[]): Promise<IsolatedGateway>;
  remove(): Promise<void>;
}

/** A program that has ended. */
export interface Finished {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A gateway in an isolated root. */
export interface IsolatedGateway {
  readonly address: string;
  /** Sends SIGTERM. Resolves when it has ended. */
  stop(): Promise<{ readonly code: number; readonly log: string }>;
}

/** Runs words in a root, as a user, in a folder. */
const IN_ROOT = `mount -t proc proc "$1/proc" && exec chroot --userspec="$2" "$1" env -C "$3" -- "\${@:4}"`;

const READY = /ready at (http:\/\/127\.0\.0\.1:\d+)/;

/** Makes a root of the image's files. The bundle is that of this source, in `/app`. */
export async function makeIsolatedRoot(): Promise<IsolatedRoot> {
  const image = await readDockerfile();
  const path = await Deno.makeTempDir();
  await Deno.chmod(path, 0o755);
  await writeImage(path, image);
  const data = join(path, image.folder);
  const [uid, gid] = ownerOf(image);
  const command = (words: readonly string[], env: Readonly<Record<string, string>>) =>
    new Deno.Command("unshare", {
      args: ["--mount", "bash", "-c", IN_ROOT, "bash", path, image.user, image.folder, ...words],
      clearEnv: true,
      env: { ...image.env, HOST: "127.0.0.1", PORT: "0", PATH: SYSTEM_PATH, HOME: "/tmp", ...env },
      stdout: "piped",
      stderr: "piped",
    });
  return {
    image,
    path,
    data,
    async addFile(name, text) {
      await Deno.writeTextFile(join(data, name), text);
      await Deno.chown(join(data, name), uid, gid);
    },
    async run(words, env = {}) {
      const { code, stdout, stderr } = await command(words, env).output();
      return { code, stdout: new TextDecoder().decode(stdout), stderr: new TextDecoder().decode(stderr) };
    },
    start: (words) => startedGateway(command(words, {}).spawn()),
    remove: () => Deno.remove(path, { recursive: true }),
  };
}

/** Of the host's programs only `env` is in the root; the others make the root, or are not found. */
const SYSTEM_PATH = "/bin:/usr/bin:/usr/sbin:/sbin";

async function startedGateway(child: Deno.ChildProcess): Promise<IsolatedGateway> {
  const log = new Response(child.stderr).text();
  const ready = Promise.withResolvers<string>();
  const reading = (async () => {
    let printed = "";
    for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
      printed += text;
      const address = READY.exec(printed)?.[1];
      if (address !== undefined) ready.resolve(address);
    }
    ready.reject(new Error(`The gateway ended: ${printed}${await log}`));
  })();
  const address = await ready.promise;
  return {
    address,
    async stop() {
      child.kill("SIGTERM");
      const { code } = await child.status;
      await reading;
      return { code, log: await log };
    },
  };
}

async function writeImage(root: string, image: Image): Promise<void> {
  const deno = await Deno.realPath(Deno.execPath());
  await copy(deno, join(root, "bin/deno"));
  const { stdout } = await new Deno.Command("ldd", { args: [deno] }).output();
  for (const [path] of new TextDecoder().decode(stdout).matchAll(/\/\S+/g)) await copy(path, join(root, path));
  await copy("/usr/bin/env", join(root, "bin/env")); // changes the folder, as WORKDIR does
  await writeBundle(join(root, "app"));
  await copy(`${ROOT}ops/container/check_ready.js`, join(root, "app/check_ready.js"));
  await Deno.mkdir(join(root, "proc"));
  const [uid, gid] = ownerOf(image);
  for (const path of [image.folder, "/tmp"]) {
    await Deno.mkdir(join(root, path), { mode: 0o700 });
    await Deno.chown(join(root, path), uid, gid);
  }
}

function ownerOf({ user }: Image): [number, number] {
  const [uid = 0, gid = 0] = user.split(":").map(Number);
  return [uid, gid];
}

async function copy(from: string, to: string): Promise<void> {
  await Deno.mkdir(dirname(to), { recursive: true });
  await Deno.copyFile(from, to);
}
