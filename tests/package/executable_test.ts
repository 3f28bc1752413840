import { assertEquals, assertMatch } from "@std/assert";
import { join } from "node:path";
import { MAIN, writeBundle } from "../../scripts/bundle.ts";
import { RUN_FLAGS } from "../../scripts/run_flags.ts";
import { VERSION } from "../../src/entry/cli/version.ts";
import { ROOT } from "../architecture/source_files.ts";
import { visitDev } from "./dev_visit.ts";
import { type InstalledProgram, programIn } from "./installed.ts";

/** Set by `deno task test:package`, or a base for executables is at hand. */
const isWanted = Deno.env.has("SWITCHYARD_TEST_PACKAGE") || Deno.env.has("DENORT_BIN");

/** The executable of `task compile`, in an empty folder, without any other program. Null if there is no base for it. */
async function compiledProgram(folder: string): Promise<InstalledProgram | null> {
  const { code, stderr } = await new Deno.Command(Deno.execPath(), { args: ["task", "compile"], cwd: ROOT }).output();
  const complaint = new TextDecoder().decode(stderr);
  if (code !== 0) {
    // A base that is given has to be one.
    if (Deno.env.has("DENORT_BIN") || !complaint.includes("could not be downloaded")) throw new Error(complaint);
    return null;
  }
  const path = join(folder, "switchyard");
  await Deno.copyFile(join(ROOT, "dist/switchyard"), path);
  return programIn(folder, [path], { env: { PATH: "/none", HOME: folder }, clearEnv: true });
}

/** What an executable contains, run by Deno without packages and a network. */
async function bundledProgram(folder: string): Promise<InstalledProgram> {
  const app = await Deno.makeTempDir({ dir: folder });
  await writeBundle(app);
  const words = [Deno.execPath(), "run", "--cached-only", ...RUN_FLAGS, join(app, MAIN)];
  return programIn(folder, words, { env: { PATH: "/none", HOME: folder }, clearEnv: true });
}

Deno.test({
  name: `executable: --version and dev in an empty folder without Deno${
    isWanted ? "" : " (needs task test:package, or DENORT_BIN)"
  }`,
  ignore: !isWanted,
  sanitizeOps: false,
  sanitizeResources: false,
  fn: async () => {
    const folder = await Deno.makeTempDir();
    try {
      const compiled = await compiledProgram(folder);
      if (compiled === null) {
        console.log("skipped: the executable, since its base cannot be downloaded; its bundle runs in its place");
      }
      const program = compiled ?? await bundledProgram(folder);
      const { code, stdout } = await program.run("--version");
      assertEquals(code, 0);
      assertMatch(stdout, new RegExp(`^${RegExp.escape(VERSION)} \\(.*commit.*, Deno ${Deno.version.deno}\\)\\n$`));
      await visitDev(program);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
});
