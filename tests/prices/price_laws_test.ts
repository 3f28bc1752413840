import { assert, assertEquals } from "@std/assert";
import { readMoney } from "../../src/platform/lib/basics/money.ts";
import { accountMoney } from "../support/account_money.ts";
import { chargesOf, MODEL, pricedAlike, PRICES, type Sample, send, sendUntil } from "./price_load.ts";
import { admin, ownList, pricingOf, startPricedGateway, startPriceServer } from "./support.ts";

for (const isolates of [1, 2]) {
  Deno.test(`with ${isolates} threads: while prices change under load, all price alike and the sum is exact`, async () => {
    const lists = PRICES.map(([prompt, completion]) => ownList({ [MODEL]: { prompt, completion } }));
    const server = startPriceServer(lists[0]);
    const gateway = await startPricedGateway(server, { isolates, balance: "25.00" });
    const samples: Sample[] = [];
    let isDone = false;
    try {
      const load = Promise.all([1, 2, 3].map(() => sendUntil(gateway, () => isDone, samples)));
      for (const [index, list] of lists.entries()) {
        server.list = list;
        assertEquals((await admin(gateway, "POST", "prices/refresh")).status, 200);
        for (let tries = 0; tries < 2_000; tries++) {
          if ((await pricingOf(gateway, MODEL))?.prompt === PRICES[index]?.[0]) break;
        }
      }
      const before = samples.length;
      for (let tries = 0; tries < 2_000 && samples.length < before + 10; tries++) await send(gateway);
      isDone = true;
      await load;
      const money = accountMoney(gateway);
      const charges = await chargesOf(gateway);
      const spent = [...charges.values()].reduce((sum, { cost }) => sum + readMoney(cost), 0n);
      assertEquals(await money.balance(), readMoney("25") - spent);
      const priced = pricedAlike(samples, charges);
      assertEquals(new Set(priced.map(({ version }) => version)), new Set([0, 1, 2]));
    } finally {
      isDone = true;
      await gateway.stop();
      await server.stop();
    }
  });

  Deno.test(`with ${isolates} threads: a hold is never below its charge while prices rise`, async () => {
    const server = startPriceServer(ownList({ [MODEL]: {} }));
    const gateway = await startPricedGateway(server, { isolates, balance: "0.02" });
    const samples: Sample[] = [];
    let isDone = false;
    try {
      const load = Promise.all([1, 2, 3].map(() => sendUntil(gateway, () => isDone, samples)));
      for (const [prompt, completion] of PRICES.slice(1)) {
        server.list = ownList({ [MODEL]: { prompt, completion } });
        await admin(gateway, "POST", "prices/refresh");
        for (let tries = 0; tries < 2_000; tries++) {
          if ((await pricingOf(gateway, MODEL))?.prompt === prompt) break;
        }
      }
      for (let tries = 0; tries < 5_000; tries++) {
        if (samples.some(({ status }) => status === 402)) break;
        await send(gateway);
      }
      isDone = true;
      await load;
      assert(samples.some(({ status }) => status === 402), "the money was used up");
      const balance = await accountMoney(gateway).balance();
      assert(balance >= 0n, `the balance is ${balance}`);
    } finally {
      isDone = true;
      await gateway.stop();
      await server.stop();
    }
  });
}
