/**
 * The gateway with a watch on its main thread. Arguments: its configuration, and a file. Whenever the thread has worked for
 * longer than ever before within one turn of its event loop, the file gets that span, in milliseconds of processor time. A line
 * on the standard input begins anew.
 */
import { startApp } from "../src/app.ts";
import { openProcessOutput } from "../src/commands/process_output.ts";
import { loadConfig } from "../src/config/load_config.ts";

const [path, file] = Deno.args;
const TURN_MS = 2;
const SETTLE_MS = 500;

const config = loadConfig({ path, env: (name) => Deno.env.get(name) });
const app = await startApp({ config, log: openProcessOutput(config).log });
Deno.addSignalListener("SIGTERM", () => void app.stop().then(() => Deno.exit(0)));
console.log(app.address);

let [longest, before] = [0, processorMs()];
setInterval(() => {
  const now = processorMs();
  const span = now - before;
  if (span > longest) Deno.writeTextFileSync(file, String(longest = span));
  before = processorMs();
}, TURN_MS);

await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
for await (const _ of Deno.stdin.readable) Deno.writeTextFileSync(file, String(longest = 0));

/** Processor time of this thread. Source: Linux "Scheduler Statistics", `/proc/<pid>/schedstat`. */
function processorMs(): number {
  return Number(Deno.readTextFileSync("/proc/thread-self/schedstat").split(" ", 1)[0]) / 1_000_000;
}
