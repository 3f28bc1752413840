import { CLIENTS } from "./clients/all.ts";
import { cellName, checkCompatibility, type Findings } from "./compatibility.ts";
import { FEATURES } from "./features.ts";
import { startTestGateway } from "../support/gateway.ts";
import { accountMoney } from "../support/account_money.ts";
import { MATRIX_MODELS } from "./matrix_models.ts";
import { VENDORS } from "./vendors.ts";

const gateway = await startTestGateway({ balance: "1000.00", config: { models: MATRIX_MODELS } });
const { address, key, sandbox } = gateway;
const account = accountMoney(gateway);
const found: Findings = new Map();

for (const client of CLIENTS) {
  for (const vendor of VENDORS) {
    for (const feature of FEATURES) {
      Deno.test({
        name: cellName(client, vendor, feature),
        // Clients keep their connections open from test to test.
        sanitizeResources: false,
        sanitizeOps: false,
        async fn() {
          const target = { address, key, model: vendor.model };
          const gap = await feature.try({ client, vendor, target, sandbox, purse: account });
          found.set(cellName(client, vendor, feature), gap);
        },
      });
    }
  }
}

Deno.test({
  name: "docs/compatibility.md agrees with the results of the clients",
  fn: () => {
    const total = CLIENTS.length * VENDORS.length * FEATURES.length;
    // A filtered run of a few cells cannot check the table.
    if (found.size > total / 2) checkCompatibility({ clients: CLIENTS, vendors: VENDORS, features: FEATURES }, found);
  },
});

Deno.test({
  name: "the gateway of the matrix stops",
  sanitizeResources: false,
  sanitizeOps: false,
  fn: () => gateway.stop(),
});
