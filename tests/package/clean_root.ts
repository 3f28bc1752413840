import { dirname, join } from "node:path";
import { ROOT } from "../architecture/source_files.ts";

/** A root as a machine has it on which only Node was installed: a shell, Node with npm, git, and the network. */
export interface CleanRoot {
  /**
   * Runs lines in its shell, in the folder of its user.
   *
   * @param env Further variables.
   */
  start(lines: string, env?: Readonly<Record<string, string>>): RunningShell;
  remove(): Promise<void>;
}

/** A shell that runs. */
export interface RunningShell {
  /** Resolves with the match when the output matches. Rejects with the whole output when it ends before. */
  until(pattern: RegExp): Promise<RegExpExecArray>;
  /** Ends it and the programs that it started. */
  stop(): Promise<void>;
}

/** The path, in the root, of a repository that has the commit of this source. */
export const REPOSITORY = "/source.git";

const PROGRAMS = ["sh", "env", "git", "node"];
/** The network's names and certificates, and settings of npm, where the machine has them. */
const SETTINGS = [
  "/etc/resolv.conf",
  "/etc/hosts",
  "/etc/nsswitch.conf",
  "/etc/ssl/certs/ca-certificates.crt",
  "/usr/etc/npmrc",
];
/** Variables of the registry, of proxies and of certificates. The shell has those of this process. */
const NETWORK_VARIABLE =
  /^(?:npm_config_registry|https?_proxy|no_proxy|deno_(?:cert|tls_ca_store)|node_extra_ca_certs)$/i;

/** Makes a root. It takes Linux, the rights of its administrator, Node with npm, and git. */
export async function makeCleanRoot(): Promise<CleanRoot> {
  const path = await Deno.makeTempDir();
  for (const name of ["bin", "usr/bin", "usr/lib/node_modules", "proc", "dev", "root", "tmp"]) {
    await Deno.mkdir(join(path, name), { recursive: true });
  }
  for (const name of PROGRAMS) await addProgram(path, name);
  await addLibraries(path, await Deno.realPath(Deno.execPath())); // every system has them
  const npm = dirname(dirname(await Deno.realPath(await outputOf("which", "npm"))));
  await outputOf("cp", "-a", npm, join(path, "usr/lib/node_modules/npm"));
  for (const name of ["npm", "npx"]) {
    await Deno.symlink(`/usr/lib/node_modules/npm/bin/${name}-cli.js`, join(path, "bin", name));
  }
  await Deno.symlink("/bin/env", join(path, "usr/bin/env"));
  const gitCore = await outputOf("git", "--exec-path");
  await Deno.mkdir(join(path, dirname(gitCore)), { recursive: true });
  await outputOf("cp", "-a", gitCore, join(path, gitCore));
  for (const file of SETTINGS) await addFile(path, file);
  for (const folder of ["/lib/x86_64-linux-gnu", "/lib/aarch64-linux-gnu"]) {
    for (const name of ["libnss_files.so.2", "libnss_dns.so.2", "libresolv.so.2"]) {
      await addFile(path, join(folder, name));
    }
  }
  await outputOf("git", "clone", "--quiet", "--bare", "--no-hardlinks", ROOT, join(path, REPOSITORY));
  return {
    start: (lines, env = {}) => startShell(path, lines, env),
    remove: () => Deno.remove(path, { recursive: true }),
  };
}

/** Copies a program and the libraries that it loads. */
async function addProgram(root: string, name: string): Promise<void> {
  const program = await Deno.realPath(await outputOf("which", name));
  await copy(program, join(root, "bin", name));
  await addLibraries(root, program);
}

async function addLibraries(root: string, program: string): Promise<void> {
  const libraries = (await outputOf("ldd", program)).matchAll(/\/\S+/g);
  for (const [library] of libraries) await copy(library, join(root, library));
}

async function addFile(root: string, file: string): Promise<void> {
  await copy(file, join(root, file)).catch((error) => {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  });
}

async function copy(from: string, to: string): Promise<void> {
  await Deno.mkdir(dirname(to), { recursive: true });
  await Deno.copyFile(from, to);
}

async function outputOf(program: string, ...args: string[]): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(program, { args }).output();
  if (!success) throw new Error(`${program} ${args.join(" ")}: ${new TextDecoder().decode(stderr)}`);
  return new TextDecoder().decode(stdout).trim();
}

/** The shell is the first process of its namespace, so that all processes end with it. */
const IN_ROOT = `mount -t proc proc "$1/proc" && mount --rbind /dev "$1/dev" && cd "$1" &&
  exec chroot "$1" /bin/sh -c "cd /root; $2"`;

function startShell(root: string, lines: string, env: Readonly<Record<string, string>>): RunningShell {
  const own = Object.entries(Deno.env.toObject()).filter(([name]) => NETWORK_VARIABLE.test(name));
  const child = new Deno.Command("unshare", {
    args: ["--mount", "--pid", "--fork", "--kill-child", "bash", "-c", IN_ROOT, "bash", root, lines],
    clearEnv: true,
    env: { ...Object.fromEntries(own), HOME: "/root", PATH: "/bin:/usr/bin:/usr/sbin:/sbin", NO_COLOR: "1", ...env },
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  let output = "";
  let hasMore = Promise.withResolvers<boolean>();
  const reading = Promise.all([child.stdout, child.stderr].map(async (stream) => {
    for await (const piece of stream.pipeThrough(new TextDecoderStream())) {
      output += piece;
      hasMore.resolve(true);
      hasMore = Promise.withResolvers();
    }
  })).then(() => hasMore.resolve(false));
  return {
    async until(pattern) {
      for (;;) {
        const match = pattern.exec(output);
        if (match !== null) return match;
        if (!await hasMore.promise) throw new Error(`It ended without ${pattern}: ${output}`);
      }
    },
    async stop() {
      child.kill("SIGKILL");
      await child.status;
      await reading;
    },
  };
}
