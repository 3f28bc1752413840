import type { Clock } from "../../../platform/lib/basics/clock.ts";
import { createRedactor } from "../../../platform/lib/text/redact.ts";
import type { HttpClient } from "../../../platform/net/http1/client.ts";
import { originOf } from "../../../platform/net/http1/wire_request.ts";
import { type AccessTokens, createAccessTokens } from "../call/access_tokens.ts";
import { fetchEntraToken } from "../azure/entra_id.ts";
import { createOutbound } from "../call/outbound.ts";
import type { Outbound } from "../call/outbound_call.ts";
import type { ProviderConfig } from "../settings/provider_config.ts";
import { fetchServiceAccountToken } from "../vertex/service_account.ts";

/** What the tokens of a provider depend on. */
export interface TokenParts {
  /** The name that failures contain. */
  readonly provider: string;
  readonly config: Pick<ProviderConfig, "entraId" | "vertex" | "timeouts">;
  /** The client of the provider, with its certificates and proxies. */
  readonly client: HttpClient;
  readonly clock: Clock;
}

/** Creates the tokens of a provider, see {@linkcode openTokens}. */
export type OpenTokens = (parts: TokenParts) => AccessTokens | undefined;

/** The maximum silence of an address that issues tokens. */
const MAX_IDLE_MS = 10_000;

/** Creates the source of a provider's access tokens; undefined if none is configured. It fetches at the first use. */
export function openTokens(parts: TokenParts): AccessTokens | undefined {
  const { provider, config: { entraId, vertex }, clock } = parts;
  const issuerAt = (tokenUrl: string, secret: string) => issuerOf(tokenUrl, secret, parts);
  if (entraId !== undefined) {
    const issuer = issuerAt(entraId.tokenUrl, entraId.clientSecret);
    return createAccessTokens((late) => fetchEntraToken(entraId, issuer, provider, late), clock);
  }
  const source = vertex?.account;
  if (!source) return undefined;
  return createAccessTokens(
    (late) => fetchServiceAccountToken({ source, provider, issuerAt, now: clock.now(), late }),
    clock,
  );
}

/** The client of the origin that issues tokens. */
function issuerOf(tokenUrl: string, secret: string, { provider, config, client, clock }: TokenParts): Outbound {
  const baseUrl = new URL(new URL(tokenUrl).origin);
  return createOutbound({
    provider,
    baseUrl,
    origin: originOf(baseUrl),
    headers: {},
    idleMs: Math.min(config.timeouts.idleMs, MAX_IDLE_MS),
    firstByteMs: MAX_IDLE_MS,
    client,
    clock,
    redact: createRedactor([secret]),
  });
}
