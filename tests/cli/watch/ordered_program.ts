/**
 * The program, whose threads do what the file `order` in the working folder says: `KIND MS` or `KIND exhaust`, where
 * the kind is `main` or the path of a module that threads start with.
 */
import { run } from "../../../src/entry/cli/run.ts";
import { replaceThreadModules, type ThreadModule } from "../../../src/platform/lib/process/program_files.ts";
import { markWork } from "../../../src/platform/lib/process/own_heartbeat.ts";
import { obey, ORDERS, type ThreadOrder } from "./thread_orders.ts";

replaceThreadModules((path, address) => {
  if (path === "entry/cli/process/watch_entry") return address;
  const ordered = `${Deno.cwd()}/${path.replaceAll("/", "-")}.ts`;
  const orders = new URL("./thread_orders.ts", import.meta.url);
  // Static imports: a thread loses the messages that arrive while its module awaits.
  const source = `import { obeyOrders } from "${orders}";\nimport "${address}";\nobeyOrders("${path}");\n`;
  Deno.writeTextFileSync(ordered, source);
  return new URL(`file://${ordered}`);
});
const channel = new BroadcastChannel(ORDERS);
const timer = setInterval(() => {
  const order = takeOrder();
  if (order === null) return;
  if (order.kind !== "main") return channel.postMessage(order);
  markWork("attempt", "req_of_the_test", "vendor");
  obey(order);
}, 50);
Deno.unrefTimer(timer);

/** The order in the file, which is removed; null if there is none. */
function takeOrder(): ThreadOrder | null {
  try {
    const [kind, ms] = Deno.readTextFileSync("order").split(" ");
    Deno.removeSync("order");
    return { kind: kind as ThreadModule | "main", ms: ms === "exhaust" ? ms : Number(ms) };
  } catch {
    return null;
  }
}

Deno.exit(await run(Deno.args));
