import type { AnsweringModels } from "../../../conversation/models/answering_models.ts";
import type { ProviderFacts } from "../../../conversation/models/known_models.ts";
import type { Quirks } from "../../../conversation/contract/quirks.ts";
import { providerIdOf } from "../../../platform/names/provider_name.ts";
import type { Redactor } from "../../../platform/lib/text/redact.ts";
import type { Allowances } from "./allowances.ts";
import type { Capabilities } from "./capabilities.ts";
import type { ListedModel } from "./model_listing.ts";
import type { Outbound } from "../call/outbound_call.ts";
import type { TextEndpoint } from "./upstream.ts";

/** A configured account at a vendor, which requests are sent through. A pin selects it by name. */
export interface Provider {
  /** The operator's name for it, as in pins. */
  readonly name: string;
  /** The name of the credential that it sends; absent for a provider without named credentials. */
  readonly credential?: string;
  /** The HTTP client of the vendor, which adds base URL and key. */
  readonly outbound: Outbound;
  /** Removes the provider's key, and text that looks like a key, from its messages. */
  readonly redact: Redactor;
  /** The text endpoints of all models, preferred first. See {@linkcode textEndpointsOf}. */
  readonly text: readonly TextEndpoint[];
  /** What it has besides text. */
  readonly capabilities: Capabilities;
  /** Resolves if the vendor accepts the credential, see `CredentialProbe`; absent if its kind has no probe. */
  readonly probe?: (signal: AbortSignal) => Promise<void>;
  /** Tests the credential on behalf of the operator; absent if its kind has a probe. */
  readonly check?: (signal: AbortSignal) => Promise<void>;
  /** The models that the vendor lists, see `listModels`; absent if its kind has no list. */
  readonly listModels?: (signal: AbortSignal) => Promise<readonly ListedModel[]>;
  /** The region in which the vendor works for it, in lower case, which prices can depend on; absent if unknown. */
  readonly region?: string;
  /** What its callers may use in addition to their own account's references and tools. Default: nothing. */
  readonly allows?: Allowances;
  /** How its wire formats differ from their documentation. */
  readonly quirks: Quirks;
  /** What the operator states about its models, by patterns of their names. Absent: nothing. */
  readonly facts?: ProviderFacts;
  /** Whether the gateway makes no use of the vendor's prompt cache by itself. Default: it does. */
  readonly isUncached?: boolean;
  /** The models with which the vendor answers in the place of others. Absent: its names are the operator's own. */
  readonly answering?: AnsweringModels;
  /** The first part of the ids of the vendor's built-in models; absent if it has none. */
  readonly builtInFamily?: string;
  /** The time limit for the first byte of a streamed response. */
  readonly streamFirstByteMs: number;
  /** The time limit for the first byte of a complete response, which arrives when the model has finished. */
  readonly wholeFirstByteMs: number;
}

/**
 * Returns the text endpoints that serve a model, preferred first; empty if there are none.
 *
 * @param model The vendor's name of the model.
 */
export function textEndpointsOf({ text }: Pick<Provider, "text">, model: string): readonly TextEndpoint[] {
  return text.some(isSelective) ? text.filter((endpoint) => endpoint.serves?.(model) ?? true) : text;
}

function isSelective({ serves }: TextEndpoint): boolean {
  return serves !== undefined;
}

/** The id of a provider, with its credential: see `providerIdOf`. */
export function idOf({ name, credential }: Pick<Provider, "name" | "credential">): string {
  return providerIdOf(name, credential ?? null);
}
