import * as z from "zod";
import { type Quirk, QUIRKS } from "../../../conversation/contract/quirks.ts";
import { providerFactsSchema } from "../../../conversation/models/stated_facts.ts";
import { headerFields } from "../../../platform/http/request/header_fields.ts";
import { PROVIDER_STATES } from "../../../platform/names/provider_halt.ts";
import { section, setting } from "../../../platform/lib/settings/setting.ts";
import { distinct, httpAddress, seconds, secret, text } from "../../../platform/lib/settings/settings.ts";
import { PROMPT_CACHING_FIELD } from "../../../money/limits/access_settings.ts";
import { referencesSchema, toolsSchema } from "./allowance_settings.ts";
import { CLOUD_FIELDS } from "./cloud_config.ts";
import { credentialSchema, MAX_KEY_CHARACTERS, SECRET_KEY_TEXT } from "./credential_config.ts";
import { PROVIDER_KINDS } from "../kinds.ts";
import { limitFields } from "./limit_fields.ts";
import { PRESET_NAMES } from "../vendors.ts";

const MAX_CREDENTIALS = 100;
const MAX_WAIT_SECONDS = 600;
const MAX_ALLOWED = 100;
const REGION_EXPECTATION = 'a region in lower case, such as "us"';

/** The settings of a provider. */
export const writtenProvider = z.strictObject({
  kind: setting(z.enum([...PROVIDER_KINDS, ...PRESET_NAMES]), {
    text: "How the vendor is spoken to: a [kind or a preset](providers.md#kinds)",
    example: "anthropic",
  }),
  state: setting(z.enum(PROVIDER_STATES), {
    default: "on",
    text: "Whether it gets new requests: [providers out of service](routing.md#providers-out-of-service)",
    example: "drain",
  }),
  base_url: setting(httpAddress(), {
    default: null,
    text: "The base address, as for the vendor's own client",
    example: "https://example.openai.azure.com/openai/v1",
    otherwise: "that of the kind",
  }),
  api_key: setting(secret(1, MAX_KEY_CHARACTERS), {
    default: null,
    text: "The vendor's key; required unless `base_url` or `credentials` is set",
    example: "${OPENAI_API_KEY}",
    otherwise: "no key is sent, or that of the preset's variable",
  }),
  secret_key: setting(secret(1), {
    default: null,
    text: SECRET_KEY_TEXT,
    example: "${KLING_SECRET_KEY}",
    otherwise: "`api_key` itself is sent",
  }),
  report_key: setting(secret(1, MAX_KEY_CHARACTERS), {
    default: null,
    text: "OpenAI, Anthropic and OpenRouter: the admin key for the [reports about cost and usage](reconcile.md)",
    example: "${OPENAI_ADMIN_KEY}",
    otherwise: "the reports are not read",
  }),
  ...CLOUD_FIELDS,
  speaks: setting(z.enum(["chat", "responses", "both", "chat_first"]).optional(), {
    text: "Kinds `openai` and `xai`: the text endpoints that the vendor has",
    otherwise: "`both` at api.openai.com, else `chat`",
  }),
  headers: setting(headerFields(), {
    default: {},
    text: "Further header fields of every request",
    example: { "api-key": "${AZURE_KEY}" },
  }),
  timeouts: section({
    connect: setting(seconds(0.01, 600), { default: 10, text: "Until the connection stands", example: 5 }),
    first_byte: setting(seconds(0.01, 86_400), {
      default: 600,
      text: "From the request to the first byte of the reply",
      example: 300,
    }),
    idle: setting(seconds(0.01, 86_400), { default: 600, text: "Between two bytes of a reply", example: 60 }),
  }).prefault({}),
  allow_references: setting(referencesSchema(), {
    default: [],
    text: "Ids at the vendor that callers may name: [isolation](isolation.md)",
    example: ["prompt:pmpt_123", "file:*"],
  }),
  allow_tools: setting(toolsSchema(), {
    default: [],
    text: "Hosted tools without a price that callers may use",
    example: ["code_interpreter"],
  }),
  pricing_region: setting(z.string(REGION_EXPECTATION).regex(/^[a-z][a-z0-9-]{0,63}$/, REGION_EXPECTATION), {
    default: null,
    text: "The region in which the vendor works, for prices that depend on it",
    example: "eu",
    otherwise: "that of the cloud or of OpenAI's regional host",
  }),
  facts: setting(providerFactsSchema.optional(), {
    text: "What models take and refuse, by patterns of the vendor's names: [facts](providers.md#facts)",
    example: { "gpt-9*": { sampling_support: "never" } },
    otherwise: "the built-in ones",
  }),
  prompt_caching: setting(PROMPT_CACHING_FIELD.optional(), {
    text: "Whether the gateway uses the vendor's [prompt cache](prompt-caching.md) by itself",
    example: "off",
    otherwise: "auto",
  }),
  batches: setting(z.enum(["auto", "on", "off"]), {
    default: "auto",
    text: "Whether lines of batches are sent in [the vendor's own batches](batches.md#batches-of-the-vendor); " +
      "`auto`: at the vendor's own address",
    example: "off",
  }),
  discover: z.strictObject({
    allow: setting(
      distinct(text(1, 256), 1).refine((names) => names.length <= MAX_ALLOWED, `at most ${MAX_ALLOWED} names`),
      {
        text:
          "Models of the vendor's list that are served if they have a price: [discovery](models.md#models-by-discovery)",
        example: ["gpt-6*"],
      },
    ),
  }).optional(),
  quirks: setting(z.array(z.enum(Object.keys(QUIRKS) as [Quirk, ...Quirk[]])).optional(), {
    text: "How its wire format differs from that of its author: [quirks](providers.md#quirks)",
    example: ["max_tokens_field"],
    otherwise: "by the address",
  }),
  ...limitFields("the provider"),
  max_wait: setting(seconds(0, MAX_WAIT_SECONDS), {
    default: 5,
    text: "How long a request waits for a place within these limits",
    example: 10,
  }),
  credentials: z.array(credentialSchema(), "a list").min(1, "a list of at least 1")
    .max(MAX_CREDENTIALS, `a list of at most ${MAX_CREDENTIALS}`).optional(),
});
