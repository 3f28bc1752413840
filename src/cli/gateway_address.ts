import type { Config } from "../config/config.ts";
import { UsageError } from "./usage_error.ts";

/**
 * The address at which a command calls a gateway: the value of `--gateway`, else the configured address to listen on.
 * Without a final slash.
 *
 * @param given The value of `--gateway`.
 * @throws {UsageError} If the value is not an HTTP address, or the configured port is 0.
 */
export function gatewayAddress({ server }: Config, given: string | undefined): string {
  if (given !== undefined) {
    if (URL.canParse(given) && /^https?:/i.test(given)) return given.replace(/\/+$/, "");
    throw new UsageError("switchyard: --gateway must be an http or https address");
  }
  if (server.port === 0) throw new UsageError("switchyard: --gateway URL is required, as server.port is 0");
  const host = ["0.0.0.0", "::"].includes(server.host) ? "127.0.0.1" : server.host;
  return `http://${host.includes(":") ? `[${host}]` : host}:${server.port}`;
}
