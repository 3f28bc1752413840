import { Buffer } from "node:buffer";
import type { RunningApp } from "../../src/entry/app/app.ts";
import { newApiKey } from "../../src/money/billing/keys/api_key.ts";
import { readConfig } from "../../src/config/config.ts";
import type { Clock } from "../../src/platform/lib/basics/clock.ts";
import { jsonLog } from "../../src/platform/lib/basics/log.ts";
import { type Sandbox, startSandbox } from "../../src/sandbox/mod.ts";
import { paint } from "../../src/sandbox/pictures/paint.ts";
import { decodeImage, encodeImage, type SimulatedImageFormat } from "../../src/sandbox/pictures/file.ts";
import type { Pixels } from "../../src/sandbox/pictures/pixels.ts";
import { startApps, TEST_ISOLATES } from "../support/apps.ts";
import { freeUnlessPriced } from "../support/free_model.ts";

/** Token prices with simple sums. */
export const TOKEN_PRICING = {
  prompt: "0.000001",
  image_input: "0.000002",
  image_output: "0.00001",
};

/** A gateway in front of the sandbox with a model of every image series. */
export interface ImageGateway {
  readonly app: RunningApp;
  readonly sandbox: Sandbox;
  readonly address: string;
  /** Key of the account `demo`. */
  readonly key: string;
  readonly logLines: readonly string[];
  /** The folder of files, empty at first. */
  readonly files: string;
  /** Sends a `POST` with the demo key; a `FormData` or text body sets its own type. */
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Response>;
  balance(): Promise<string>;
  /** Makes a key of the account `demo` that may use these models only. */
  limitedKey(models: readonly string[]): Promise<string>;
  stop(): Promise<void>;
}

/** Options of a test. */
export interface ImageGatewayOptions {
  /** Balance of the account `demo` in USD. Default `25.00`. */
  readonly balance?: string;
  readonly clock?: Clock;
  readonly random?: () => number;
  /** Sections that replace those of the configuration or are added to it. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** More providers by name. */
  readonly providers?: Readonly<Record<string, unknown>>;
  /** More models, in the catalog's format. */
  readonly models?: readonly unknown[];
}

/** An image model served by these providers. */
export function imageModel(id: string, image: unknown, providers: readonly string[], fields = {}) {
  return { id, image, pricing: TOKEN_PRICING, serves: providers.map((provider) => ({ provider })), ...fields };
}

const FIRST_SIZES = ["auto", "1024x1024", "1536x1024", "1024x1536"];

/**
 * Starts the gateway. `sandbox/painter-1` edits, `sandbox/muse-1` is multimodal, `sandbox/seer-1` accepts references.
 */
export async function startImageGateway(options: ImageGatewayOptions = {}): Promise<ImageGateway> {
  const files = await Deno.makeTempDir({ prefix: "switchyard-images-" });
  const sandbox = await startSandbox({ port: 0 });
  const models = [
    imageModel("sandbox/painter-1", { series: "default", edits: true, input_fidelity: ["low", "high"] }, ["one"], {
      serves: [{ provider: "one", model: "gpt-image-1.5" }],
    }),
    imageModel("sandbox/narrow-1", {
      edits: true,
      sizes: FIRST_SIZES,
      qualities: ["auto", "low", "medium", "high"],
      size_map: { "1792x1024": "1536x1024" },
      quality_map: { hd: "high" },
    }, ["one"]),
    imageModel("sandbox/split-1", { edits: true }, ["one", "two"]),
    imageModel("sandbox/muse-1", { series: "multimodal" }, ["muse"]),
    imageModel("sandbox/seer-1", { series: "reference" }, ["ark"], {
      pricing: { per_image: "0.04", per_input_image: "0.001" },
      serves: [{ provider: "ark", model: "seedream-5-0-pro" }],
    }),
    imageModel("sandbox/grok-1", { series: "reference" }, ["xai"], { pricing: { per_image: "0.06" } }),
    imageModel("sandbox/flux-1", { series: "reference", edits: true }, ["bfl"], {
      pricing: { per_image: "0.03", per_input_image: "0.01" },
      serves: [{ provider: "bfl", model: "flux-2-pro" }],
    }),
    imageModel("sandbox/fal-1", { series: "reference", edits: true }, ["fal"], {
      pricing: { per_image: "0.03", per_input_image: "0.01" },
      serves: [{ provider: "fal", model: "fal-ai/flux-2-pro" }],
    }),
    imageModel("sandbox/replicate-1", { series: "reference", edits: true }, ["replicate"], {
      pricing: { per_image: "0.03", per_input_image: "0.01" },
      serves: [{ provider: "replicate", model: "black-forest-labs/flux-2-pro" }],
    }),
    { id: "sandbox/chat-1", pricing: TOKEN_PRICING, serves: [{ provider: "one" }] },
    ...(options.models ?? []).map(freeUnlessPriced),
  ];
  const { openai, google, ark, xai, bfl, fal, replicate } = sandbox.baseUrls;
  const key = newApiKey();
  const adminKey = newApiKey();
  const tree = {
    server: { port: 0, admin_key: adminKey, shutdown_grace: 1, isolates: TEST_ISOLATES },
    store: "kv::memory:",
    files,
    accounts: [{ id: "demo", balance: options.balance ?? "25.00", keys: [key] }],
    providers: {
      one: { kind: "openai", base_url: openai, api_key: "sandbox-key" },
      two: { kind: "openai", base_url: openai, api_key: "sandbox-key" },
      muse: { kind: "google", base_url: google, api_key: "sandbox-key" },
      ark: { kind: "ark", base_url: ark, api_key: "sandbox-key" },
      xai: { kind: "xai", base_url: xai, api_key: "sandbox-key" },
      bfl: { kind: "bfl", base_url: bfl, api_key: "sandbox-key" },
      fal: { kind: "fal", base_url: fal, api_key: "sandbox-key" },
      replicate: { kind: "replicate", base_url: replicate, api_key: "sandbox-key" },
      ...options.providers,
    },
    models,
    egress: { allow: ["127.0.0.1/32"] },
    ...options.config,
  };
  const config = readConfig(JSON.stringify(tree), "test.json", () => undefined);
  const logLines: string[] = [];
  const log = jsonLog("debug", (line) => void logLines.push(line));
  const { clock, random } = options;
  const { app, address, stop } = await startApps({ config, log, ...(clock && { clock }), ...(random && { random }) });
  return {
    app,
    sandbox,
    address,
    key,
    logLines,
    files,
    post(path, body, headers = {}) {
      const isPlain = body instanceof FormData || typeof body === "string" || body instanceof ReadableStream ||
        body instanceof Uint8Array;
      const type: Record<string, string> = isPlain ? {} : { "content-type": "application/json" };
      return fetch(address + path, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, ...type, ...headers },
        body: isPlain ? body as BodyInit : JSON.stringify(body),
      });
    },
    async balance() {
      const answer = await fetch(`${address}/admin/v1/accounts/demo`, {
        headers: { authorization: `Bearer ${adminKey}` },
      });
      return (await answer.json()).balance;
    },
    async limitedKey(models) {
      const answer = await fetch(`${address}/admin/v1/accounts/demo/keys`, {
        method: "POST",
        headers: { authorization: `Bearer ${adminKey}`, "content-type": "application/json" },
        body: JSON.stringify({ models }),
      });
      return (await answer.json()).secret;
    },
    async stop() {
      await stop();
      await sandbox.stop();
      await Deno.remove(files, { recursive: true });
    },
  };
}

/** A generated image as a file. */
export async function imageFile(
  { prompt = "a picture", width = 96, height = 64, format = "png" as SimulatedImageFormat } = {},
): Promise<Uint8Array<ArrayBuffer>> {
  return await encodeImage(paint({ prompt, width, height, isTransparent: false, nth: 0 }), format);
}

/** The type, size and pixels of a returned image. */
export async function decodedImage(
  base64: string,
): Promise<{ type: string; width: number; height: number; pixels: Pixels }> {
  const bytes = Uint8Array.from(Buffer.from(base64, "base64"));
  const type = bytes[0] === 0x89 ? "image/png" : bytes[0] === 0xff ? "image/jpeg" : "image/webp";
  const picture = await decodeImage(bytes, type);
  if (picture === null) throw new Error("The answer holds no picture");
  return { type, ...picture };
}

/** One pixel as red, green, blue and alpha. */
export function pixelAt({ width, data }: Pixels, x: number, y: number): number[] {
  return [...data.subarray((y * width + x) * 4, (y * width + x) * 4 + 4)];
}
