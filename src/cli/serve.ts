import { parseArgs } from "node:util";
import { openConfigSource } from "../config/load_config.ts";
import type { LogLevel } from "../lib/log.ts";
import { runUntilSignal, startGateway } from "./gateway_process.ts";
import { openProcessOutput } from "./process_output.ts";
import { UsageError } from "./usage_error.ts";

/**
 * Runs `serve [--config FILE] [--show-secrets]`: the gateway, until a signal stops it.
 *
 * @returns The exit code.
 */
export async function serve(args: readonly string[]): Promise<number> {
  const { config: path, showSecrets } = readServeOptions(args);
  const source = openConfigSource({ path, env: (name) => Deno.env.get(name) });
  const loaded = source.load({});
  const { config } = loaded;
  const output = openProcessOutput(config);
  const live = { source, loaded, setLogLevel: (level: LogLevel) => void (output.log.level = level) };
  if (config.models.length === 0) {
    output.log.warn("catalog_empty", { reason: "no vendor key is set and the configuration has no models" });
  }
  return await runUntilSignal(output, () => startGateway({ config, live, showSecrets }, output));
}

function readServeOptions(args: readonly string[]): { config: string | undefined; showSecrets: boolean } {
  try {
    const options = { config: { type: "string" }, "show-secrets": { type: "boolean" } } as const;
    const { values } = parseArgs({ args: [...args], options });
    return { config: values.config, showSecrets: values["show-secrets"] ?? false };
  } catch (error) {
    throw new UsageError(`switchyard serve: ${(error as Error).message}`);
  }
}
