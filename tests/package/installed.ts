import { join } from "node:path";
import { buildPackage } from "../../scripts/package.ts";

/** A program in a folder that has nothing else. */
export interface InstalledProgram {
  readonly folder: string;
  run(...args: string[]): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }>;
  /** Starts a gateway, and resolves when it accepts connections. */
  start(...args: string[]): Promise<StartedGateway>;
}

/** The package, installed with npm. */
export interface InstalledPackage extends InstalledProgram {
  /** The modules of the bundle. */
  readonly app: string;
}

/** A gateway that runs from the program. */
export interface StartedGateway {
  readonly address: string;
  /** Sends SIGTERM to the program. Returns its exit code and the lines of the log. */
  stop(): Promise<{ readonly code: number; readonly log: string }>;
}

const ADDRESS = /ready at (http:\/\/127\.0\.0\.1:\d+)/;

/** Builds and installs the package. The gateway has no packages but its own, and an empty cache. */
export async function installPackage(folder: string): Promise<InstalledPackage> {
  const file = await buildPackage();
  await Deno.writeTextFile(join(folder, "package.json"), "{}");
  const npm = new Deno.Command("npm", {
    args: ["install", "--no-audit", "--no-fund", "--prefer-offline", file],
    cwd: folder,
  });
  const { success, stderr } = await npm.output();
  if (!success) throw new Error(`npm cannot install the package: ${new TextDecoder().decode(stderr)}`);
  const modules = join(folder, "node_modules");
  return {
    ...programIn(folder, [join(modules, ".bin", "switchyard")], { env: {} }),
    app: join(modules, "@switchyard", "gateway", "app"),
  };
}

/**
 * A program that runs in a folder, with an empty cache of Deno.
 *
 * @param words The program, and what precedes each of its arguments.
 * @param options `env` is added to the variables of this process, or replaces them if `clearEnv` is set.
 */
export function programIn(
  folder: string,
  [program = "", ...before]: readonly string[],
  { env, clearEnv = false }: { readonly env: Readonly<Record<string, string>>; readonly clearEnv?: boolean },
): InstalledProgram {
  const options = {
    cwd: folder,
    clearEnv,
    env: { DENO_DIR: join(folder, "cache"), PORT: "0", HOST: "127.0.0.1", NO_COLOR: "1", ...env },
  };
  return {
    folder,
    async run(...args) {
      const { code, stdout, stderr } = await new Deno.Command(program, { ...options, args: [...before, ...args] })
        .output();
      return { code, stdout: new TextDecoder().decode(stdout), stderr: new TextDecoder().decode(stderr) };
    },
    async start(...args) {
      const command = new Deno.Command(program, {
        ...options,
        args: [...before, ...args],
        stdout: "piped",
        stderr: "piped",
      });
      const child = command.spawn();
      const log = new Response(child.stderr).text();
      const isReady = Promise.withResolvers<string>();
      let printed = "";
      const reading = (async () => {
        for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
          printed += text;
          const address = ADDRESS.exec(printed)?.[1];
          if (address !== undefined) isReady.resolve(address);
        }
        isReady.reject(new Error(`The gateway ended: ${printed}\n${await log}`));
      })();
      isReady.promise.catch(() => {});
      const address = await isReady.promise;
      return {
        address,
        async stop() {
          child.kill("SIGTERM");
          const { code } = await child.status;
          await reading;
          return { code, log: await log };
        },
      };
    },
  };
}
