import * as z from "zod";
import { referencesSchema, toolsSchema } from "./allowance_settings.ts";
import type { Allowances } from "./allowances.ts";
import { kindOf, PROVIDER_KINDS, type ProviderKind } from "./kinds.ts";
import { type Quirk, QUIRKS, type Quirks } from "../conversation/quirks.ts";
import { defaultQuirks } from "./default_quirks.ts";
import { httpAddress, optional, type ReadContext, seconds, secret } from "../lib/settings.ts";

/** Which text endpoints of the openai and xai kinds a provider has: chat completions, responses or both. */
export type SpokenForms = "chat" | "responses" | "both";

/** How long to wait for a provider. */
export interface ProviderTimeouts {
  /** Until the connection stands, in milliseconds. Default: 10 s. */
  readonly connectMs: number;
  /** From the request's end to the first byte of the answer, in milliseconds. Default: 600 s. */
  readonly firstByteMs: number;
  /** Between two bytes of an answer, in milliseconds. Default: 120 s. */
  readonly idleMs: number;
}

/** One configured account at a vendor. Its name, the key it stands under, is what `provider.type` pins. */
export interface ProviderConfig {
  /** Which wire API it has. */
  readonly kind: ProviderKind;
  /** What the vendor's own client would be given, without a closing slash. Default: see {@linkcode BASE_URLS}. */
  readonly baseUrl: string;
  /** Null sends none, for servers in one's own network. Required when `base_url` is left out. */
  readonly apiKey: string | null;
  /**
   * Signs tokens that name `apiKey`, for kinds that take a pair of keys. Default: none, so that `apiKey` is sent as it
   * is.
   */
  readonly secretKey?: string;
  /** Default: `both` at api.openai.com, `chat` elsewhere. Only the openai and xai kinds have the choice. */
  readonly speaks: SpokenForms;
  /** Sent with every request, names in lower case; values are secrets. Default: none. */
  readonly headers: Readonly<Record<string, string>>;
  /** How long to wait for it. */
  readonly timeouts: ProviderTimeouts;
  /** What callers may use beside what belongs to their own account. Default: nothing. */
  readonly allows?: Allowances;
  /** What its wire formats differ in from those that their authors document. Default: by its address. */
  readonly quirks: Quirks;
}

/** Where each kind's own vendor lives. */
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

/** Whether the text can name a provider: lower-case letters, digits and `. _ -`, a letter or digit first. */
export function isProviderName(name: string): boolean {
  return /^[a-z0-9][a-z0-9._-]{0,63}$/.test(name);
}

/** Set by us or by the connection (RFC 9110, 7.6.1), so an operator's own would break the message. */
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
const VALUE_EXPECTATION = "text that a header can carry";

const headerName = z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/, HEADER_EXPECTATION)
  .refine((name) => !OWN_HEADERS.has(name.toLowerCase()), HEADER_EXPECTATION);
const headerValue = z.string(VALUE_EXPECTATION).regex(/^[\x20-\x7e]{0,4096}$/, VALUE_EXPECTATION);

const written = z.strictObject({
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
});

type Written = z.infer<typeof written>;

const schema: z.ZodType<ProviderConfig> = written
  .superRefine((provider, context) => {
    if (!provider.base_url && !provider.api_key) {
      context.addIssue({ code: "custom", path: ["api_key"], message: "the vendor's key, as base_url is left out" });
    }
    if (provider.secret_key && !kindOf(provider.kind).takesSecretKey) {
      context.addIssue({
        code: "custom",
        path: ["secret_key"],
        message: `no such field beside kind "${provider.kind}"`,
      });
    }
    if (provider.secret_key && !provider.api_key) {
      context.addIssue({ code: "custom", path: ["api_key"], message: "the access key that secret_key belongs to" });
    }
    if (provider.speaks && provider.kind !== "openai" && provider.kind !== "xai") {
      context.addIssue({
        code: "custom",
        path: ["speaks"],
        message: `no such field beside kind "${provider.kind}"`,
      });
    }
  })
  .transform(providerOf);

/**
 * One provider as the operator writes it, with all defaults filled in.
 *
 * @param context How problems are worded; see {@linkcode ReadContext}.
 * @throws {z.ZodError} With the path of every bad field.
 */
export function readProviderConfig(value: unknown, context?: ReadContext): ProviderConfig {
  return schema.parse(value, context);
}

function providerOf(provider: Written): ProviderConfig {
  const baseUrl = withoutVersion(provider.kind, provider.base_url ?? BASE_URLS[provider.kind]);
  const { connect, first_byte, idle } = provider.timeouts;
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
  };
}

/**
 * What clients for a vendor's text are given behind its host, where its capabilities stand under versions of their own.
 */
const TEXT_PATHS: Readonly<Partial<Record<ProviderKind, RegExp>>> = {
  minimax: /\/v1$/,
  alibaba: /\/(?:compatible-mode|api)\/v1$/,
};

function withoutVersion(kind: ProviderKind, baseUrl: string): string {
  return baseUrl.replace(TEXT_PATHS[kind] ?? /$^/, "");
}
