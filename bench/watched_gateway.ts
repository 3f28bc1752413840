/**
 * The gateway with a watch on its main thread. Arguments: its configuration, and a file. After each new longest turn of
 * the main thread's event loop, the file has its length in milliseconds of processor time. A line on the standard input
 * resets the maximum.
 */
import { startApp } from "../src/entry/app/app.ts";
import { openProcessOutput } from "../src/entry/cli/process/process_output.ts";
import { loadConfig } from "../src/config/load_config.ts";
import { argument } from "./argument.ts";
import { watchThread } from "./thread_watch.ts";

const [path] = Deno.args;
const file = argument(1, "a file for the longest turn");
const SETTLE_MS = 500;

const config = loadConfig({ path, env: (name) => Deno.env.get(name) });
const app = await startApp({ config, log: openProcessOutput(config).log });
Deno.addSignalListener("SIGTERM", () => void app.stop().then(() => Deno.exit(0)));
console.log(app.address);

const watch = watchThread((longest) => Deno.writeTextFileSync(file, String(longest)));

await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
for await (const _ of Deno.stdin.readable) {
  watch.take();
  Deno.writeTextFileSync(file, "0");
}
