/**
 * The program, whose threads spin when the file `spin` in the working folder says so: `KIND MS`, where the kind is
 * `main` or the path of a module that threads start with.
 */
import { run } from "../../../src/cli/run.ts";
import { replaceThreadModules } from "../../../src/lib/program_files.ts";
import { markWork } from "../../../src/lib/own_heartbeat.ts";
import { spin } from "./spin.ts";

replaceThreadModules((path, address) => {
  if (path === "cli/watch_entry") return address;
  const spinning = `${Deno.cwd()}/${path.replaceAll("/", "-")}.ts`;
  const listen = new URL("./spin_on_order.ts", import.meta.url);
  // Static imports: a thread loses the messages that arrive while its module awaits.
  const source = `import { spinOnOrder } from "${listen}";\nimport "${address}";\nspinOnOrder("${path}");\n`;
  Deno.writeTextFileSync(spinning, source);
  return new URL(`file://${spinning}`);
});
const channel = new BroadcastChannel("spin");
const timer = setInterval(() => {
  const [kind = "", ms] = takeOrder().split(" ");
  if (kind === "") return;
  if (kind !== "main") return channel.postMessage({ kind, ms: Number(ms) });
  markWork("attempt", "req_of_the_test", "vendor");
  spin(Number(ms));
}, 50);
Deno.unrefTimer(timer);

/** The content of the file, which is removed; empty if there is none. */
function takeOrder(): string {
  try {
    const order = Deno.readTextFileSync("spin");
    Deno.removeSync("spin");
    return order;
  } catch {
    return "";
  }
}

Deno.exit(await run(Deno.args));
