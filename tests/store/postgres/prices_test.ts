import { assertEquals } from "@std/assert";
import { newApiKey } from "../../../src/money/billing/keys/api_key.ts";
import { readMoney } from "../../../src/platform/lib/basics/money.ts";
import { chargesOf, MODEL, pricedAlike, PRICES, type Sample, sendUntil } from "../../prices/price_load.ts";
import { admin, ownList, pricingOf, startPricedGateway, startPriceServer } from "../../prices/support.ts";
import { accountMoney } from "../../support/account_money.ts";
import { itemAt } from "../../support/items.ts";
import { isPostgresWanted, type PostgresServer, startPostgres } from "../../support/postgres_server.ts";
import { overDatabase } from "./nodes.ts";

if (isPostgresWanted) {
  const server = await startPostgres();
  registerTests(server);
  Deno.test("prices of two gateways: the server is stopped", () => server.stop());
}

/** Prices take effect ten seconds after a change, so that all gateways have them by then. */
async function until(isDone: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 10_000; tries++) {
    if (await isDone()) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error("It did not come to pass");
}

function registerTests(postgres: PostgresServer): void {
  overDatabase(
    postgres,
    "two gateways price alike while prices change under load, and the sum is exact",
    async (url) => {
      const lists = PRICES.slice(0, 2).map(([prompt, completion]) => ownList({ [MODEL]: { prompt, completion } }));
      const server = startPriceServer(lists[0]);
      const key = newApiKey();
      const start = async () => {
        const files = await Deno.makeTempDir();
        const accounts = [{ id: "demo", balance: "25.00", keys: [key] }];
        return { ...await startPricedGateway(server, { store: url, config: { accounts, files } }), key, files };
      };
      const gateways = [await start(), await start()];
      const first = itemAt(gateways, 0);
      const samples: Sample[] = [];
      let isDone = false;
      const load = Promise.all(gateways.map((gateway) => sendUntil(gateway, () => isDone, samples)));
      try {
        for (const [place, list] of lists.entries()) {
          server.list = list;
          assertEquals((await admin(itemAt(gateways, place), "POST", "prices/refresh")).status, 200);
          for (const gateway of gateways) {
            await until(async () => (await pricingOf(gateway, MODEL))?.prompt === PRICES[place]?.[0]);
          }
        }
        const before = samples.length;
        await until(() => Promise.resolve(samples.length >= before + 20));
        isDone = true;
        await load;
        // Each gateway writes the charges of its own requests.
        for (const gateway of gateways) await chargesOf(gateway);
        const charges = await chargesOf(first);
        const priced = pricedAlike(samples, charges);
        assertEquals(new Set(priced.map(({ version }) => version)), new Set([0, 1]));
        const spent = [...charges.values()].reduce((sum, { cost }) => sum + readMoney(cost), 0n);
        assertEquals(await accountMoney(first).balance(), readMoney("25") - spent);
      } finally {
        isDone = true;
        await load;
        for (const gateway of gateways) await gateway.stop();
        await server.stop();
        for (const { files } of gateways) await Deno.remove(files, { recursive: true }).catch(() => {});
      }
    },
  );
}
