import { builtInRates } from "../../src/config/dev_rates.ts";
import type { Reconciliation } from "../../src/console/client/shapes.ts";
import { type Sandbox, startSandbox } from "../../src/sandbox/mod.ts";
import { PRICING, startTestGateway, type TestGateway, type TestGatewayOptions } from "../support/gateway.ts";
import { callerOf } from "../support/gateway_call.ts";
import { assertEquals } from "@std/assert";

/** The providers of {@linkcode withReconciledGateway}, each with the vendor's names of its models. */
export const RECONCILED = {
  openai: ["chat-1", "reasoner-1", "small-1"],
  anthropic: ["messages-1", "messages-2"],
  openrouter: ["routed/mini-1"],
} as const;

/** A provider of the gateway. */
export type ReconciledProvider = keyof typeof RECONCILED;

/** The admin key that the simulated vendors accept. */
export const REPORT_KEY = "sk-admin-of-the-vendor";

/** Options of {@linkcode withReconciledGateway}. */
export interface ReconciledOptions extends Omit<TestGatewayOptions, "config"> {
  /** Prices of the gateway in the place of the vendor's, by the vendor's name of the model. */
  readonly wrong?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Prices of the vendor. */
  readonly vendor?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** The fields of a provider in the place of those of the test. */
  readonly providers?: Readonly<Record<string, unknown>>;
  /** Further sections. */
  readonly config?: Readonly<Record<string, unknown>>;
}

/** A gateway and what a test does with it. */
export interface ReconciledGateway extends TestGateway {
  /** The vendors that it calls. */
  readonly vendors: Sandbox;
  chat(provider: ReconciledProvider, model: string, content: string, fields?: Record<string, unknown>): Promise<void>;
  /** Reads `GET /admin/v1/reconcile`. Default: the days until today. */
  reconcile(provider: string, range?: { from: string; to: string }): Promise<Reconciliation>;
}

/** The id of a model by the vendor's name. */
export const idOf = (model: string): string => `test/${model.replace("/", "-")}`;

/** Runs a test with a gateway in front of vendors that report what they served. */
export async function withReconciledGateway(
  options: ReconciledOptions,
  test: (gateway: ReconciledGateway) => Promise<void>,
): Promise<void> {
  const { wrong = {}, vendor = {}, providers = {}, config = {}, ...others } = options;
  const names = Object.values(RECONCILED).flat();
  const prices = { ...Object.fromEntries(names.map((name) => [name, PRICING])), ...vendor };
  const vendors = await startSandbox({
    port: 0,
    ratesOf: builtInRates(prices),
    ...options.clock && { clock: options.clock },
  });
  const { openai, anthropic, openrouter } = vendors.baseUrls;
  const common = { api_key: "sandbox-key", report_key: REPORT_KEY };
  const gateway = await startTestGateway({
    ...others,
    config: {
      providers: {
        openai: { kind: "openai", base_url: openai, speaks: "both", quirks: [], ...common },
        anthropic: { kind: "anthropic", base_url: anthropic, ...common },
        openrouter: { kind: "openrouter", base_url: openrouter, quirks: [], ...common },
        ...providers,
      },
      models: Object.entries(RECONCILED).flatMap(([provider, models]) =>
        models.map((name) => ({
          id: idOf(name),
          context_length: 128_000,
          top_provider: { max_completion_tokens: 16_384 },
          pricing: { ...prices[name], ...wrong[name] },
          serves: [{ provider, model: name }],
        }))
      ),
      ...config,
    },
  });
  const { address, key, adminKey } = gateway;
  const caller = callerOf(address, { authorization: `Bearer ${key}` });
  const operator = callerOf(address, { authorization: `Bearer ${adminKey}` });
  try {
    await test({
      ...gateway,
      vendors,
      async chat(_provider, model, content, fields = {}) {
        const body = { model: idOf(model), messages: [{ role: "user", content }], ...fields };
        const { status, text } = await caller("POST", "/v1/chat/completions", body);
        assertEquals(status, 200, text);
      },
      async reconcile(provider, { from, to } = lastDays()) {
        const { status, text, json } = await operator(
          "GET",
          `/admin/v1/reconcile?provider=${provider}&from=${from}&to=${to}`,
        );
        assertEquals(status, 200, text);
        return json;
      },
    });
  } finally {
    await gateway.stop();
    await vendors.stop();
  }
}

/** Yesterday and today, since a test can run at midnight. */
export function lastDays(now = Date.now()): { readonly from: string; readonly to: string } {
  const dateOf = (ms: number) => new Date(ms).toISOString().slice(0, 10);
  return { from: dateOf(now - 86_400_000), to: dateOf(now) };
}
