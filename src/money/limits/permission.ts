import type { Endpoint } from "../../platform/endpoints/endpoint.ts";
import type { EndpointName } from "../../platform/endpoints/limit_name.ts";
import { GatewayError } from "../../platform/lib/basics/gateway_error.ts";
import { type Cidr, isInBlocks, readCidr } from "../../platform/net/address.ts";
import type { AccessLimits, EffectiveLimits } from "./access_limits.ts";
import { matchesWildcard } from "./wildcard.ts";

/** The limits of a key and its account, which decide together. */
export type CallerLimits = Pick<EffectiveLimits, "key" | "account">;

/** The names of a model. */
export interface PermittedModel {
  readonly id: string;
  readonly canonicalSlug: string;
}

/** Resolves a name as a caller could send it: an id, a slug, a bare name or an alias. */
export type FindModel = (name: string) => PermittedModel | null;

/** Limits in a form that is fast to check. Null: no limit. */
interface Rules {
  readonly models: { readonly names: ReadonlySet<string>; readonly patterns: readonly string[] } | null;
  readonly endpoints: ReadonlySet<EndpointName> | null;
  readonly providers: ReadonlySet<string> | null;
  readonly addresses: readonly Cidr[] | null;
}

/** Limits are immutable and shared by the requests of a cached key, so each is compiled once. */
const compiled = new WeakMap<AccessLimits, Rules>();

function rulesOf(limits: AccessLimits): Rules {
  let rules = compiled.get(limits);
  if (rules === undefined) compiled.set(limits, rules = compile(limits));
  return rules;
}

function compile({ models, endpoints, providers, ipAllow }: AccessLimits): Rules {
  return {
    models: models === undefined ? null : {
      names: new Set(models.filter((entry) => !entry.includes("*"))),
      patterns: models.filter((entry) => entry.includes("*")),
    },
    endpoints: endpoints === undefined ? null : new Set(endpoints),
    providers: providers === undefined ? null : new Set(providers),
    addresses: ipAllow === undefined ? null : ipAllow.map(readCidr),
  };
}

/**
 * Checks the address and the endpoint of a request.
 *
 * @param endpoint That of the matched route.
 * @param remote The address of the client.
 * @throws {GatewayError} `permission_denied`, with what is permitted.
 */
export function checkAccess(
  limits: CallerLimits,
  { permission }: Pick<Endpoint, "permission">,
  remote: string,
): void {
  for (const holder of HOLDERS) {
    const { addresses, endpoints } = rulesOf(limits[holder]);
    if (addresses !== null && !isInBlocks(remote, addresses)) {
      throw denied(`Cannot accept the request: this ${holder} may not be used from the address ${remote}`);
    }
    if (endpoints === null || permission === "open") continue;
    if (permission !== undefined && endpoints.has(permission)) continue;
    throw denied(`Cannot use this endpoint: this ${holder} may call ${[...endpoints].join(", ")}`);
  }
}

/** Whether the limits leave every model and every provider. */
export function permitsEveryModel(limits: CallerLimits): boolean {
  return HOLDERS.every((holder) => limits[holder].models === undefined && limits[holder].providers === undefined);
}

/** Whether a provider may serve requests. */
export function permitsProvider(limits: CallerLimits, provider: string): boolean {
  return HOLDERS.every((holder) => rulesOf(limits[holder]).providers?.has(provider) ?? true);
}

/** Whether a model may be used. A name without `*` permits the model that it resolves to. */
export function permitsModel(limits: CallerLimits, model: PermittedModel, find: FindModel): boolean {
  return HOLDERS.every((holder) => isPermitted(limits[holder], model, find));
}

function isPermitted(limits: AccessLimits, { id, canonicalSlug }: PermittedModel, find: FindModel): boolean {
  const { models } = rulesOf(limits);
  if (models === null || models.names.has(id) || models.names.has(canonicalSlug)) return true;
  const matches = (pattern: string) => matchesWildcard(pattern, id) || matchesWildcard(pattern, canonicalSlug);
  return models.patterns.some(matches) || models.names.values().some((name) => find(name)?.id === id);
}

const MAX_SHOWN_MODELS = 10;

/** The error for a model that {@linkcode permitsModel} refuses. It names the model and those that may be used. */
export function modelDenied(limits: CallerLimits, model: PermittedModel, find: FindModel): GatewayError {
  const holder = HOLDERS.find((each) => !isPermitted(limits[each], model, find)) ?? "key";
  const permitted = limits[holder].models ?? [];
  const shown = permitted.slice(0, MAX_SHOWN_MODELS).map((entry) => `"${entry}"`).join(", ");
  const more = permitted.length > MAX_SHOWN_MODELS ? ` and ${permitted.length - MAX_SHOWN_MODELS} more` : "";
  return denied(`Cannot use the model "${model.id}": this ${holder} may use ${shown}${more}`, "model");
}

/** The error for a model of which no provider may be used. */
export function providersDenied(limits: CallerLimits, model: PermittedModel): GatewayError {
  const permitted = HOLDERS.flatMap((holder) => limits[holder].providers ?? []);
  const shown = [...new Set(permitted)].filter((name) => permitsProvider(limits, name)).join(", ");
  const which = shown === "" ? "this key may use no provider" : `this key may use the providers ${shown}`;
  return denied(`Cannot use the model "${model.id}": ${which}, and none of them serves it`, "model");
}

const HOLDERS = ["key", "account"] as const;

function denied(message: string, field?: string): GatewayError {
  return new GatewayError("permission_denied", message, { field });
}
