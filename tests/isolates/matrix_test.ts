import { CLIENT_CELLS } from "../e2e/client_cells.ts";
import { MATRIX_MODELS } from "../e2e/matrix_models.ts";
import { startTestGateway } from "../support/gateway.ts";
import { accountMoney } from "../support/account_money.ts";

/** An isolate must answer as the main thread does. */
const gateway = await startTestGateway({
  balance: "1000.00",
  isolates: 2,
  config: { models: MATRIX_MODELS },
});
const { address, key, sandbox } = gateway;
const account = accountMoney(gateway);

for (const { client, feature, vendor } of CLIENT_CELLS) {
  Deno.test({
    name: `in an isolate: ${client.name}, ${vendor.model}, ${feature.name}`,
    // Clients keep connections of their own open from test to test.
    sanitizeResources: false,
    sanitizeOps: false,
    fn: async () => {
      await feature.try({ client, vendor, target: { address, key, model: vendor.model }, sandbox, purse: account });
    },
  });
}

Deno.test({
  name: "the gateway of the matrix in isolates stops",
  sanitizeResources: false,
  sanitizeOps: false,
  fn: () => gateway.stop(),
});
