import { newApiKey } from "../../src/money/billing/keys/api_key.ts";
import { type EndedCommand, runCommand } from "../support/command.ts";
import { startGatewayProcess } from "../support/gateway_process.ts";
import { atLeast } from "../support/items.ts";
import { closedOrigin } from "../support/video_gateway.ts";
import { ROOT } from "../webhooks/certificates.ts";

/** A gateway's folder, on which commands are run. */
export interface Place {
  /** Of its configuration. */
  readonly path: string;
  /** Of its store's file. */
  readonly store: string;
  /** Of its files. */
  readonly files: string;
  /** Starts the gateway; gives its address and the way to stop it. */
  serve(): Promise<{ readonly address: string; stop(): Promise<void> }>;
  /** Runs a command to its end. */
  run(...words: string[]): Promise<EndedCommand>;
  /** Creates a video task; gives its id. */
  create(address: string, fields?: Readonly<Record<string, unknown>>): Promise<string>;
  /** Ends a video task. */
  cancel(address: string, id: string): Promise<void>;
  remove(): Promise<void>;
}

/**
 * A folder with a configuration in it. Its vendor's address is nobody's, so its tasks stay pending until they are
 * cancelled. Callbacks may go to loopback, to servers with the certificate of `tests/webhooks/certificates.ts`.
 */
export async function makePlace(server: Record<string, unknown> = {}): Promise<Place> {
  const folder = await Deno.makeTempDir();
  const [key, adminKey] = [newApiKey(), newApiKey()];
  const config = {
    server: { port: Number(new URL(closedOrigin()).port), admin_key: adminKey, isolates: 1, ...server },
    store: `kv:${folder}/store.db`,
    files: `${folder}/files`,
    accounts: [{ id: "demo", balance: "25.00", keys: [key] }],
    egress: { allow: ["127.0.0.1/32"], ca_file: `${folder}/root.pem` },
    providers: { ark: { kind: "ark", base_url: closedOrigin(), api_key: "vendor-key" } },
    models: [{
      id: "sandbox/video-1",
      video: { modes: ["text2video"], price_per_second: { default: "0.10" } },
      serves: [{ provider: "ark" }],
    }],
  };
  await Deno.writeTextFile(`${folder}/root.pem`, ROOT);
  const path = `${folder}/switchyard.json`;
  await Deno.writeTextFile(path, JSON.stringify(config));
  const call = async (method: string, address: string, body?: unknown) => {
    const response = await fetch(address, {
      method,
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    return await response.json();
  };
  return {
    path,
    store: `${folder}/store.db`,
    files: `${folder}/files`,
    async serve() {
      const process = startGatewayProcess({ args: ["serve", "--config", path], folder });
      const [, address] = atLeast(await process.until(/ready at (http:\S+)/), 2);
      return {
        address,
        async stop() {
          process.kill("SIGTERM");
          await process.ended;
        },
      };
    },
    run: (...words) => runCommand([...words, "--config", path]),
    async create(address, fields = {}) {
      const order = { model: "sandbox/video-1", prompt: "A lighthouse", ...fields };
      return (await call("POST", `${address}/v1/videos`, order)).id;
    },
    async cancel(address, id) {
      const { status } = await call("DELETE", `${address}/v1/videos/${id}`);
      if (status !== "cancelled") throw new Error(`The task is ${status}`);
    },
    remove: () => Deno.remove(folder, { recursive: true }),
  };
}
