import { familyModels, familyProviders } from "../../src/config/dev_models.ts";
import { type Sandbox, startSandbox } from "../../src/sandbox/mod.ts";
import { PRICING, startTestGateway, type TestGateway } from "../support/gateway.ts";

/**
 * Starts simulated vendors, and a gateway that serves a model of each family from them.
 *
 * @param models Replaces the priced models of all families.
 * @param more Further sections of the configuration.
 */
export async function startFamilyGateway(
  models: readonly object[] = familyModels(PRICING),
  more: Readonly<Record<string, unknown>> = {},
): Promise<{ readonly vendors: Sandbox; readonly gateway: TestGateway }> {
  const vendors = await startSandbox({ port: 0 });
  const { openai, anthropic, google } = vendors.baseUrls;
  const free = { api_key: "sandbox", allow_tools: ["*", "web_search"] };
  const gateway = await startTestGateway({
    balance: "1000.00",
    config: {
      providers: {
        "sandbox-openai": { kind: "openai", base_url: openai, speaks: "both", quirks: [], ...free },
        "sandbox-anthropic": { kind: "anthropic", base_url: anthropic, ...free },
        "sandbox-google": { kind: "google", base_url: google, ...free },
        ...familyProviders(vendors.baseUrls, free),
      },
      models,
      ...more,
    },
  });
  return { vendors, gateway };
}
