import type { RunningApp } from "../app/app.ts";
import type { GatewayRoles } from "../app/opening/gateway_roles.ts";
import { storeAddressOf } from "../../config/tree/store_address.ts";
import type { LogLevel } from "../../platform/lib/basics/log.ts";
import { openThreadedConfig } from "./process/config_thread.ts";
import { UsageError } from "./usage_error.ts";
import { parseOptions } from "./command_options.ts";

/**
 * Runs `serve [--config FILE] [--show-secrets] [--roles ROLES] [--standby]`: the gateway, until a signal stops it.
 *
 * @param greet Gives what is printed when the gateway is ready. Default: nothing.
 * @returns The exit code.
 * @throws {UsageError} If an option is unknown, or only PostgreSQL has it and the store is another.
 */
export async function serve(
  args: readonly string[],
  greet: (app: RunningApp) => Promise<string | null> = () => Promise.resolve(null),
): Promise<number> {
  const { config: path, showSecrets, isStandby, roles } = readServeOptions(args);
  const source = openThreadedConfig(path);
  // The gateway's code is loaded while the thread reads the configuration.
  const [loaded, { runUntilSignal, startGateway }, { openProcessOutput }, { warnOfFewDescriptors }] = await Promise.all(
    [
      source.load({}),
      import("./process/gateway_process.ts"),
      import("./process/process_output.ts"),
      import("../../platform/http/listen.ts"),
    ],
  );
  const { config } = loaded;
  if (isStandby && storeAddressOf(config.store).engine !== "postgres") {
    throw new UsageError("switchyard serve: --standby expects a store in PostgreSQL (store: postgres://…)");
  }
  if (!(roles.serves && roles.works) && storeAddressOf(config.store).engine !== "postgres") {
    throw new UsageError("switchyard serve: a single role needs a store in PostgreSQL (store: postgres://…)");
  }
  const output = openProcessOutput(config);
  const live = { source, loaded, setLogLevel: (level: LogLevel) => void (output.log.level = level) };
  if (config.models.length === 0) {
    const reason = Object.keys(config.providers).length === 0
      ? 'no vendor key is set and the configuration has no models: "switchyard init" writes a configuration'
      : "the providers have no built-in models, and the configuration has no others with a price";
    output.log.warn("catalog_empty", { reason });
  }
  const { promise: lost, resolve: onLost } = Promise.withResolvers<void>();
  const sharing = { isStandby, onLost };
  const start = async () => {
    const app = await startGateway({ config, live, showSecrets, sharing, roles }, output);
    await warnOfFewDescriptors(output.log);
    const greeting = await greet(app);
    if (greeting !== null) output.print(greeting);
    return app;
  };
  return await runUntilSignal(config, output, start, { isWaiting: isStandby, lost });
}

interface ServeOptions {
  readonly config: string | undefined;
  readonly showSecrets: boolean;
  /** Whether to wait while another gateway uses the database. */
  readonly isStandby: boolean;
  /** What the gateway does. */
  readonly roles: GatewayRoles;
}

function readServeOptions(args: readonly string[]): ServeOptions {
  const options = {
    config: { type: "string" },
    "show-secrets": { type: "boolean" },
    roles: { type: "string" },
    standby: { type: "boolean" },
  } as const;
  const { values } = parseOptions("serve", args, { options });
  const { config, "show-secrets": showSecrets = false, roles, standby: isStandby = false } = values;
  return { config, showSecrets, isStandby, roles: rolesIn(roles ?? "serve,work") };
}

function rolesIn(text: string): GatewayRoles {
  const names = new Set(text.split(","));
  const [serves, works] = [names.delete("serve"), names.delete("work")];
  if (names.size > 0 || !(serves || works)) {
    throw new UsageError(`switchyard serve: --roles expects serve, work or both, got "${text}"`);
  }
  return { serves, works };
}
