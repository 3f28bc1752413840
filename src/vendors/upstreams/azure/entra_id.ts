import type { AccessToken } from "../call/access_tokens.ts";
import type { EntraIdConfig } from "../settings/cloud_config.ts";
import type { Outbound } from "../call/outbound_call.ts";
import { fetchTokenByForm } from "../call/token_exchange.ts";

/**
 * Requests a token by client credentials (RFC 6749, 4.4).
 *
 * @param outbound The client of the origin of `tokenUrl`.
 * @param provider The provider that the token is for.
 * @param late Ends the request.
 * @throws {UpstreamFailure}
 */
export function fetchEntraToken(
  config: EntraIdConfig,
  outbound: Outbound,
  provider: string,
  late: AbortSignal,
): Promise<AccessToken> {
  const form = {
    grant_type: "client_credentials",
    client_id: config.clientId,
    client_secret: config.clientSecret,
    scope: config.scope,
  };
  return fetchTokenByForm(outbound, new URL(config.tokenUrl).pathname, form, provider, late);
}
