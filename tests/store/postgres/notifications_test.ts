import { assertEquals } from "@std/assert";
import { createAccount } from "../../../src/money/billing/accounts/account.ts";
import { readMoney } from "../../../src/platform/lib/basics/money.ts";
import { runPass } from "../../../src/services/notifications/run_pass.ts";
import { removeNotifications } from "../../../src/services/webhooks/records.ts";
import { deliveriesOf, partsOver } from "../../notifications/support.ts";
import { itemAt } from "../../support/items.ts";
import { isPostgresWanted, type PostgresServer, startPostgres } from "../../support/postgres_server.ts";
import { overNodes } from "./nodes.ts";

if (isPostgresWanted) {
  const server = await startPostgres();
  registerTests(server);
  Deno.test("notifications: the server is stopped", () => server.stop());
}

function registerTests(server: PostgresServer): void {
  overNodes(server, 2, "two gateways that look at one time send each notification once", async (nodes) => {
    const [a, b] = [itemAt(nodes, 0).store, itemAt(nodes, 1).store];
    const accounts = Array.from({ length: 20 }, (_, n) => `acme-${String(n).padStart(2, "0")}`);
    for (const id of accounts) {
      const settings = { notification_url: "https://receiver.example/own" };
      await createAccount(a, { id, balance: readMoney("1.00"), settings });
    }
    await Promise.all([runPass(partsOver(a)), runPass(partsOver(b))]);
    await runPass(partsOver(b));
    const expected = accounts.flatMap((id) => ["* balance.low", `${id} balance.low`]).toSorted();
    assertEquals(await deliveriesOf(a), expected);
    assertEquals(await removeNotifications(b, "acme-07"), 2);
  });
}
