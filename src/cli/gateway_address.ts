import type { Config } from "../config/config.ts";
import { UsageError } from "./usage_error.ts";

/**
 * Where a running gateway is called: as the command line says, else where the configuration lets it listen. Without a
 * final slash.
 *
 * @param given The value of `--gateway`.
 * @throws {UsageError} If the configuration leaves the port open.
 */
export function gatewayAddress({ server }: Config, given: string | undefined): string {
  if (given !== undefined) {
    if (URL.canParse(given) && /^https?:/i.test(given)) return given.replace(/\/+$/, "");
    throw new UsageError("switchyard: expected an http or https address behind --gateway");
  }
  if (server.port === 0) throw new UsageError("switchyard: expected --gateway URL, as server.port is 0");
  const host = ["0.0.0.0", "::"].includes(server.host) ? "127.0.0.1" : server.host;
  return `http://${host.includes(":") ? `[${host}]` : host}:${server.port}`;
}
