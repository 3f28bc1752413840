import { join } from "node:path";
import { ROOT } from "../../architecture/source_files.ts";
import { PROGRAM } from "../../support/program.ts";

/** A shell with a home folder and with programs of its own. */
export interface Shell {
  /** The home folder, which is also the working folder unless another one is given. */
  readonly home: string;
  /** Runs a script; it ends at the first command that fails. Returns what it printed. */
  run(
    script: string,
    options?: { readonly cwd?: string; readonly env?: Readonly<Record<string, string>> },
  ): Promise<string>;
}

/** The `switchyard` command of this repository. */
export const SWITCHYARD: string =
  `exec '${Deno.execPath()}' run --quiet --no-check --cached-only --config='${ROOT}deno.json' ` +
  `--allow-all '${PROGRAM}' "$@"`;

/**
 * Gives a test a shell that finds programs by their names before those of the system.
 *
 * @param programs Scripts of bash by name.
 */
export async function withShell(
  programs: Readonly<Record<string, string>>,
  test: (shell: Shell) => Promise<void>,
): Promise<void> {
  const home = await Deno.realPath(await Deno.makeTempDir());
  const bin = join(home, "bin-of-the-test");
  await Deno.mkdir(bin);
  for (const [name, script] of Object.entries(programs)) {
    await Deno.writeTextFile(join(bin, name), `#!/bin/bash\nset -e\n${script}\n`, { mode: 0o755 });
  }
  const run: Shell["run"] = async (script, { cwd = home, env = {} } = {}) => {
    const { success, stdout, stderr } = await new Deno.Command("bash", {
      args: ["-e", "-c", script],
      cwd,
      env: {
        DENO_DIR: await cacheOfDeno(),
        ...env,
        HOME: home,
        PATH: `${bin}:${env.PATH ?? Deno.env.get("PATH") ?? "/usr/bin:/bin"}`,
      },
    }).output();
    const [output, errors] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
    if (!success) throw new Error(`The script failed:\n${script}\n${errors}`);
    return output ?? "";
  };
  try {
    await test({ home, run });
  } finally {
    await Deno.remove(home, { recursive: true });
  }
}

/** The folder with the packages of the tests, so that programs of a test load nothing from the network. */
async function cacheOfDeno(): Promise<string> {
  const { stdout } = await new Deno.Command(Deno.execPath(), { args: ["info", "--json"] }).output();
  return JSON.parse(new TextDecoder().decode(stdout)).denoDir;
}
