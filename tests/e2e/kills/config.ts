import type { Sandbox } from "../../../src/sandbox/mod.ts";
import { ALL_MODES } from "../../support/video_gateway.ts";
import { PRICES } from "./load.ts";
import { RETENTION } from "./old_videos.ts";
import { MODELS, SECOND_PRICE } from "./video_orders.ts";

/** Balance of the account `demo`, USD. */
export const START_BALANCE = "10000";

/** Returns the configuration of every run: four video vendors and one vendor of each other kind. */
export function configOf(
  baseUrls: Sandbox["baseUrls"],
  { folder, key, adminKey, durability, isolates = 1 }: {
    readonly folder: string;
    readonly key: string;
    readonly adminKey: string;
    readonly durability: "process" | "power";
    /** Default: 1. */
    readonly isolates?: number;
  },
): unknown {
  const { textRequest, textToken, image, cacheToken } = PRICES;
  const api_key = "sandbox-key";
  return {
    server: { port: 0, admin_key: adminKey, isolates },
    store: `kv:${folder}/store.db`,
    files: `${folder}/files`,
    accounts: [{ id: "demo", balance: START_BALANCE, keys: [key] }],
    providers: {
      anthropic: { kind: "anthropic", base_url: baseUrls.anthropic, api_key },
      google: { kind: "google", base_url: baseUrls.google, api_key },
      ark: { kind: "ark", base_url: baseUrls.ark, api_key },
      kling: { kind: "kling", base_url: baseUrls.kling, api_key: "access", secret_key: "sandbox-key-kling" },
      fal: { kind: "fal", base_url: baseUrls.fal, api_key },
      openrouter: { kind: "openai", base_url: baseUrls.openrouter, api_key },
    },
    models: [
      {
        id: "load/text",
        pricing: { request: textRequest, completion: textToken },
        serves: [{ provider: "anthropic", model: "text" }],
      },
      {
        id: "load/image",
        pricing: { per_image: image },
        image: { series: "reference" },
        serves: [{ provider: "ark", model: "seedream-5-0-pro" }],
      },
      {
        id: "load/cache",
        context_length: 128_000,
        pricing: { prompt: cacheToken },
        serves: [{ provider: "google", model: "content" }],
      },
      ...MODELS.map(({ id, provider, upstreamModel }) => ({
        id,
        video: { modes: ALL_MODES, price_per_second: { default: SECOND_PRICE } },
        serves: [{ provider, model: upstreamModel }],
      })),
    ],
    limits: {
      video_doubt: 3,
      vendor_polling: { first: 0.05, least: 0.05, most: 0.2, per_second: 1_000 },
      video_polling: { requests: 1_000_000, per: 1, burst: 1_000_000 },
    },
    retention: RETENTION,
    billing: { durability },
    egress: { allow: ["127.0.0.1/32"], ca_file: `${folder}/root.pem` },
  };
}
