import { assertEquals } from "@std/assert";
import { createAccount } from "../../src/money/billing/accounts/account.ts";
import { silentLog } from "../../src/platform/lib/basics/log.ts";
import { openMemoryStore } from "../support/memory_store.ts";
import type { JobStore } from "../../src/platform/store/store.ts";
import { createWebhooks } from "../../src/services/webhooks/webhooks.ts";
import { ManualClock, until } from "../support/manual_clock.ts";
import { end, endedTask, SECRET } from "./support.ts";

/** A store that counts its calls by member. */
function counting(store: JobStore): { readonly counted: JobStore; readonly calls: Map<string, number> } {
  const calls = new Map<string, number>();
  const counted = new Proxy(store, {
    get(target, name: keyof JobStore) {
      const member = target[name];
      if (typeof member !== "function") return member;
      return (...args: never[]) => {
        calls.set(name, (calls.get(name) ?? 0) + 1);
        return Reflect.apply(member, target, args);
      };
    },
  });
  return { counted, calls };
}

for (const [what, prompt] of [["a short", "dusk"], ["a long", "dusk ".repeat(30_000)]]) {
  Deno.test(`an attempt with ${what} body reads the store twice and writes it once`, async () => {
    const clock = new ManualClock();
    const store = await openMemoryStore({ clock });
    await createAccount(store, { id: "demo", balance: 0n, webhookSecret: SECRET });
    const { counted, calls } = counting(store);
    let posts = 0;
    const webhooks = createWebhooks({
      store: counted,
      clock,
      log: silentLog,
      egress: { allow: [], own: [], clock },
      timeoutMs: 10_000,
      random: () => 0,
      post: () => Promise.resolve({ status: ++posts === 1 ? 500 : 204, bytes: 0, header: () => null }),
    });
    const ended = endedTask({ endedAt: clock.now() });
    await end({ store, webhooks }, { ...ended, task: { ...ended.task, prompt } });
    const runner = webhooks.startJobs();
    for (const attempts of [1, 2]) {
      calls.clear();
      if (attempts === 2) clock.advance(5_000);
      await until(() => posts === attempts && runner.running === 0);
      assertEquals([calls.get("get"), calls.get("scan") ?? 0, calls.get("commit")], [2, 0, 1]);
    }
    await runner.drain(0);
  });
}
