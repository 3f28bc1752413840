import { assertEquals } from "@std/assert";
import { accountMoney } from "../../support/account_money.ts";
import { CLIENTS } from "../clients/all.ts";
import { FEATURES } from "../features.ts";
import { CLAUDE, GPT_OSS, NOVA, withBedrock } from "./bedrock_stage.ts";

/** What a client is missing with a model; null for nothing. */
const GAPS: Readonly<Record<string, RegExp>> = {
  threads: /^(?:not offered|refused)$/,
  "tool runner": /^not offered$/,
  thinking: /^not shown$/,
  "streamed thinking": /^not shown$/,
};

for (const feature of FEATURES) {
  // The vendor has no search.
  if (feature.name === "hosted search") continue;
  Deno.test({
    name: `bedrock: every official client, with models in both formats: ${feature.name}`,
    // Clients keep their connections open.
    sanitizeResources: false,
    sanitizeOps: false,
    fn: () =>
      withBedrock(async ({ gateway, sandbox }) => {
        const { address, key } = gateway;
        const purse = accountMoney(gateway);
        for (const client of CLIENTS) {
          for (const model of [CLAUDE, feature.name === "structured output" ? GPT_OSS : NOVA]) {
            const hasSignature = ({ body }: { body: unknown }) => JSON.stringify(body).includes('"signature":"');
            const vendor = { name: model, model, hasSignature };
            const gap = await feature.try({ client, vendor, target: { address, key, model }, sandbox, purse });
            if (gap !== null) assertEquals(GAPS[feature.name]?.test(gap), true, `${client.name} × ${model}: ${gap}`);
          }
        }
      }),
  });
}
