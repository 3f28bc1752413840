/**
 * A process to be killed: opens the store named by its argument, claims one job and commits without end from several
 * sides. Prints a line for each thing that was acknowledged.
 */
import { systemClock } from "../../../src/platform/lib/basics/clock.ts";
import { silentLog } from "../../../src/platform/lib/basics/log.ts";
import { openKvStore } from "../../../src/platform/store/kv/open_kv_store.ts";
import { itemAt } from "../../support/items.ts";
import { storeTimeOf } from "../../../src/platform/store/store_time.ts";

const path = itemAt(Deno.args, 0);
const out = new TextEncoder();
const say = (line: string) => Deno.stdout.writeSync(out.encode(line + "\n"));

try {
  const store = await openKvStore({ path, clock: systemClock, log: silentLog });
  const claimed = await store.claim(["takeover"], 1, 600_000);
  say(`claimed ${claimed.length}`);
  const [last] = await store.scan<number>(["first"], { limit: 1, reverse: true });
  let next = (last?.value ?? -1) + 1;
  const write = async () => {
    while (true) {
      const n = next++;
      await store.commit(`write ${n}`, {
        set: [{ key: ["first", n], value: n }, { key: ["second", n], value: n }],
        changeBalances: [{ account: "a", available: BigInt(n), held: 1n }],
        ledgerEntries: [{ account: "a", operation: "credit", reference: String(n), available: BigInt(n), held: 1n }],
        addJobs: [{ kind: "written", ref: String(n), dueAt: storeTimeOf(0) }],
      });
      say(`wrote ${n}`);
    }
  };
  await Promise.all(Array.from({ length: 6 }, write));
} catch (error) {
  say(`failed ${(error as Error).message}`);
  Deno.exit(1);
}
