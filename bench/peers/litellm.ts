import { join } from "node:path";
import { freePort, isInstalled, run, startServer } from "../child.ts";
import { MODES } from "../load_request.ts";
import type { PeerOptions, RunningPeer } from "./peer.ts";

/** The version that is measured, as pip names it. */
export const LITELLM_VERSION = "1.106.2";

/** What pip installs. */
export const LITELLM_SPEC = `litellm[proxy]==${LITELLM_VERSION}`;

const KEY = "sk-bench-0123456789";
const INSTALL_MS = 600_000;
/** Its imports alone take more than ten seconds on one core. */
const READY_MS = 180_000;

/**
 * Starts LiteLLM's proxy from a program that the operator supplies, or installs it with pip: one master key, prices,
 * one worker for the one core, its default log. Its own keys, budgets and spend need PostgreSQL and an engine that
 * Prisma downloads at the first start, so it has none of them. Source: LiteLLM's documentation, "Overview" of the
 * proxy's configuration and "Custom LLM Pricing".
 *
 * @returns The peer, or the reason why there is none.
 */
export async function startLitellm({ folder, upstreamPort, core, binary }: PeerOptions): Promise<RunningPeer | string> {
  const installed = binary ?? await install(folder);
  if (typeof installed !== "string") return installed.why;
  const configPath = join(folder, "config.yaml");
  // JSON is YAML.
  await Deno.writeTextFile(configPath, JSON.stringify(configOf(upstreamPort)));
  const port = freePort();
  const server = await startServer({
    name: "LiteLLM",
    command: [
      ...[installed, "--config", configPath],
      ...["--host", "127.0.0.1", "--port", String(port), "--num_workers", "1"],
    ],
    port,
    // Without it the list of prices is fetched from outside at each start.
    env: { LITELLM_LOCAL_MODEL_COST_MAP: "True" },
    logPath: join(folder, "peer.log"),
    core,
    readyMs: READY_MS,
  });
  return {
    id: "litellm",
    label: "LiteLLM",
    server,
    note: `is ${await versionOf(installed)} with a master key and prices, without a database, so without keys, ` +
      "budgets and spend: the engine for it is downloaded from outside",
    headersFor: () => ({ authorization: `Bearer ${KEY}` }),
    modelFor: (mode) => `canned-${mode}`,
  };
}

async function install(folder: string): Promise<string | { readonly why: string }> {
  if (!await isInstalled("python3")) return { why: "python3 is not installed" };
  const venv = join(folder, "venv");
  try {
    await run(["python3", "-m", "venv", venv], { timeoutMs: INSTALL_MS });
    await run([join(venv, "bin/pip"), "install", "--quiet", LITELLM_SPEC], { timeoutMs: INSTALL_MS });
  } catch (error) {
    return { why: `pip could not install ${LITELLM_SPEC}: ${String(error).split("\n", 1)[0]}` };
  }
  return join(venv, "bin/litellm");
}

/** A supplied program may have another version than the one that would be installed. */
async function versionOf(program: string): Promise<string> {
  const said = await run([program, "--version"], { timeoutMs: READY_MS }).catch(() => "");
  const [version] = /\d+\.\d+\.\d+\S*/.exec(said) ?? [];
  return version === undefined ? "a program that was supplied" : `litellm[proxy] ${version}`;
}

function configOf(upstreamPort: number): unknown {
  return {
    model_list: MODES.map((mode) => ({
      model_name: `canned-${mode}`,
      litellm_params: {
        model: "openai/canned-1",
        api_base: `http://127.0.0.1:${upstreamPort}/${mode}`,
        api_key: "upstream-key",
        input_cost_per_token: 0.000_000_01,
        output_cost_per_token: 0.000_000_01,
      },
    })),
    general_settings: { master_key: KEY },
  };
}
