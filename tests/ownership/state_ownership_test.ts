import { assert, assertEquals } from "@std/assert";
import type { IssuedId } from "../../src/conversation/contract/issued_ids.ts";
import type { Log } from "../../src/platform/lib/basics/log.ts";
import { createStateOwnership } from "../../src/services/ownership/state_ownership.ts";
import { openMemoryStore } from "../support/memory_store.ts";
import { ManualClock } from "../support/manual_clock.ts";

const DAY_MS = 86_400_000;
const ANNA = { account: "anna", provider: "one" };
const BEN = { account: "ben", provider: "one" };

async function state() {
  const clock = new ManualClock();
  const store = await openMemoryStore({ clock });
  const events: string[] = [];
  const note = (event: string) => void events.push(event);
  const log: Log = { debug: note, info: note, warn: note, error: note };
  const vendorState = createStateOwnership({ store, log });
  const accountOf = async (kind: IssuedId["kind"], id: string) =>
    (await vendorState.owners([{ kind, id }]))[0]?.account;
  return { clock, vendorState, events, accountOf };
}

Deno.test("an owner is stored for at least 30 days, that of a conversation forever", async () => {
  const { clock, vendorState, accountOf } = await state();
  await vendorState.keep(ANNA, [{ kind: "response", id: "resp_1" }, { kind: "conversation", id: "conv_1" }]);
  await clock.advance(30 * DAY_MS);
  assertEquals([await accountOf("response", "resp_1"), await accountOf("conversation", "conv_1")], ["anna", "anna"]);
  await clock.advance(6 * DAY_MS);
  assertEquals([await accountOf("response", "resp_1"), await accountOf("conversation", "conv_1")], [undefined, "anna"]);
  await clock.advance(3_650 * DAY_MS);
  assertEquals(await accountOf("conversation", "conv_1"), "anna");
});

Deno.test("an id that a vendor issues twice keeps its first owner", async () => {
  const { vendorState, events, accountOf } = await state();
  await vendorState.keep(ANNA, [{ kind: "container", id: "cntr_1" }]);
  await vendorState.keep(BEN, [{ kind: "container", id: "cntr_1" }, { kind: "response", id: "resp_2" }]);
  assertEquals([await accountOf("container", "cntr_1"), await accountOf("response", "resp_2")], ["anna", "ben"]);
  assertEquals(events, ["vendor_state_has_owner"]);
  await Promise.all([ANNA, BEN].map((owner) => vendorState.keep(owner, [{ kind: "response", id: "resp_3" }])));
  assert(["anna", "ben"].includes(await accountOf("response", "resp_3") ?? ""));
});

Deno.test("an id that is used again is stored for as long again", async () => {
  const { clock, vendorState, events, accountOf } = await state();
  for (let days = 0; days < 100; days += 20) {
    await vendorState.keep(ANNA, [{ kind: "container", id: "cntr_1" }]);
    await clock.advance(20 * DAY_MS);
  }
  assertEquals([await accountOf("container", "cntr_1"), events], ["anna", []]);
});

Deno.test("ids of different kinds are separate, and many are stored at once", async () => {
  const { vendorState, accountOf } = await state();
  const states = Array.from({ length: 180 }, (_, nth) => ({ kind: "item", id: `msg_${nth}` }) as const);
  await vendorState.keep(ANNA, states);
  assertEquals(await Promise.all(states.map(({ id }) => accountOf("item", id))), states.map(() => "anna"));
  assertEquals(await accountOf("response", "msg_1"), undefined);
});
