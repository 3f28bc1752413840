import { join } from "node:path";
import { buildPackage } from "../../scripts/package.ts";

/** The package, installed with npm into a folder that has nothing else. */
export interface InstalledPackage {
  readonly folder: string;
  /** The modules of the bundle. */
  readonly app: string;
  run(...args: string[]): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }>;
  /** Starts a gateway, and resolves when it accepts connections. */
  start(...args: string[]): Promise<StartedGateway>;
}

/** A gateway that runs from the package. */
export interface StartedGateway {
  readonly address: string;
  /** Sends SIGTERM to the program that npm installed. Returns its exit code and the lines of the log. */
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
  const program = join(modules, ".bin", "switchyard");
  const options = {
    cwd: folder,
    env: { DENO_DIR: join(folder, "cache"), PORT: "0", HOST: "127.0.0.1", NO_COLOR: "1" },
  };
  return {
    folder,
    app: join(modules, "@switchyard", "gateway", "app"),
    async run(...args) {
      const { code, stdout, stderr } = await new Deno.Command(program, { ...options, args }).output();
      return { code, stdout: new TextDecoder().decode(stdout), stderr: new TextDecoder().decode(stderr) };
    },
    async start(...args) {
      const child = new Deno.Command(program, { ...options, args, stdout: "piped", stderr: "piped" }).spawn();
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
