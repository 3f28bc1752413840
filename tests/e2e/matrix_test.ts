import { familyModels } from "../../src/config/dev_models.ts";
import { CLIENTS } from "./clients/all.ts";
import { cellName, checkCompatibility, type Findings } from "./compatibility.ts";
import { FAMILIES } from "./family_features.ts";
import { FEATURES } from "./features.ts";
import { PRICING } from "../support/gateway.ts";
import { accountMoney } from "../support/account_money.ts";
import { geminiIdOf } from "./vendors.ts";
import { startFamilyGateway } from "./family_gateway.ts";

const { vendors: sandbox, gateway } = await startFamilyGateway(modelsOf());
const { address, key } = gateway;
const account = accountMoney(gateway);
const found: Findings = new Map();

/** The models of the families, with a price for searches and a limit, and each under a name of Gemini, too. */
function modelsOf(): readonly object[] {
  const models = familyModels({ ...PRICING, web_search: "0.01" });
  return FAMILIES.flatMap((family) => {
    const model = models.find(({ id }) => id === family.model);
    if (model === undefined) throw new Error(`no model ${family.model}`);
    const limited = { ...model, top_provider: { max_completion_tokens: 16_384 } };
    return [limited, { ...limited, id: geminiIdOf(family) }];
  });
}

for (const client of CLIENTS) {
  for (const vendor of FAMILIES) {
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
    const total = CLIENTS.length * FAMILIES.length * FEATURES.length;
    // A filtered run of a few cells cannot check the table.
    if (found.size > total / 2) checkCompatibility({ clients: CLIENTS, vendors: FAMILIES, features: FEATURES }, found);
  },
});

Deno.test({
  name: "the gateway of the matrix stops",
  sanitizeResources: false,
  sanitizeOps: false,
  fn: async () => {
    await gateway.stop();
    await sandbox.stop();
  },
});
