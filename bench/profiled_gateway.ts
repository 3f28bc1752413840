/**
 * The gateway with a CPU profiler inside. Arguments: its configuration, and a folder for the profiles. Commands on
 * standard input, one a line: `start` starts a profile, `stop NAME` ends it and writes it to `NAME.cpuprofile`.
 */
import { Session } from "node:inspector";
import { join } from "node:path";
import { startApp } from "../src/entry/app/app.ts";
import { openProcessOutput } from "../src/entry/cli/process/process_output.ts";
import { loadConfig } from "../src/config/load_config.ts";
import { argument } from "./argument.ts";

const [path] = Deno.args;
const folder = argument(1, "a folder for profiles");

const session = new Session();
session.connect();
session.post("Profiler.enable");

const config = loadConfig({ path, env: (name) => Deno.env.get(name) });
const app = await startApp({ config, log: openProcessOutput(config).log });
console.log(app.address);

for await (const text of Deno.stdin.readable.pipeThrough(new TextDecoderStream())) {
  for (const [verb, name] of text.split("\n").map((line) => line.split(" "))) {
    if (verb === "start") session.post("Profiler.start");
    if (verb === "stop" && name !== undefined) session.post("Profiler.stop", (_error, result) => write(name, result));
  }
}
await app.stop();
Deno.exit(0);

/** A profile gets its name only when it is complete, as another process waits for the file. */
function write(name: string, { profile }: { readonly profile: unknown }): void {
  const target = join(folder, `${name}.cpuprofile`);
  Deno.writeTextFileSync(`${target}.part`, JSON.stringify(profile));
  Deno.renameSync(`${target}.part`, target);
}
