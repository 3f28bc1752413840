import { assert, assertEquals } from "@std/assert";
import { AuditLog } from "../../src/observers/audit/audit_log.ts";
import { silentLog } from "../../src/platform/lib/basics/log.ts";
import { priceAnnouncement } from "../../src/services/notifications/price_changes.ts";
import { PriceFeed } from "../../src/vendors/prices/price_feed.ts";
import { createPriceWork } from "../../src/vendors/prices/price_work.ts";
import type { Commit } from "../../src/platform/store/store.ts";
import { deliveriesOf, partsOver } from "../notifications/support.ts";
import { ManualClock } from "../support/manual_clock.ts";
import { openMemoryStore } from "../support/memory_store.ts";
import { ownList } from "./support.ts";

const isOfPrices = ({ set = [] }: Commit) => set.some(({ key }) => key.join() === "prices,state");

Deno.test("price.changed is in the commit that changes the prices, so that a kill after it loses nothing", async () => {
  const clock = new ManualClock();
  const store = await openMemoryStore({ clock });
  const source = await Deno.makeTempFile({ suffix: ".json" });
  const commits: { readonly commit: Commit; readonly deliveries: number }[] = [];
  const observed = {
    get: store.get.bind(store),
    limits: store.limits,
    now: () => store.now(),
    async commit(operation: Parameters<typeof store.commit>[0], commit: Commit) {
      const result = await store.commit(operation, commit);
      if (isOfPrices(commit)) commits.push({ commit, deliveries: (await deliveriesOf(store)).length });
      return result;
    },
  };
  const feed = new PriceFeed({
    settings: { source, isBuiltIn: false, everyMs: 60_000, maxChange: 0.5, keepMs: 600_000 },
    store: observed,
    audit: new AuditLog(store, 60_000),
    log: silentLog,
    work: createPriceWork({ clock, log: silentLog }),
    leadMs: 0,
    egress: () => ({ allow: [], own: [] }),
    families: () => ["openai"],
    onPrices: async () => {},
    onChanged: () => {},
    announcement: (event) => priceAnnouncement(partsOver(store), event),
  });
  try {
    for (const prompt of ["0.000002", "0.0000021", "0.00000001"]) {
      await Deno.writeTextFile(source, JSON.stringify(ownList({ "openai/gpt-6-sol": { prompt } })));
      await feed.refresh();
    }
    await feed.refresh();
    const changes = commits.filter(({ commit }) => (commit.addJobs ?? []).length > 0);
    assert(changes.length >= 2, `${changes.length} commits with a delivery`);
    assertEquals(changes.map(({ deliveries }) => deliveries), changes.map((_, place) => place + 1));
    assertEquals((await deliveriesOf(store)).length, changes.length);
  } finally {
    await feed.close();
    await store.close();
    await Deno.remove(source);
  }
});
