import { assert, assertEquals } from "@std/assert";
import { dirname, join } from "node:path";
import { ROOT } from "../architecture/source_files.ts";

const COMMIT = "0123456789ab";

/** The files and folders that `.dockerignore` leaves in, which has to leave out everything else first. */
async function buildContext(): Promise<readonly string[]> {
  const lines = (await Deno.readTextFile(join(ROOT, ".dockerignore"))).split("\n").filter((line) => /^[^#]/.test(line));
  assertEquals(lines[0], "*");
  return lines.filter((line) => line.startsWith("!")).map((line) => line.slice(1));
}

async function copy(from: string, to: string): Promise<void> {
  const { isDirectory } = await Deno.stat(from);
  await Deno.mkdir(isDirectory ? to : dirname(to), { recursive: true });
  if (!isDirectory) return await Deno.copyFile(from, to);
  for await (const { name } of Deno.readDir(from)) await copy(join(from, name), join(to, name));
}

/** The stage of the Dockerfile that builds: what it copies, and the commands that it runs. */
async function buildStage() {
  const text = await Deno.readTextFile(join(ROOT, "ops/container/Dockerfile"));
  const stage = text.slice(0, text.lastIndexOf("\nFROM "));
  return {
    copies: stage.match(/^COPY .*$/gm),
    argument: /^ARG (\w+)/m.exec(stage)?.[1],
    run: /^RUN (.*)$/m.exec(stage)?.[1],
  };
}

Deno.test("container: the build has neither keys, data nor history, and names the commit that it is given", async () => {
  const context = await buildContext();
  assert(!context.some((path) => /(?:^|\/)(?:\.|data$|dist$|tests$)/.test(path)), context.join());
  const { copies, argument, run = "" } = await buildStage();
  assertEquals([copies, argument], [["COPY . ."], "COMMIT"]);
  const folder = await Deno.makeTempDir();
  try {
    for (const path of context) await copy(join(ROOT, path), join(folder, path));
    const [bundle = ""] = run.split(" && ");
    const { code, stderr } = await new Deno.Command("sh", {
      args: ["-c", bundle.replace("deno task", `"${Deno.execPath()}" task`)],
      cwd: folder,
      env: { COMMIT, NO_COLOR: "1" },
    }).output();
    assertEquals(code, 0, new TextDecoder().decode(stderr));
    const version = await new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--quiet", "--no-config", join(folder, "dist/app/main.js"), "--version"],
    }).output();
    assert(new TextDecoder().decode(version.stdout).includes(`(commit ${COMMIT}, Deno `));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
