import type * as z from "zod";
import type { Allowances } from "../contract/allowances.ts";
import {
  checkCloudFields,
  cloudAddressOf,
  type CloudConfig,
  cloudConfigOf,
  type CloudProviderInput,
  hasTokens,
} from "./cloud_config.ts";
import { vendorBaseUrl } from "../configured_vendors.ts";
import { type ProviderKind, supportsSecretKey } from "../kinds.ts";
import type { Vendor } from "../vendor.ts";
import { type PresetName, presetOf } from "../vendors.ts";
import type { Quirks } from "../../../conversation/contract/quirks.ts";
import type { PromptCachingSetting } from "../../../money/limits/access_limits.ts";
import type { ProviderFacts } from "../../../conversation/models/known_models.ts";
import { defaultQuirks } from "./default_quirks.ts";
import type { CredentialConfig, CredentialInput } from "./credential_config.ts";
import { writtenProvider } from "./provider_fields.ts";
import { limitsOf, type WaitingLimits } from "./provider_limits.ts";
import type { ProviderHalt, StoredProviderState } from "../../../platform/names/provider_halt.ts";
import { type ReportAccess, reportFormatOf } from "./report_access.ts";
import type { ReadContext } from "../../../platform/lib/settings/settings.ts";

/**
 * The text endpoints of a provider of kind openai or xai: chat completions, responses or both. `chat_first` is both
 * where models of other makers have no responses: it is used for those that refuse requests at chat completions.
 */
export type TextFormats = "chat" | "responses" | "both" | "chat_first";

/** The timeouts of a provider. */
export interface ProviderTimeouts {
  /** Until the connection is established, in milliseconds. Default: 10 s. */
  readonly connectMs: number;
  /** From the end of the request to the first byte of the response, in milliseconds. Default: 600 s. */
  readonly firstByteMs: number;
  /** Between two bytes of a response, in milliseconds. Default: 120 s. */
  readonly idleMs: number;
}

/** One configured account at a vendor. `provider.type` selects it by its name, the key of its entry. */
export interface ProviderConfig extends CloudConfig {
  /** The vendor kind, also of a preset. */
  readonly kind: ProviderKind;
  /** The base URL as for the vendor's own client, without a trailing slash. Default: see {@linkcode vendorBaseUrl}. */
  readonly baseUrl: string;
  /** If null, no key is sent, for servers in the operator's own network. Required if `base_url` is not set. */
  readonly apiKey: string | null;
  /** Signs tokens that name `apiKey`, for kinds with a key pair. Default: none, so that `apiKey` itself is sent. */
  readonly secretKey?: string;
  /** Default: `both` at api.openai.com, `chat_first` at Azure, else `chat`. Only for the kinds openai and xai. */
  readonly speaks: TextFormats;
  /** Sent with every request, by lower-case name. The values are secrets. Default: none. */
  readonly headers: Readonly<Record<string, string>>;
  /** The timeouts. */
  readonly timeouts: ProviderTimeouts;
  /** The access to the vendor's reports about cost and usage. Default: none. */
  readonly reports?: ReportAccess;
  /** What callers may use in addition to their own account's references and tools. Default: nothing. */
  readonly allows?: Allowances;
  /** How its wire formats differ from their documentation. Default: derived from the base URL. */
  readonly quirks: Quirks;
  /**
   * The region in which the vendor works for it, in lower case, for prices that depend on it. Default: that of a cloud,
   * or of a regional host of OpenAI; absent if there is none.
   */
  readonly pricingRegion?: string;
  /** What its models take and refuse, by patterns of their names, before the built-in facts. Default: none. */
  readonly facts?: ProviderFacts;
  /** Whether the gateway makes use of the vendor's prompt cache by itself. Default: `auto`. */
  readonly promptCaching?: PromptCachingSetting;
  /** Whether lines of batches are sent in the vendor's own batches, if it has them. Default: false. */
  readonly hasBatches?: boolean;
  /** The names of the models in its list that are served if they have a price, with stars. Default: none. */
  readonly discover?: readonly string[];
  /** Limits on its use by all callers together. Default: none. */
  readonly limits?: WaitingLimits;
  /** Several credentials of the same vendor in place of `apiKey`, which is null then; at least one. Default: none. */
  readonly credentials?: readonly CredentialConfig[];
  /** Why it gets no new requests. Absent: it gets them. */
  readonly halt?: ProviderHalt;
  /** Its state as the admin API has set it. Absent: only the configuration states it. */
  readonly setState?: StoredProviderState;
}

/** The fields of a provider. `preset` is null if `kind` is a kind itself. */
type Input = Omit<z.output<typeof writtenProvider>, "kind"> & {
  readonly kind: ProviderKind;
  /** The value of `kind`, which can be the name of the preset. */
  readonly name: ProviderKind | PresetName;
  readonly preset: Vendor | null;
};

/** The schema of a provider. */
export const providerSchema: z.ZodType<ProviderConfig> = writtenProvider
  .transform((provider): Input => {
    const preset = presetOf(provider.kind);
    const kind = preset?.kind ?? provider.kind as Exclude<typeof provider.kind, PresetName>;
    return { ...provider, kind, name: provider.kind, preset };
  })
  .superRefine((provider, context) => {
    refuseBadCredentials(provider, context);
    checkCloudFields(cloudInputOf(provider), (field, message) => {
      context.addIssue({ code: "custom", path: [field], message });
    });
    const { preset } = provider;
    const isOwnAddress = preset?.baseUrl === null;
    if (isOwnAddress && !provider.base_url) {
      context.addIssue({ code: "custom", path: ["base_url"], message: "the address of the account at the vendor" });
    }
    const needsKey = isOwnAddress
      ? Object.keys(provider.headers).length === 0
      : !provider.base_url && (preset === null || preset.keyNames.length > 0);
    if (needsKey && !provider.api_key && !isKeyless(provider) && provider.credentials === undefined) {
      const named = preset === null ? "" : `, here or in the environment variable ${preset.keyNames.join(" or ")}`;
      context.addIssue({
        code: "custom",
        path: ["api_key"],
        message: isOwnAddress
          ? `the vendor's key${named}`
          : `the vendor's key, which is required without base_url${named}`,
      });
    }
    if (provider.secret_key && !supportsSecretKey(provider.kind)) {
      context.addIssue({
        code: "custom",
        path: ["secret_key"],
        message: `no such field for kind "${provider.kind}"`,
      });
    }
    if (provider.secret_key && !provider.api_key) {
      context.addIssue({ code: "custom", path: ["api_key"], message: "the access key that secret_key belongs to" });
    }
    if (provider.report_key && reportsOf(provider) === null) {
      const message = `no such field for kind "${provider.name}", whose vendor has no report that is read`;
      context.addIssue({ code: "custom", path: ["report_key"], message });
    }
    if (provider.speaks && provider.kind !== "openai" && provider.kind !== "xai") {
      context.addIssue({
        code: "custom",
        path: ["speaks"],
        message: `no such field for kind "${provider.kind}"`,
      });
    }
  })
  .transform(providerOf);

/**
 * Reads the configuration of a provider and adds all defaults.
 *
 * @param context The wording of problems; see {@linkcode ReadContext}.
 * @throws {z.ZodError} With the path of every invalid field.
 */
export function readProviderConfig(value: unknown, context?: ReadContext): ProviderConfig {
  return providerSchema.parse(value, context);
}

/** Notes problems of `credentials`. */
function refuseBadCredentials({ kind, api_key, secret_key, credentials }: Input, context: z.RefinementCtx): void {
  if (credentials === undefined) return;
  const note = (path: (string | number)[], message: string) => context.addIssue({ code: "custom", path, message });
  if (api_key) note(["api_key"], "none next to credentials, each of which has its own");
  if (secret_key) note(["secret_key"], "none next to credentials, each of which has its own");
  if (credentials.length > 0 && credentials.every(({ weight }) => weight === 0)) {
    note(["credentials"], "a list with a weight above 0");
  }
  const names = new Set<string>();
  for (const [index, { name, secret_key: secretKey }] of credentials.entries()) {
    if (names.has(name)) note(["credentials", index, "name"], "a name that no other credential of the provider has");
    names.add(name);
    if (secretKey && !supportsSecretKey(kind)) {
      note(["credentials", index, "secret_key"], `no such field for kind "${kind}"`);
    }
  }
}

/** Whether the provider needs no key: tokens authorize its requests, or its kind has an own check. */
function isKeyless(provider: Input): boolean {
  return provider.kind === "vertex" || provider.kind === "bedrock" || hasTokens(provider);
}

function cloudInputOf(provider: Input): CloudProviderInput {
  return { ...provider, isAzure: provider.preset === presetOf("azure") };
}

/** The access to the vendor's reports; null without a key, or if the vendor has none. */
function reportsOf(provider: Input): ReportAccess | null {
  const { name, report_key: key } = provider;
  const format = reportFormatOf(name, addressOf(provider));
  return key === null || format === null ? null : { format, key };
}

function addressOf(provider: Input): string {
  const { base_url, preset, kind } = provider;
  return base_url ?? preset?.baseUrl ?? cloudAddressOf(cloudInputOf(provider)) ?? vendorBaseUrl(kind);
}

function providerOf(provider: Input): ProviderConfig {
  const { preset } = provider;
  const cloud = cloudInputOf(provider);
  const address = addressOf(provider);
  const reports = reportsOf(provider);
  const baseUrl = provider.api_version === null
    ? withPath(withoutVersion(provider.kind, address), preset?.path)
    : withPath(address.replace(/\/openai(?:\/v1)?$/, ""), "/openai");
  const limits = limitsOf(provider);
  const cloudConfig = cloudConfigOf(cloud);
  const pricingRegion = provider.pricing_region ?? cloudConfig.bedrock?.region ?? cloudConfig.vertex?.location ??
    regionOfHost(new URL(baseUrl));
  return {
    kind: provider.kind,
    baseUrl,
    ...keyAndHeaders(provider, preset?.keyHeader),
    ...(provider.secret_key !== null && { secretKey: provider.secret_key }),
    ...(reports !== null && { reports }),
    ...cloudConfig,
    ...(pricingRegion !== null && { pricingRegion }),
    speaks: provider.speaks ?? preset?.speaks ?? textFormatsAt(new URL(baseUrl)),
    timeouts: provider.timeouts,
    allows: { references: provider.allow_references, tools: provider.allow_tools },
    quirks: provider.quirks ? new Set(provider.quirks) : defaultQuirks(provider.kind, new URL(baseUrl)),
    ...(provider.facts && { facts: provider.facts }),
    ...(provider.prompt_caching && { promptCaching: provider.prompt_caching }),
    ...(hasBatches(provider, baseUrl) && { hasBatches: true }),
    ...(provider.discover && { discover: provider.discover.allow }),
    ...(provider.state !== "on" && { halt: { state: provider.state, by: null, since: null } }),
    ...(limits && { limits: { ...limits, maxWaitMs: provider.max_wait } }),
    ...(provider.credentials && {
      credentials: provider.credentials.map((each) => credentialOf(each, provider.max_wait, preset?.keyHeader)),
    }),
  };
}

/** Another vendor with the same interface may not have its batches, so that the operator must switch them on. */
function hasBatches({ batches, kind }: Input, baseUrl: string): boolean {
  if (batches !== "auto" || !VENDORS_WITH_BATCHES.has(kind)) return batches === "on";
  const [own, used] = [new URL(vendorBaseUrl(kind)).hostname, new URL(baseUrl).hostname];
  return used === own || used.endsWith(`.${own}`);
}

/** The kinds whose adapters have batches. */
const VENDORS_WITH_BATCHES: ReadonlySet<ProviderKind> = new Set(["openai", "anthropic", "google"]);

const OPENAI_HOST = new URL(vendorBaseUrl("openai")).hostname;

/**
 * The region of a regional host of OpenAI, which precedes the host: `us`. Source: OpenAI documentation, "Data
 * residency".
 */
function regionOfHost({ hostname }: URL): string | null {
  const [region = "", ...rest] = hostname.split(".");
  return rest.join(".") === OPENAI_HOST && /^[a-z]{2,6}$/.test(region) ? region : null;
}

/** Azure has responses below its version 1, for models of OpenAI. */
function textFormatsAt({ hostname, pathname }: URL): TextFormats {
  if (hostname === OPENAI_HOST) return "both";
  return /\.azure\.com$/.test(hostname) && pathname.endsWith("/openai/v1") ? "chat_first" : "chat";
}

function credentialOf(input: CredentialInput, maxWaitMs: number, keyHeader: string | undefined): CredentialConfig {
  const limits = limitsOf(input);
  return {
    name: input.name,
    ...keyAndHeaders(input, keyHeader),
    ...(input.secret_key !== null && { secretKey: input.secret_key }),
    weight: input.weight,
    ...(limits && { limits: { ...limits, maxWaitMs } }),
  };
}

/** The key, or a header field with it where the vendor has one of its own. */
function keyAndHeaders(
  { api_key: apiKey, headers }: Pick<Input, "api_key" | "headers">,
  keyHeader: string | undefined,
): Pick<ProviderConfig, "apiKey" | "headers"> {
  const written = inLowerCase(headers);
  if (keyHeader === undefined || apiKey === null) return { apiKey, headers: written };
  return { apiKey: null, headers: { [keyHeader]: apiKey, ...written } };
}

function inLowerCase(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

/** The paths that text clients of a vendor add to its host, where each capability has its own version. */
const TEXT_PATHS: Readonly<Partial<Record<ProviderKind, RegExp>>> = {
  minimax: /\/v1$/,
  alibaba: /\/(?:compatible-mode|api)\/v1$/,
};

function withPath(baseUrl: string, path = ""): string {
  return baseUrl.endsWith(path) ? baseUrl : baseUrl + path;
}

function withoutVersion(kind: ProviderKind, baseUrl: string): string {
  return baseUrl.replace(TEXT_PATHS[kind] ?? /$^/, "");
}
