import { join } from "node:path";
import { LITELLM_SPEC, LITELLM_VERSION } from "../peers/litellm.ts";
import type { Installation } from "./installation.ts";

const LITELLM_KEY = "sk-bench-0123456789";
const PORTKEY = "@portkey-ai/gateway@1.15.2";
const BIFROST = "@maximhq/bifrost@1.6.3";

/** LiteLLM's proxy in an environment of its own, without a database. Source: its documentation, "Quick start". */
export const LITELLM_PROXY: Installation = {
  label: `LiteLLM ${LITELLM_VERSION}`,
  commands: "pip install 'litellm[proxy]'; litellm --config",
  vendor: "on loopback",
  needs: ["python3"],
  async prepare({ folder, upstreamPort }) {
    const vendor = {
      model: "openai/canned-1",
      api_base: `http://127.0.0.1:${upstreamPort}/v1`,
      api_key: "upstream-key",
    };
    const config = {
      model_list: [{ model_name: "canned", litellm_params: vendor }],
      general_settings: { master_key: LITELLM_KEY },
    };
    await Deno.writeTextFile(join(folder, "config.yaml"), JSON.stringify(config));
  },
  install: ({ folder }) => [
    ["python3", "-m", "venv", "venv"],
    [join(folder, "venv/bin/pip"), "install", "--quiet", LITELLM_SPEC],
  ],
  start: ({ folder, port }) => [
    join(folder, "venv/bin/litellm"),
    ...["--config", join(folder, "config.yaml"), "--host", "127.0.0.1", "--port", String(port)],
  ],
  request: () => ({
    path: "/v1/chat/completions",
    headers: { authorization: `Bearer ${LITELLM_KEY}` },
    model: "canned",
  }),
};

/** Portkey's gateway, which has no keys, accounts or charges of its own. */
export const PORTKEY_GATEWAY: Installation = {
  label: `Portkey ${PORTKEY.split("@").at(-1)}`,
  commands: "npx @portkey-ai/gateway",
  vendor: "on loopback",
  needs: ["npx"],
  install: () => [],
  start: ({ port }) => ["npx", "-y", PORTKEY, "--headless", `--port=${port}`],
  request: ({ upstreamPort }) => ({
    path: "/v1/chat/completions",
    // Source: the peer's documentation, "Custom Hosts".
    headers: {
      "authorization": "Bearer upstream-key",
      "x-portkey-provider": "openai",
      "x-portkey-custom-host": `http://127.0.0.1:${upstreamPort}/v1`,
    },
    model: "canned-1",
  }),
};

/** Bifrost. Its package has no program: it downloads one when it runs for the first time. */
export const BIFROST_GATEWAY: Installation = {
  label: `Bifrost, npm ${BIFROST.split("@").at(-1)}`,
  commands: "npx @maximhq/bifrost",
  vendor: "on loopback",
  needs: ["npx"],
  async prepare({ folder, upstreamPort }) {
    const config = {
      providers: {
        openai: {
          keys: [{ name: "first", value: "upstream-key", models: [], weight: 1 }],
          network_config: { base_url: `http://127.0.0.1:${upstreamPort}` },
        },
      },
    };
    await Deno.mkdir(join(folder, "data"));
    await Deno.writeTextFile(join(folder, "data", "config.json"), JSON.stringify(config));
  },
  install: () => [],
  start: ({ folder, port }) => [
    ...["npx", "-y", BIFROST],
    ...["-host", "127.0.0.1", "-port", String(port), "-app-dir", join(folder, "data")],
  ],
  request: () => ({ path: "/v1/chat/completions", headers: {}, model: "openai/canned-1" }),
};
