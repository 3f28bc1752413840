import { newApiKey } from "../../src/money/billing/keys/api_key.ts";
import { readConfig } from "../../src/config/config.ts";
import { devConfig } from "../../src/config/dev_config.ts";
import { silentLog } from "../../src/platform/lib/basics/log.ts";
import { startSandbox } from "../../src/sandbox/mod.ts";
import { startCheckedApp, TEST_ISOLATES } from "../support/apps.ts";

/** A gateway with the models of `switchyard dev`, in memory. */
export interface DevGateway {
  readonly address: string;
  /** A key of the account `demo`. */
  readonly key: string;
  readonly adminKey: string;
  stop(): Promise<void>;
}

/** Starts what the examples of the description are for. */
export async function startDevGateway(): Promise<DevGateway> {
  const sandbox = await startSandbox({ port: 0 });
  const [key, adminKey] = [newApiKey(), newApiKey()];
  const files = await Deno.makeTempDir();
  const overrides: Record<string, string> = { PORT: "0", SWITCHYARD_STORE: "kv::memory:", SWITCHYARD_FILES: files };
  const { config } = devConfig({ sandbox: sandbox.baseUrls, key, env: (name) => overrides[name] });
  const { server } = readConfig(
    JSON.stringify({ server: { port: 0, admin_key: adminKey, isolates: TEST_ISOLATES } }),
    "dev.json",
    () => undefined,
  );
  const app = await startCheckedApp({ config: { ...config, server }, log: silentLog });
  return {
    address: app.address,
    key,
    adminKey,
    async stop() {
      await app.stop();
      await sandbox.stop();
      await Deno.remove(files, { recursive: true });
    },
  };
}
