import * as z from "zod";
import { referencesSchema, toolsSchema } from "./allowance_settings.ts";
import type { Allowances } from "./allowances.ts";
import { PROVIDER_KINDS, type ProviderKind, supportsSecretKey } from "./kinds.ts";
import { type Quirk, QUIRKS, type Quirks } from "../conversation/quirks.ts";
import { defaultQuirks } from "./default_quirks.ts";
import { LIMIT_FIELDS, limitsOf, maxWaitSchema, type WaitingLimits } from "./provider_limits.ts";
import { httpAddress, optional, type ReadContext, seconds, secret } from "../lib/settings.ts";

/** The text endpoints of a provider of kind openai or xai: chat completions, responses or both. */
export type TextFormats = "chat" | "responses" | "both";

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
export interface ProviderConfig {
  /** The vendor kind. */
  readonly kind: ProviderKind;
  /** The base URL as for the vendor's own client, without a trailing slash. Default: see {@linkcode BASE_URLS}. */
  readonly baseUrl: string;
  /** If null, no key is sent, for servers in the operator's own network. Required if `base_url` is not set. */
  readonly apiKey: string | null;
  /** Signs tokens that name `apiKey`, for kinds with a key pair. Default: none, so that `apiKey` itself is sent. */
  readonly secretKey?: string;
  /** Default: `both` at api.openai.com, `chat` elsewhere. Only for the kinds openai and xai. */
  readonly speaks: TextFormats;
  /** Sent with every request, by lower-case name. The values are secrets. Default: none. */
  readonly headers: Readonly<Record<string, string>>;
  /** The timeouts. */
  readonly timeouts: ProviderTimeouts;
  /** What callers may use in addition to their own account's references and tools. Default: nothing. */
  readonly allows?: Allowances;
  /** How its wire formats differ from their documentation. Default: derived from the base URL. */
  readonly quirks: Quirks;
  /** Limits on its use by all callers together. Default: none. */
  readonly limits?: WaitingLimits;
}

/** The base URL of each kind's own vendor. */
export const BASE_URLS: Readonly<Record<ProviderKind, string>> = {
  openai: "https://api.openai.com/v1",
  anthropic: "https://api.anthropic.com",
  google: "https://generativelanguage.googleapis.com",
  ark: "https://ark.ap-southeast.bytepluses.com/api/v3",
  xai: "https://api.x.ai/v1",
  minimax: "https://api.minimax.io",
  fal: "https://queue.fal.run",
  bfl: "https://api.bfl.ai/v1",
  kling: "https://api-singapore.klingai.com",
  alibaba: "https://dashscope-intl.aliyuncs.com",
  replicate: "https://api.replicate.com/v1",
  runway: "https://api.dev.runwayml.com",
};

/**
 * Header fields that the gateway or the connection sets (RFC 9110, 7.6.1). An operator's value would break the message.
 */
const OWN_HEADERS = new Set([
  "connection",
  "content-length",
  "content-type",
  "content-encoding",
  "accept-encoding",
  "host",
  "keep-alive",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

const HEADER_EXPECTATION = "a header name that is not set by the gateway itself";
const VALUE_EXPECTATION = "a header value of visible ASCII characters";

const headerName = z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/, HEADER_EXPECTATION)
  .refine((name) => !OWN_HEADERS.has(name.toLowerCase()), HEADER_EXPECTATION);
const headerValue = z.string(VALUE_EXPECTATION).regex(/^[\x20-\x7e]{0,4096}$/, VALUE_EXPECTATION);

const input = z.strictObject({
  kind: z.enum(PROVIDER_KINDS),
  base_url: optional(httpAddress()),
  api_key: optional(secret(1)),
  secret_key: optional(secret(1)),
  speaks: z.enum(["chat", "responses", "both"]).optional(),
  headers: z.record(headerName, headerValue).default({}),
  timeouts: z.strictObject({
    connect: seconds(0.01, 600).default(10_000),
    first_byte: seconds(0.01, 86_400).default(600_000),
    idle: seconds(0.01, 86_400).default(120_000),
  }).prefault({}),
  allow_references: referencesSchema(),
  allow_tools: toolsSchema(),
  quirks: z.array(z.enum(Object.keys(QUIRKS) as [Quirk, ...Quirk[]])).optional(),
  ...LIMIT_FIELDS,
  max_wait: maxWaitSchema(),
});

type Input = z.infer<typeof input>;

const schema: z.ZodType<ProviderConfig> = input
  .superRefine((provider, context) => {
    if (!provider.base_url && !provider.api_key) {
      context.addIssue({
        code: "custom",
        path: ["api_key"],
        message: "the vendor's key, which is required without base_url",
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
  return schema.parse(value, context);
}

function providerOf(provider: Input): ProviderConfig {
  const baseUrl = withoutVersion(provider.kind, provider.base_url ?? BASE_URLS[provider.kind]);
  const { connect, first_byte, idle } = provider.timeouts;
  const limits = limitsOf(provider);
  return {
    kind: provider.kind,
    baseUrl,
    apiKey: provider.api_key,
    ...(provider.secret_key !== null && { secretKey: provider.secret_key }),
    speaks: provider.speaks ?? (new URL(baseUrl).hostname === "api.openai.com" ? "both" : "chat"),
    headers: Object.fromEntries(Object.entries(provider.headers).map(([name, value]) => [name.toLowerCase(), value])),
    timeouts: { connectMs: connect, firstByteMs: first_byte, idleMs: idle },
    allows: { references: provider.allow_references, tools: provider.allow_tools },
    quirks: provider.quirks ? new Set(provider.quirks) : defaultQuirks(provider.kind, new URL(baseUrl)),
    ...(limits && { limits: { ...limits, maxWaitMs: provider.max_wait } }),
  };
}

/** The paths that text clients of a vendor add to its host, where each capability has its own version. */
const TEXT_PATHS: Readonly<Partial<Record<ProviderKind, RegExp>>> = {
  minimax: /\/v1$/,
  alibaba: /\/(?:compatible-mode|api)\/v1$/,
};

function withoutVersion(kind: ProviderKind, baseUrl: string): string {
  return baseUrl.replace(TEXT_PATHS[kind] ?? /$^/, "");
}
