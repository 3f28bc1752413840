import { sleep, systemClock } from "../../src/platform/lib/basics/clock.ts";
import { assertEquals } from "@std/assert";
import { callerOf, type GatewayCall } from "../support/gateway_call.ts";
import { type Sandbox, startSandbox } from "../../src/sandbox/mod.ts";
import { PRICING, startTestGateway, type TestGateway } from "../support/gateway.ts";

/** A line of an output or error file. */
export interface ResultLine {
  readonly custom_id: string;
  // deno-lint-ignore no-explicit-any -- a test looks wherever it likes
  readonly response: any;
  readonly error: { readonly code: string } | null;
}

/** A gateway whose providers have batches of their own. */
export interface VendorBatchStage {
  readonly gateway: TestGateway;
  readonly sandbox: Sandbox;
  readonly call: GatewayCall;
  readonly admin: GatewayCall;
  /** Creates a batch of requests, and returns its object. */
  // deno-lint-ignore no-explicit-any -- as above
  create(requests: readonly unknown[], endpoint?: string): Promise<any>;
  /** The batch when it has ended. */
  // deno-lint-ignore no-explicit-any -- as above
  ended(id: string): Promise<any>;
  linesOf(fileId: string | null): Promise<readonly ResultLine[]>;
  /** The charges of the account by custom id, in USD. Each id has one. */
  charges(): Promise<ReadonlyMap<string, number>>;
  money(): Promise<{ readonly balance: number; readonly held: number }>;
  /** How often the sandbox got a request that begins with these words. */
  countOf(start: string): number;
}

/** Options of {@linkcode withVendorBatches}. */
export interface VendorBatchOptions {
  /** Default: all have batches. */
  readonly batches?: "auto" | "on" | "off";
  /** Next to those of each vendor. */
  readonly extraModels?: readonly unknown[];
}

const LOOK_MS = 100;
const MAX_LOOKS = 600;

/** Half of the price of other requests. */
const BATCH_PRICING = { ...PRICING, overrides: [{ batch: true, factor: "0.5" }] };

const MODELS = { openai: "chat-1", anthropic: "messages-1", google: "content-1" } as const;

/** The gateway's settings of the simulated vendors with batches. */
export function vendorBatchConfig(baseUrls: Readonly<Record<keyof typeof MODELS, string>>, batches = "on") {
  const vendors = Object.keys(MODELS) as (keyof typeof MODELS)[];
  return {
    providers: Object.fromEntries(vendors.map((kind) => [`sandbox-${kind}`, {
      kind,
      base_url: baseUrls[kind],
      api_key: `sandbox-key-${kind}`,
      batches,
      ...kind === "openai" && { speaks: "both", quirks: [] },
    }])),
    models: vendors.map((kind) => ({
      id: `sandbox/${MODELS[kind]}`,
      context_length: 128_000,
      top_provider: { max_completion_tokens: 16_384 },
      pricing: BATCH_PRICING,
      serves: [{ provider: `sandbox-${kind}` }],
    })),
  };
}

/** Runs a test with a gateway whose providers have batches. */
export async function withVendorBatches(
  use: (stage: VendorBatchStage) => Promise<void>,
  { batches = "on", extraModels = [] }: VendorBatchOptions = {},
): Promise<void> {
  const folder = await Deno.makeTempDir();
  const sandbox = await startSandbox({ port: 0 });
  const vendors = vendorBatchConfig(sandbox.baseUrls, batches);
  const gateway = await startTestGateway({
    config: { files: `${folder}/files`, ...vendors, models: [...vendors.models, ...extraModels] },
  });
  const { address, key, adminKey } = gateway;
  const call = callerOf(address, { authorization: `Bearer ${key}` });
  const admin = callerOf(address, { authorization: `Bearer ${adminKey}` });
  try {
    await use({
      gateway,
      sandbox,
      call,
      admin,
      async create(requests, endpoint = "/v1/chat/completions") {
        const { json, text } = await call("POST", "/v1/batches", { endpoint, requests });
        assertEquals(json.object, "batch", text);
        return json;
      },
      async ended(id) {
        let last = "";
        for (let look = 0; look < MAX_LOOKS; look++) {
          const { json, text } = await call("GET", `/v1/batches/${id}`);
          if (["completed", "failed", "cancelled", "expired"].includes(json.status)) return json;
          last = text;
          await sleep(systemClock, LOOK_MS);
        }
        const logged = gateway.logLines.filter((line) => line.includes("batch")).slice(-5).join("\n");
        throw new Error(`The batch did not end: ${last}\n${logged}`);
      },
      async linesOf(fileId) {
        if (fileId === null) return [];
        const { text } = await call("GET", `/v1/files/${fileId}/content`);
        return text.trimEnd().split("\n").map((line) => JSON.parse(line));
      },
      async charges() {
        const { json } = await admin("GET", "/admin/v1/accounts/demo/ledger?limit=100");
        const charges = new Map<string, number>();
        for (const { operation, detail, requests } of json.data) {
          if (operation !== "charge") continue;
          assertEquals(charges.has(detail.custom_id), false, `${detail.custom_id} is charged twice`);
          charges.set(detail.custom_id, Number(requests[0].cost));
        }
        return charges;
      },
      async money() {
        const { json } = await admin("GET", "/admin/v1/accounts/demo");
        return { balance: Number(json.balance), held: Number(json.held) };
      },
      countOf: (start) => sandbox.requests.filter(({ method, path }) => `${method} ${path}`.startsWith(start)).length,
    });
  } finally {
    await gateway.stop();
    await sandbox.stop();
    await Deno.remove(folder, { recursive: true });
  }
}

/** A request for a chat as a line. */
export function chatLine(id: string, text: string, model = "sandbox/chat-1"): Record<string, unknown> {
  return { custom_id: id, body: { model, messages: [{ role: "user", content: text }], max_tokens: 50 } };
}
