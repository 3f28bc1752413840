import type { Config } from "../../../config/config.ts";
import { UsageError } from "../usage_error.ts";

/**
 * The address at which a command calls the admin API of a gateway: the value of `--gateway`, else the configured
 * address to listen on, which is `server.admin_listen` if that is set. Without a final slash.
 *
 * @param given The value of `--gateway`.
 * @throws {UsageError} If the value is not an HTTP address, or the configured port is 0.
 */
export function gatewayAddress({ server }: Config, given: string | undefined): string {
  if (given !== undefined) {
    if (URL.canParse(given) && /^https?:/i.test(given)) return given.replace(/\/+$/, "");
    throw new UsageError("switchyard: --gateway must be an http or https address");
  }
  const listen = server.adminListen ?? server;
  if (listen.port === 0) throw new UsageError("switchyard: --gateway URL is required, as the configured port is 0");
  const host = ["0.0.0.0", "::"].includes(listen.host) ? "127.0.0.1" : listen.host;
  return `http://${host.includes(":") ? `[${host}]` : host}:${listen.port}`;
}
