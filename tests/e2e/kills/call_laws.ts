import { assertEquals, assertGreater, assertLessOrEqual } from "@std/assert";
import { listLedgerEntries } from "../../../src/money/billing/ledger/ledger.ts";
import type { Money } from "../../../src/platform/lib/basics/money.ts";
import type { StoreEngine } from "../../../src/platform/store/engine.ts";
import { valueAt } from "../../support/items.ts";
import type { Acknowledged, CallKind } from "./load.ts";

/** Texts, images and caches: acknowledged <= charged <= counted by the vendor. Returns the cost of all of them. */
export async function assertCallsPaid(
  store: StoreEngine,
  account: string,
  acknowledged: Acknowledged,
  asked: Readonly<Record<CallKind, number>>,
): Promise<Money> {
  const charged = await chargedIn(store, account);
  for (const kind of ["text", "image", "cache"] as const) {
    const facts = `${kind}: ${JSON.stringify({ acknowledged: acknowledged.calls[kind], asked: asked[kind] })}`;
    assertGreater(acknowledged.calls[kind], 0, facts);
    assertLessOrEqual(acknowledged.cost[kind], charged[kind].cost, `acknowledged <= charged, ${facts}`);
    assertLessOrEqual(charged[kind].calls, asked[kind], `charged <= asked, ${facts}`);
    const each = costOfOne(kind, acknowledged);
    assertLessOrEqual(charged[kind].cost, BigInt(asked[kind]) * each, `charged <= counted by the vendor, ${facts}`);
    assertEquals(charged[kind].requests.size, charged[kind].calls, `no request is charged twice, ${facts}`);
  }
  return charged.text.cost + charged.image.cost + charged.cache.cost;
}

interface Charged {
  calls: number;
  cost: Money;
  readonly requests: Set<string>;
}

/** Returns the ledger's charges by kind. */
async function chargedIn(store: StoreEngine, account: string): Promise<Record<CallKind, Charged>> {
  const nothing = (): Charged => ({ calls: 0, cost: 0n, requests: new Set() });
  const charged: Record<string, Charged> = { text: nothing(), image: nothing(), cache: nothing() };
  let after: string | undefined;
  do {
    const { lines, next } = await listLedgerEntries(store, account, {
      limit: 100,
      ...(after === undefined ? {} : { after }),
    });
    for (const { kind, amount, requestId } of lines.flatMap(({ rows }) => rows)) {
      valueAt(charged, kind).calls++;
      valueAt(charged, kind).cost += amount;
      valueAt(charged, kind).requests.add(requestId);
    }
    after = next ?? undefined;
  } while (after !== undefined);
  return charged as Record<CallKind, Charged>;
}

/** All calls of a kind are equal, so each costs as much as an acknowledged one. */
function costOfOne(kind: CallKind, { calls, cost }: Acknowledged): Money {
  assertEquals(cost[kind] % BigInt(calls[kind]), 0n, `all ${kind} calls cost the same`);
  return cost[kind] / BigInt(calls[kind]);
}
