import { GatewayError, invalidField } from "../../platform/lib/basics/gateway_error.ts";
import type { Candidate } from "./candidates.ts";

/** The header that names one provider. Source: docs/api/routing.md#pin. */
const PIN_HEADER = "x-service-provider-type";

/** The pin in the header; null if there is none. */
export function readHeaderPin(headers: Pick<Headers, "get">): string | null {
  const value = headers.get(PIN_HEADER);
  return value === null ? null : value.trim();
}

/**
 * The pin in `extra_body.provider.type` of a body; null if there is none.
 *
 * @throws {GatewayError} `invalid_request` if one of the three has the wrong type.
 */
export function readBodyPin(body: { readonly [key: string]: unknown }): string | null {
  const extra = body.extra_body;
  if (extra === undefined || extra === null) return null;
  if (!isObject(extra)) throw invalidField("extra_body", "expected an object");
  return readProviderPin(extra.provider, "extra_body.provider");
}

/**
 * The `type` of a `provider` object; null if there is none.
 *
 * @param field The path of the object, for the error.
 * @throws {GatewayError} `invalid_request` if it is not an object, or its type is not a name.
 */
export function readProviderPin(provider: unknown, field: string): string | null {
  if (provider === undefined || provider === null) return null;
  if (!isObject(provider)) throw invalidField(field, "expected an object");
  const type = provider.type;
  if (type === undefined || type === null) return null;
  if (typeof type !== "string" || type === "") throw invalidField(`${field}.type`, "expected the name of a provider");
  return type;
}

/**
 * The pin of a request, checked against the configured providers and those that serve the model. Different pins in
 * header and body are rejected. Source: docs/api/routing.md#pin-errors.
 *
 * @param isProvider Whether a name is that of a configured provider.
 * @throws {GatewayError} `invalid_request`, `invalid_provider_type`, `provider_type_unavailable`.
 */
export function resolvePin(
  header: string | null,
  body: string | null,
  model: string,
  serving: readonly Candidate[],
  isProvider: (name: string) => boolean,
): string | null {
  if (header !== null && body !== null && header !== body) {
    throw invalidField("extra_body.provider.type", "it differs from the header X-Service-Provider-Type");
  }
  const pin = header ?? body;
  if (pin === null) return null;
  if (serving.some(({ provider }) => provider === pin)) return pin;
  const names = serving.map(({ provider }) => `"${provider}"`).join(", ");
  if (!isProvider(pin)) {
    throw new GatewayError("invalid_provider_type", `Cannot route: "${shown(pin)}" is not the name of a provider`);
  }
  throw new GatewayError(
    "provider_type_unavailable",
    `Cannot route: provider "${pin}" does not serve "${model}"; the providers that do: ${names}`,
  );
}

function isObject(value: unknown): value is { readonly [key: string]: unknown } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A caller's value for an error message: truncated, visible ASCII only. */
function shown(word: string): string {
  return word.replace(/[^\x21-\x7e]/g, "?").slice(0, 64);
}
