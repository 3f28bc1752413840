import { newApiKey } from "../../../src/money/billing/keys/api_key.ts";
import { type Sandbox, startSandbox } from "../../../src/sandbox/mod.ts";
import { textModel } from "../../support/gateway.ts";
import { type GatewayProcess, startGatewayProcess } from "../../support/gateway_process.ts";
import { itemAt } from "../../support/items.ts";
import type { ThreadOrder } from "./thread_orders.ts";

/** A gateway of `ordered_program.ts`, with its simulated vendors. */
export interface OrderedGateway {
  readonly process: GatewayProcess;
  readonly address: string;
  readonly key: string;
  readonly adminKey: string;
  readonly sandbox: Sandbox;
  /** Gives an order to all threads of its kind that have started. */
  order(order: ThreadOrder): Promise<void>;
  chat(text: string, isStream: boolean): Promise<Response>;
}

/** An image model that takes references. */
const SEER = {
  id: "sandbox/seer-1",
  image: { series: "reference" },
  pricing: { per_image: "0.04", per_input_image: "0.001" },
  serves: [{ provider: "ark", model: "seedream-5-0-pro" }],
};

/** Runs `ordered_program.ts` until the test has ended. */
export async function withOrderedGateway(
  server: Record<string, unknown>,
  test: (gateway: OrderedGateway) => Promise<void>,
) {
  const folder = await Deno.makeTempDir();
  const sandbox = await startSandbox({ port: 0 });
  const [key, adminKey] = [newApiKey(), newApiKey()];
  const config = {
    server: { port: 0, admin_key: adminKey, isolates: 1, ...server },
    store: `kv:${folder}/store.db`,
    files: `${folder}/files`,
    limits: { large_body: 20_000 },
    billing: { durability: "power" },
    accounts: [{ id: "demo", balance: "25.00", keys: [key] }],
    providers: {
      vendor: { kind: "openai", base_url: sandbox.baseUrls.openai, api_key: "vendor-key", speaks: "both" },
      ark: { kind: "ark", base_url: sandbox.baseUrls.ark, api_key: "vendor-key" },
    },
    egress: { allow: ["127.0.0.1/32"] },
    models: [textModel("sandbox/chat-1", ["vendor"]), SEER],
  };
  await Deno.writeTextFile(`${folder}/switchyard.json`, JSON.stringify(config));
  const process = startGatewayProcess({
    program: new URL("./ordered_program.ts", import.meta.url).pathname,
    args: ["serve", "--config", `${folder}/switchyard.json`],
    folder,
  });
  const address = itemAt(await process.until(/ready at (http:\S+)/), 1);
  try {
    await test({
      process,
      address,
      key,
      adminKey,
      sandbox,
      order: ({ kind, ms }) => Deno.writeTextFile(`${folder}/order`, `${kind} ${ms}`),
      chat: (content, stream) =>
        fetch(`${address}/v1/chat/completions`, {
          method: "POST",
          headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
          body: JSON.stringify({ model: "sandbox/chat-1", stream, messages: [{ role: "user", content }] }),
        }),
    });
  } finally {
    try {
      process.kill("SIGKILL");
    } catch { /* it has ended */ }
    await process.ended;
    await sandbox.stop();
    await Deno.remove(folder, { recursive: true });
  }
}

/** The lines of an event in the log of a process. */
export function linesOf({ log }: GatewayProcess, event: string): Record<string, unknown>[] {
  return log().split("\n").filter((line) => line.includes(`"event":"${event}"`)).map((line) => JSON.parse(line));
}

/** Resolves after a moment, after which a test looks again. */
export function pause(): Promise<undefined> {
  return new Promise((resolve) => setTimeout(resolve, 50, undefined));
}

/** Resolves when a process has logged an event. */
export async function logged(process: GatewayProcess, event: string): Promise<void> {
  while (linesOf(process, event).length === 0) await pause();
}
