import { assertEquals } from "@std/assert";
import { announcePriceChange } from "../../src/services/notifications/price_changes.ts";
import { openDeliveryAdmin } from "../../src/services/webhooks/delivery_admin.ts";
import { ManualClock } from "../support/manual_clock.ts";
import { openMemoryStore } from "../support/memory_store.ts";
import { itemAt } from "../support/items.ts";
import { ALL, deliveriesOf, PAGE, partsOver } from "./support.ts";

const CHANGE = { model: "acme/one", before: { prompt: "0.000001" }, after: { prompt: "0.000002" } };
const WAITING = { ...CHANGE, model: "acme/two", reason: "max_change", sourced: null } as const;

Deno.test("price.changed is sent once for a revision of the list, and once for a time without a reading", async () => {
  const store = await openMemoryStore({ clock: new ManualClock() });
  const parts = partsOver(store);
  const changed = { revision: 7, applied: [CHANGE], pending: [WAITING], staleSince: null };
  await Promise.all([announcePriceChange(parts, changed), announcePriceChange(parts, changed)]);
  const admin = openDeliveryAdmin(store);
  const { id } = itemAt((await admin.list(ALL, PAGE)).deliveries, 0);
  const { data } = JSON.parse((await admin.requestOf(id)).body);
  assertEquals(data, {
    applied: [CHANGE],
    applied_count: 1,
    pending: [{ ...CHANGE, model: "acme/two", reason: "max_change" }],
    pending_count: 1,
    stale_since: null,
  });
  const stale = { revision: null, applied: [], pending: [], staleSince: 1_000_000 };
  await announcePriceChange(parts, stale);
  await announcePriceChange(parts, stale);
  await announcePriceChange(parts, { ...changed, revision: 8 });
  assertEquals((await deliveriesOf(store)).length, 3);
  await store.close();
});
