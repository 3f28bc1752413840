import { isPricedByMillion, PRICE_NAMES } from "../../src/billing/tariff.ts";
import { PER_MILLION } from "../../src/lib/per_million.ts";

/** What a person has to say about a setting; the rest follows from its schema. */
export interface SettingText {
  /** What it does: a phrase without a full stop at its end. */
  readonly text: string;
  /** A valid value other than the default. Default: one that follows from the schema. */
  readonly example?: unknown;
  /** Of a number whose schema does not name its unit. */
  readonly unit?: string;
  /** The effect of leaving it out, where no value stands for that. */
  readonly otherwise?: string;
}

const KEPT = "what the admin API set";
const NO_LIMIT = "no limit";

/** The limits of a key or an account. `whose` is one of them. */
function accessLimits(path: string, whose: string): Record<string, SettingText> {
  return {
    [`${path}.name`]: { text: `A name of ${whose} for people`, example: "ci", otherwise: KEPT },
    [`${path}.capture`]: {
      text: "Which requests have their bodies kept; needs `request_log.capture`",
      otherwise: KEPT,
    },
    [`${path}.prompt_caching`]: {
      text: "Whether the gateway uses vendors' prompt caches by itself",
      example: "off",
      otherwise: KEPT,
    },
    [`${path}.models`]: {
      text: "The models that may be used: ids, aliases, patterns with `*`",
      example: ["openai/*", "fast"],
      otherwise: KEPT,
    },
    [`${path}.endpoints`]: {
      text: "The [endpoints](api/admin.md#endpoints-of-limits) that may be called",
      example: ["chat_completions"],
      otherwise: KEPT,
    },
    [`${path}.providers`]: { text: "The providers that may be used", example: ["openai"], otherwise: KEPT },
    [`${path}.ip_allow`]: {
      text: "Addresses and networks that requests may come from",
      example: ["10.0.0.0/8"],
      otherwise: KEPT,
    },
    [`${path}.rpm`]: { text: `Requests of ${whose} per minute`, example: 60, otherwise: KEPT },
    [`${path}.tpm`]: { text: `Tokens of ${whose} per minute`, example: 100000, otherwise: KEPT },
    [`${path}.concurrency`]: {
      text: `Requests of ${whose} at one time`,
      example: 4,
      otherwise: KEPT,
    },
    [`${path}.budget.amount`]: { text: `The most that ${whose} spends in a period`, example: "20.00" },
    [`${path}.budget.per`]: { text: "The period, in UTC; weeks begin on Monday" },
  };
}

const BUILT_IN = "the built-in [facts](providers.md#facts)";

/** What a model takes and refuses. */
function modelFacts(path: string): Record<string, SettingText> {
  const texts: Record<string, SettingText> = {
    can_reason: { text: "Whether it can reason", example: true },
    efforts: { text: "The efforts that it accepts, weakest first", example: ["low", "medium", "high"] },
    default_effort: { text: "The effort that applies when a request names none", example: "medium" },
    chat_efforts: { text: "The efforts that chat completions accepts, where they are fewer", example: ["low", "high"] },
    chat_tools: {
      text: "When chat completions accepts function tools; otherwise requests go to `/responses`",
      example: "without_reasoning",
    },
    has_chat_stop: { text: "Whether chat completions accepts `stop`", example: false },
    has_chat_max_tokens: { text: "Whether chat completions accepts `max_tokens`", example: false },
    has_chat_completion_limit: {
      text: "Whether chat completions honors `max_completion_tokens`",
      example: false,
    },
    has_chat_schemas: { text: "Whether chat completions enforces a JSON schema on the output", example: false },
    has_compatible_chat: {
      text: "Whether these facts also hold for requests that pass through to compatible vendors",
      example: true,
    },
    reasoning_history: {
      text: "The reasoning of earlier turns that chat completions requires",
      example: "tool_turns",
    },
    reasoning_control: { text: "Whether reasoning is controlled by an effort or by a budget", example: "effort" },
    sampling_support: {
      text: "When it accepts `temperature` and `top_p`; `one`: not both together",
      example: "never",
    },
    has_penalties: { text: "Whether it accepts penalties", example: false },
    has_thinking_budgets: { text: "Whether the messages format accepts a budget of thinking", example: false },
    thinking_off: {
      text: "The type of `thinking` that switches thinking off",
      example: "never",
    },
    off_efforts: { text: "The efforts that it accepts while thinking is off", example: ["low", "medium", "high"] },
    forced_calls: { text: "When a request may force a tool call", example: "never" },
    has_system_turns: { text: "Whether it accepts system messages after the first turn", example: false },
    has_instructions_in_input: {
      text: "Whether system text stands first in the input of `/responses`, not in `instructions`",
      example: true,
    },
    can_prefill: { text: "Whether it continues a last message of the assistant", example: false },
    has_output_schemas: { text: "Whether it enforces a JSON schema on its output", example: true },
    has_output_schemas_with_tools: { text: "The same while tools are offered", example: true },
    has_thinking_display: { text: "Whether a request chooses if thinking is returned", example: true },
    has_media_in_tool_results: { text: "Whether it accepts media in the result of a tool", example: true },
    has_explicit_caches: { text: "Whether it uses contents that its vendor stores", example: false },
    min_cache_tokens: { text: "The shortest prefix that its vendor caches, in tokens", example: 1024 },
    has_cache_breakpoints: { text: "Whether its vendor caches at breakpoints in a request", example: true },
    has_schema_references: { text: "Whether it reads `$ref` in schemas; else definitions are inlined", example: false },
  };
  return {
    ...Object.fromEntries(
      Object.entries(texts).map(([name, text]) => [`${path}.${name}`, { otherwise: BUILT_IN, ...text }]),
    ),
    [`${path}.budget.min`]: { text: "The smallest reasoning budget", example: 128 },
    [`${path}.budget.max`]: { text: "The largest reasoning budget", example: 32768 },
    [`${path}.hop_tokens.streamed`]: {
      text: "The most output tokens of one streamed request, for a model that goes on in further requests",
      example: 65536,
    },
    [`${path}.hop_tokens.whole`]: { text: "The same of a request that is not streamed", example: 32768 },
  };
}

/** The limits of a provider or of one of its credentials. */
function vendorLimits(path: string, whose: string): Record<string, SettingText> {
  return {
    [`${path}.rpm`]: {
      text: `Requests per minute of all callers through ${whose}`,
      example: 5000,
      otherwise: NO_LIMIT,
    },
    [`${path}.tpm`]: {
      text: `Tokens per minute through ${whose}`,
      example: 2000000,
      otherwise: NO_LIMIT,
    },
    [`${path}.concurrency`]: {
      text: `Simultaneous requests through ${whose}, each to the end of its reply`,
      example: 100,
      otherwise: NO_LIMIT,
    },
  };
}

/** A price in USD of one of something. */
function price(of: string, example: string, otherwise = "0"): SettingText {
  return { text: `The price of one ${of}`, example, otherwise };
}

const SERVER: Record<string, SettingText> = {
  "server.host": { text: "The name or address to listen on", example: "0.0.0.0" },
  "server.port": { text: "The port to listen on; 0 chooses a free one", example: 8080, unit: "port" },
  "server.trusted_proxies": {
    text: "Networks of proxies whose `X-Forwarded-For` is believed",
    example: ["10.0.0.0/8", "192.0.2.10"],
  },
  "server.base_url": {
    text: "The public address, with which addresses of tasks and files begin",
    example: "https://gateway.example.com",
    otherwise: "the listening address",
  },
  "server.docs_url": {
    text: "The start of `doc_url` in errors",
    example: "https://docs.example.com",
    otherwise: "the gateway's own `/docs`",
  },
  "server.peer_url": {
    text: "The address at which other gateways on the same store reach this one",
    example: "http://10.0.0.7:8787",
    otherwise: "the listening address, unless it stands for all addresses of the host",
  },
  "server.vendor_callbacks": {
    text: "Whether video vendors get an address for notifications, if `base_url` is public",
  },
  "server.admin_key": {
    text: "The key of the admin API, with the role `owner`",
    example: "${SWITCHYARD_ADMIN_KEY}",
    otherwise: "no admin API, unless `admin_keys` has a key",
  },
  "server.admin_keys[].name": { text: "The name that the audit log shows", example: "dashboards" },
  "server.admin_keys[].key": { text: "The key", example: "${DASHBOARD_KEY}" },
  "server.admin_keys[].role": { text: "What it may do: [who may do what](operating/run.md#who-may-do-what)" },
  "server.admin_listen": {
    text: "A host and a port where the admin API and the console listen by themselves",
    example: "127.0.0.1:8788",
    otherwise: "the address of the gateway",
  },
  "server.isolates": {
    text: "Threads that accept connections; `auto` is one for each core, at most 8, and 1 on other systems than Linux",
    example: 4,
    unit: "threads",
  },
  "server.shutdown_grace": { text: "How long open streams go on after `SIGTERM`", example: 60 },
  "server.stall_limit": {
    text: "How long the event loop of a thread may stand still before the gateway ends itself; 0 for any time",
    example: 120,
  },
};

const STORAGE: Record<string, SettingText> = {
  "store": {
    text: "The store: a file, memory, or a [PostgreSQL database](scaling.md)",
    example: "postgres://switchyard:${DB_PASSWORD}@db.internal/switchyard",
  },
  "files": {
    text: "The folder of results and of uploads in progress, or a [bucket](#results-in-a-bucket)",
    example: "s3://results/videos?region=eu-central-1",
  },
  "files_folder": {
    text: "With a bucket: the folder of uploads and cached contents",
    example: "/var/lib/switchyard/files",
  },
  "files_serve": { text: "With a bucket: whether the gateway passes files on or redirects to the bucket" },
  "files_credentials.access_key_id": { text: "With a bucket: the id of the access key", example: "${FILES_KEY_ID}" },
  "files_credentials.secret_access_key": {
    text: "With a bucket: the secret of the access key",
    example: "${FILES_SECRET}",
  },
  "files_credentials.session_token": {
    text: "With a bucket: the token of temporary credentials",
    example: "${FILES_TOKEN}",
    otherwise: "none",
  },
};

const ACCOUNTS: Record<string, SettingText> = {
  "accounts[].id": { text: "The id, which never changes", example: "acme" },
  "accounts[].balance": {
    text: "Credited once, when the account is created; `unlimited`: charged [without a limit](money.md#unlimited)",
    example: "25.00",
    otherwise: "nothing",
  },
  "accounts[].keys[].key": {
    text: "An API key; a plain text in place of the section is a key as well",
    example: "${CI_KEY}",
  },
  "accounts[].keys[].expires_at": {
    text: "When the key becomes invalid: a date, or Unix seconds",
    example: "2027-01-31",
    otherwise: KEPT,
  },
  "accounts[].keys[].metadata": {
    text: "Texts by name, which the gateway only stores",
    example: { team: "search" },
    otherwise: KEPT,
  },
  ...accessLimits("accounts[].keys[]", "the key"),
  "accounts[].expires_at": {
    text: "When all keys of the account become invalid: a date, or Unix seconds",
    example: "2027-01-31",
    otherwise: KEPT,
  },
  "accounts[].metadata": {
    text: "Texts by name, which the gateway only stores",
    example: { customer: "C-17" },
    otherwise: KEPT,
  },
  "accounts[].webhook_secret": {
    text: "Signs the events of the account, from its creation",
    example: "${DEMO_WEBHOOK_SECRET}",
    otherwise: "generated, shown once",
  },
  "accounts[].allow_buckets": {
    text: "Buckets that its requests may name: [isolation](isolation.md)",
    example: ["gs://acme-media/"],
    otherwise: KEPT,
  },
  "accounts[].overdraft": { text: "How far the balance may fall below zero", example: "5.00", otherwise: KEPT },
  "accounts[].notification_url": {
    text: "Gets the [notifications](webhooks.md#notifications) about the account",
    example: "https://example.com/hook",
    otherwise: KEPT,
  },
  ...accessLimits("accounts[]", "the account"),
};

const PROVIDERS: Record<string, SettingText> = {
  "providers.NAME.kind": {
    text: "How the vendor is spoken to: a [kind or a preset](providers.md#kinds)",
    example: "anthropic",
  },
  "providers.NAME.state": {
    text: "Whether it gets new requests: [providers out of service](routing.md#providers-out-of-service)",
    example: "drain",
  },
  "providers.NAME.base_url": {
    text: "The base address, as for the vendor's own client",
    example: "https://example.openai.azure.com/openai/v1",
    otherwise: "that of the kind",
  },
  "providers.NAME.api_key": {
    text: "The vendor's key; required unless `base_url` or `credentials` is set",
    example: "${OPENAI_API_KEY}",
    otherwise: "no key is sent, or that of the preset's variable",
  },
  "providers.NAME.secret_key": {
    text: "Kinds `kling` and `bedrock`: signs for the access key in `api_key`",
    example: "${KLING_SECRET_KEY}",
    otherwise: "`api_key` itself is sent",
  },
  "providers.NAME.report_key": {
    text: "OpenAI, Anthropic and OpenRouter: the admin key for the [reports about cost and usage](reconcile.md)",
    example: "${OPENAI_ADMIN_KEY}",
    otherwise: "the reports are not read",
  },
  "providers.NAME.speaks": {
    text: "Kinds `openai` and `xai`: the text endpoints that the vendor has",
    otherwise: "`both` at api.openai.com, else `chat`",
  },
  "providers.NAME.headers": { text: "Further header fields of every request", example: { "api-key": "${AZURE_KEY}" } },
  "providers.NAME.prompt_caching": {
    text: "Whether the gateway uses the vendor's [prompt cache](prompt-caching.md) by itself",
    example: "off",
    otherwise: "auto",
  },
  "providers.NAME.timeouts.connect": { text: "Until the connection stands", example: 5 },
  "providers.NAME.timeouts.first_byte": { text: "From the request to the first byte of the reply", example: 300 },
  "providers.NAME.timeouts.idle": { text: "Between two bytes of a reply", example: 60 },
  "providers.NAME.allow_references": {
    text: "Ids at the vendor that callers may name: [isolation](isolation.md)",
    example: ["prompt:pmpt_123", "file:*"],
  },
  "providers.NAME.allow_tools": {
    text: "Hosted tools without a price that callers may use",
    example: ["code_interpreter"],
  },
  "providers.NAME.discover.allow": {
    text:
      "Models of the vendor's list that are served if they have a price: [discovery](models.md#models-by-discovery)",
    example: ["gpt-6*"],
  },
  "providers.NAME.quirks": {
    text: "How its wire format differs from that of its author: [quirks](providers.md#quirks)",
    example: ["max_tokens_field"],
    otherwise: "by the address",
  },
  "providers.NAME.pricing_region": {
    text: "The region in which the vendor works, for prices that depend on it",
    example: "eu",
    otherwise: "that of the cloud or of OpenAI's regional host",
  },
  "providers.NAME.facts": {
    text: "What models take and refuse, by patterns of the vendor's names: [facts](providers.md#facts)",
    example: { "gpt-9*": { sampling_support: "never" } },
    otherwise: "the built-in ones",
  },
  ...vendorLimits("providers.NAME", "the provider"),
  "providers.NAME.max_wait": { text: "How long a request waits for a place within these limits", example: 10 },
  "providers.NAME.entra_id.tenant": {
    text: "Kind `azure`: the id or a domain of the tenant in [Entra ID](clouds.md#microsoft-entra-id)",
    example: "example.onmicrosoft.com",
  },
  "providers.NAME.entra_id.client_id": {
    text: "Kind `azure`: the id of the application",
    example: "11111111-2222-3333-4444-555555555555",
  },
  "providers.NAME.entra_id.client_secret": {
    text: "Kind `azure`: the secret of the application",
    example: "${AZURE_CLIENT_SECRET}",
  },
  "providers.NAME.entra_id.scope": {
    text: "Kind `azure`: what tokens are for",
    example: "https://cognitiveservices.azure.us/.default",
  },
  "providers.NAME.entra_id.token_url": {
    text: "Kind `azure`: where tokens are issued",
    example: "https://login.microsoftonline.us/example/oauth2/v2.0/token",
    otherwise: "the tenant's address at Microsoft",
  },
  "providers.NAME.api_version": {
    text: "Kind `azure`: the version of the dated API, whose addresses contain the [deployment](clouds.md#dated-api)",
    example: "2024-10-21",
    otherwise: "the v1 API, which needs none",
  },
  "providers.NAME.project": {
    text: "Kind `vertex`, and there required: the id of the [project](clouds.md#google-vertex-ai)",
    example: "example-project",
    otherwise: "none",
  },
  "providers.NAME.location": {
    text: "Kind `vertex`: a region, `us`, `eu` or `global`",
    example: "europe-west4",
    otherwise: "`global`",
  },
  "providers.NAME.region": {
    text: "Kind `bedrock`: the [region](clouds.md#amazon-bedrock) that is called",
    example: "us-east-1",
    otherwise: "that of `AWS_REGION` or of the host in `base_url`",
  },
  "providers.NAME.session_token": {
    text: "Kind `bedrock`: the token of a temporary key pair",
    example: "${AWS_SESSION_TOKEN}",
    otherwise: "none",
  },
  "providers.NAME.service_account": {
    text: "Kind `vertex`: the text of a service account's key file",
    example: '{"type":"service_account","client_email":"a@b.example","private_key":"-----BEGIN PRIVATE KEY-----…"}',
    otherwise: "none",
  },
  "providers.NAME.service_account_file": {
    text: "Kind `vertex`: the path of a service account's key file",
    example: "${GOOGLE_APPLICATION_CREDENTIALS}",
    otherwise: "none",
  },
  "providers.NAME.credentials[].name": { text: "A name, for logs and `providers list`", example: "a" },
  "providers.NAME.credentials[].api_key": {
    text: "One of several keys of the vendor; required unless `headers` has it",
    example: "${KEY_A}",
    otherwise: "none",
  },
  "providers.NAME.credentials[].secret_key": {
    text: "Kinds `kling` and `bedrock`: signs for the access key in `api_key`",
    example: "${KLING_SECRET_KEY}",
    otherwise: "none",
  },
  "providers.NAME.credentials[].headers": {
    text: "Further header fields of requests with this key",
    example: { "x-project": "search" },
  },
  "providers.NAME.credentials[].weight": {
    text: "Its share of the requests; 0 is used when the others fail",
    example: 3,
    unit: "share",
  },
  ...vendorLimits("providers.NAME.credentials[]", "the credential"),
};

const PRICING: Record<string, SettingText> = {
  prompt: price("input token", "0.000005"),
  completion: price("output token, including reasoning", "0.00001"),
  input_cache_read: price("token read from a cache", "0.0000005", "`prompt`"),
  input_cache_write_5m: price(
    "token written to a cache of five minutes",
    "0.00000625",
    "`input_cache_write`, `prompt`",
  ),
  input_cache_write_1h: price(
    "token written to a cache of an hour",
    "0.00001",
    "`input_cache_write`, `input_cache_write_5m`, `prompt`",
  ),
  input_cache_write_30m: price(
    "token written to a cache of thirty minutes",
    "0.0000025",
    "`input_cache_write`, `input_cache_write_5m`, `prompt`",
  ),
  input_cache_write_12h: price(
    "token written to a cache of twelve hours",
    "0.000005",
    "`input_cache_write_1h`, `input_cache_write`, `input_cache_write_30m`, `prompt`",
  ),
  input_cache_write_24h: price(
    "token written to a cache of a day",
    "0.000005",
    "`input_cache_write_12h`, `input_cache_write_1h`, `input_cache_write`, `prompt`",
  ),
  input_cache_write: price("token written to a cache of any lifetime", "0.00000625", "see those above"),
  cache_storage_hour: price("token of a cached content that a vendor stores for an hour", "0.0000045"),
  image_input: price("token of an input image", "0.000008", "`prompt`"),
  image: price("token of an input image; another name of `image_input`", "0.000008", "`prompt`"),
  image_input_cache_read: price(
    "token of an input image, read from a cache",
    "0.000002",
    "`image_input`, `input_cache_read`",
  ),
  image_output: price("token of an output image", "0.000032", "`completion`"),
  audio: price("token of input audio", "0.00001", "`prompt`"),
  audio_cache_read: price("token of input audio, read from a cache", "0.000001", "`audio`, `input_cache_read`"),
  audio_output: price("token of output audio", "0.00002", "`completion`"),
  video_output: price("token of output video", "0.00002", "`completion`"),
  per_image: price("output image, in addition to its tokens", "0.04"),
  per_input_image: price("input image, in addition to its tokens", "0.001"),
  web_search: price("search by the vendor's tool", "0.01"),
  maps_search: price("search of the vendor in maps", "0.014"),
  file_search: price("search of the vendor in stored files", "0.0025"),
  web_fetch: price("page that the vendor's tool reads", "0.001"),
  ocr_page: price("page of a document whose text the vendor recognizes", "0.001"),
  character: price("character of a text to speak", "0.000015"),
  audio_second: price("second of audio to write down", "0.0001"),
  search_unit: price("query with up to 100 documents", "0.002"),
  request: price("request", "0.001"),
};

const MODELS: Record<string, SettingText> = {
  "models[].id": {
    text: "The id; with a star at its end, all models that the provider lists",
    example: "openai/gpt-6-sol",
  },
  "models[].canonical_slug": {
    text: "A name that never changes",
    example: "openai/gpt-6-sol-2026-09",
    otherwise: "the id",
  },
  "models[].name": { text: "The name that catalogs show", example: "GPT-6 Sol", otherwise: "the id after the slash" },
  "models[].description": { text: "A description for catalogs", example: "Makes and edits images." },
  "models[].created": { text: "When the model was published: a date, or Unix seconds", example: "2026-09-22" },
  "models[].owned_by": {
    text: "The author that catalogs show",
    example: "openai",
    otherwise: "the id before the slash",
  },
  "models[].context_length": { text: "The most tokens of input and output; 0 is unknown", example: 400000 },
  "models[].architecture.modality": {
    text: "Input and output in short",
    example: "text+image->text",
    otherwise: "from the two lists below",
  },
  "models[].architecture.input_modalities": {
    text: "What it reads",
    example: ["text", "image"],
    otherwise: "by the sections `image`, `video` and others",
  },
  "models[].architecture.output_modalities": {
    text: "What it makes",
    example: ["text"],
    otherwise: "by the sections `image`, `video` and others",
  },
  "models[].architecture.tokenizer": { text: "Its tokenizer, for catalogs", example: "GPT" },
  "models[].architecture.instruct_type": {
    text: "Its prompt template, for catalogs",
    example: "chatml",
    otherwise: "none",
  },
  ...Object.fromEntries(Object.entries(PRICING).map(([name, text]) => [`models[].pricing.${name}`, text])),
  ...Object.fromEntries(
    PRICE_NAMES.filter(isPricedByMillion).map((name) => [`models[].pricing.${name}${PER_MILLION}`, {
      text: `The same of a million, instead of \`${name}\``,
      example: "2.50",
      otherwise: "none",
    }]),
  ),
  "models[].pricing.overrides": {
    text: "Prices under conditions, with the fields of `pricing`: [prices under conditions](#prices-under-conditions)",
    example: [{ min_prompt_tokens: 272000, prompt: "0.000004" }],
  },
  "models[].pricing_tiers": {
    text: "Prices of other [service tiers](#service-tiers), with the fields of `pricing`",
    example: { flex: { prompt: "0.000001" } },
  },
  "models[].own_searches": {
    text: "The searches that it may make by itself in a request without a search tool; they are reserved",
    example: 3,
  },
  "models[].top_provider.context_length": {
    text: "The most tokens of input and output at the first provider",
    example: 400000,
    otherwise: "that of the model",
  },
  "models[].top_provider.max_completion_tokens": { text: "The most output tokens; 0 is unknown", example: 128000 },
  "models[].top_provider.is_moderated": { text: "Whether the vendor moderates, for catalogs" },
  "models[].per_request_limits": {
    text: "Shown in catalogs as it is",
    example: { prompt_tokens: 100000 },
    otherwise: "none",
  },
  "models[].supported_parameters": { text: "Parameters that catalogs show", example: ["temperature", "tools"] },
  "models[].default_parameters": { text: "Shown in catalogs as it is", example: { temperature: 1 }, otherwise: "none" },
  ...modelFacts("models[].facts"),
  "models[].expiration_date": {
    text: "When the vendor stops serving it, for catalogs",
    example: "2027-06-30",
    otherwise: "none",
  },
  "models[].redirected_to.model": {
    text: "The vendor's name of the model that it answers with from a date on: [redirects](#redirects)",
    example: "gpt-6.2-sol",
  },
  "models[].redirected_to.from": {
    text: "The date from which the vendor does so",
    example: "2026-12-01",
  },
  "models[].text": {
    text: "Whether the text endpoints serve it",
    otherwise: "true if it makes text and has no section such as `image`",
  },
  "models[].serves[].provider": { text: "The name of a provider", example: "openai" },
  "models[].serves[].model": {
    text: "The vendor's name of the model",
    example: "gpt-6-sol-2026-09",
    otherwise: "the id after the slash",
  },
  "models[].serves[].weight": {
    text: "Its share of unpinned requests; 0 is for pins and fallbacks only",
    example: 80,
    unit: "share",
  },
  "models[].fallbacks": { text: "Models to try after all of its providers failed", example: ["openai/gpt-5.5"] },
  "models[].prompt_caching": {
    text: "Whether the gateway uses vendors' [prompt caches](prompt-caching.md) by itself",
    example: "off",
    otherwise: "auto",
  },
  "models[].prefer_warm": {
    text: "How long a conversation stays at the provider that read it last; `off`: each request is split by weight",
    example: "off",
    otherwise: "5m; off if a weight is not 1",
  },
  "models[].refresh": { text: "Of an id with a star: between two reads of the provider's list", example: 600 },
};

const MEDIA: Record<string, SettingText> = {
  "models[].image.series": { text: "The kind of image model: [series](api/images.md#series)" },
  "models[].image.edits": { text: "Whether it edits images" },
  "models[].image.input_fidelity": { text: "Values of `input_fidelity` for edits", example: ["low", "high"] },
  "models[].image.sizes": { text: "Sizes that callers may request", example: ["auto", "1024x1024"] },
  "models[].image.qualities": { text: "Qualities that callers may request", example: ["low", "high"] },
  "models[].image.output_formats": {
    text: "File types that the vendor makes",
    example: ["png", "jpeg", "webp", "gif"],
  },
  "models[].image.svg_author": {
    text: "The model that writes an SVG drawing if the caller names none; its price is reserved",
    example: "openai/gpt-6.2-sol",
    otherwise: "callers name one",
  },
  "models[].image.size_map": {
    text: "Sizes that are sent to the vendor in place of requested ones",
    example: { "1792x1024": "1536x1024" },
  },
  "models[].image.quality_map": {
    text: "Qualities that are sent in place of requested ones",
    example: { hd: "high" },
  },
  "models[].video.modes": {
    text: "What videos are made from: [modes](api/videos.md#modes)",
    example: ["text2video", "img2video"],
  },
  "models[].video.price_per_second": {
    text: "The price of a second, by resolution and sound: [videos](#videos)",
    example: { "720p": "0.10", "1080p": "0.30" },
  },
  "models[].video.resolutions": {
    text: "Resolutions that callers may request",
    example: ["720p"],
    otherwise: "those with a price",
  },
  "models[].video.default_resolution": {
    text: "The resolution of a request without one",
    otherwise: "`720p`, else the smallest",
  },
  "models[].video.aspect_ratios": { text: "Aspect ratios that callers may request", example: ["16:9", "9:16"] },
  "models[].video.references.image": { text: "The most reference images", example: 1 },
  "models[].video.references.audio": { text: "The most reference sounds", example: 0 },
  "models[].video.references.video": { text: "The most reference videos", example: 0 },
  "models[].video.duration.min": { text: "The shortest video", example: 4, otherwise: "1" },
  "models[].video.duration.max": { text: "The longest video", example: 12, otherwise: "60" },
  "models[].video.duration.only": {
    text: "The only possible lengths, in place of `min` and `max`",
    example: [4, 6, 8],
    unit: "seconds",
    otherwise: "every length from `min` to `max`",
  },
  "models[].video.duration.default": {
    text: "The length of a request without one",
    example: 8,
    otherwise: "5, or the next longer one",
  },
  "models[].video.duration.auto": { text: "Whether the vendor may choose the length" },
  "models[].video.audio": { text: "Whether videos have sound: `switch` leaves it to `generate_audio`" },
  "models[].embedding.dimensions": { text: "The length of a vector", example: 1536, otherwise: "unknown" },
  "models[].embedding.max_inputs": { text: "The most inputs of a request", example: 100 },
  "models[].moderation.max_inputs": { text: "The most inputs of a request", example: 32 },
  "models[].rerank.max_documents": { text: "The most documents of a request", example: 500 },
  "models[].speech.voices": {
    text: "The voices that callers may request; empty allows any",
    example: ["alloy", "nova"],
  },
  "models[].speech.formats": { text: "The formats that callers may request", example: ["mp3", "wav"] },
  "models[].speech.max_characters": { text: "The longest text", example: 2000 },
  "models[].transcription.translates": { text: "Whether `/v1/audio/translations` serves it" },
};

const ALIASES: Record<string, SettingText> = {
  "aliases.NAME.model": {
    text: "A model's id or another alias; a plain text in place of the section is one as well",
    example: "openai/gpt-5.4-mini",
  },
  "aliases.NAME.fallbacks": {
    text: "Models to try after it failed",
    example: ["openai/gpt-5.5"],
    otherwise: "those of the model",
  },
  "aliases.NAME.listed": { text: "Whether the public catalogs list it" },
};

const LIMITS: Record<string, SettingText> = {
  "limits.memory": {
    text: "[Memory](#memory) of all requests together",
    example: "1GiB",
    otherwise: "a quarter of the machine's",
  },
  "limits.min_free_disk": { text: "Free disk space below which paid requests are refused", example: "1GB" },
  "limits.files_quota": {
    text: "Disk space for copies of results and files of callers",
    example: "500GB",
    otherwise: "the disk without `min_free_disk`",
  },
  "limits.account_concurrency": { text: "Open requests of an account; above it 429", example: 5000, unit: "requests" },
  "limits.cached_contents.count": { text: "Cached contents of an API key", example: 100, unit: "cached contents" },
  "limits.cached_contents.bytes": { text: "Bytes of the cached contents of an API key", example: "200MB" },
  "limits.idempotency.enabled": { text: "Whether `Idempotency-Key` has an effect: [idempotency](api/idempotency.md)" },
  "limits.idempotency.reply": { text: "The largest reply that is stored", example: "1MB" },
  "limits.idempotency.account": {
    text: "All stored replies of an account within 24 hours; 0 stores none",
    example: "1GB",
  },
  "limits.idempotency.keys": {
    text: "Keys that an account uses within 24 hours; above it 429",
    example: 100000,
    unit: "keys",
  },
  "limits.idempotency.lease": { text: "After how long a key is free whose process has ended", example: 60 },
  "limits.resume.enabled": { text: "Whether streams can be [resumed](api/resuming.md)" },
  "limits.resume.stream": { text: "Events of one stream; of a longer one the last are kept", example: "1MB" },
  "limits.resume.account": { text: "Events of all streams of an account", example: "100MB" },
  "limits.resume.streams": { text: "Such streams of an account; above it 429", example: 20, unit: "streams" },
  "limits.resume.keep": { text: "How long events are kept after the end of their stream", example: 60 },
  "limits.video_polling.requests": { text: "Polls of an API key in each period `per`", example: 600, unit: "requests" },
  "limits.video_polling.per": { text: "The period of `requests`", example: 10 },
  "limits.video_polling.burst": {
    text: "Simultaneous polls, in addition to `requests`",
    example: 50,
    unit: "requests",
  },
  "limits.reads.requests": { text: "Other reads of an API key in each period `per`", example: 1200, unit: "requests" },
  "limits.reads.per": { text: "The period of `requests`", example: 10 },
  "limits.reads.burst": { text: "Simultaneous reads", example: 50, unit: "requests" },
  "limits.dry_runs.requests": { text: "Dry runs of an API key in each period `per`", example: 600, unit: "requests" },
  "limits.dry_runs.per": { text: "The period of `requests`", example: 10 },
  "limits.dry_runs.burst": { text: "Simultaneous dry runs", example: 20, unit: "requests" },
  "limits.video_event_streams": { text: "Open event streams of videos of an API key", example: 500, unit: "streams" },
  "limits.vendor_polling.first": { text: "From the creation of a video to its first poll at the vendor", example: 5 },
  "limits.vendor_polling.least": { text: "The shortest pause between two polls of a video", example: 10 },
  "limits.vendor_polling.most": { text: "The longest pause between two polls of a video", example: 60 },
  "limits.vendor_polling.per_second": { text: "Polls at one provider", example: 5, unit: "requests per second" },
  "limits.text_body": { text: "The largest body of chat, responses, messages and generated content", example: "40MB" },
  "limits.large_body": { text: "Above this size, text requests are handled in separate threads", example: "1MB" },
  "limits.image_body": { text: "The largest body of an image generation", example: "20MB" },
  "limits.edit_body": { text: "The largest body of an image edit", example: "20MB" },
  "limits.edit_file": { text: "The largest file of an image edit", example: "10MB" },
  "limits.video_body": { text: "The largest body of a video", example: "100MB" },
  "limits.input_body": { text: "The largest body of embeddings, ranks, moderations and speech", example: "8MB" },
  "limits.audio_body": { text: "The largest form with audio", example: "100MB" },
  "limits.other_body": { text: "The largest body elsewhere", example: "1MB" },
  "limits.body_idle": { text: "The longest pause in a request body", example: 30 },
  "limits.video_deadline": { text: "When a pending video expires", example: 7200 },
  "limits.video_doubt": { text: "When an unconfirmed create counts as not made, or as failed", example: 600 },
  "limits.signed_url": { text: "How long a signed address of a result is valid", example: 3600 },
};

const REST: Record<string, SettingText> = {
  "prices.source": {
    text: "Where prices of built-in and listed models come from: [prices that arrive](models.md#prices-that-arrive)",
    example: "https://openrouter.ai/api/v1/models",
  },
  "prices.every": { text: "The time between two readings", example: "1h", unit: "seconds" },
  "prices.max_change": { text: "The part by which a price may change without a person", example: 0.2, unit: "share" },
  "prices.keep": {
    text: "The time without a reading after which `doctor` and the overview warn",
    example: "7d",
    unit: "seconds",
  },
  "retention.tasks": { text: "Finished video tasks, from their end", example: 2592000, otherwise: NO_LIMIT },
  "retention.deliveries": { text: "Ended webhook deliveries, from their end", example: 2592000, otherwise: NO_LIMIT },
  "retention.files": {
    text: "Copies of results and files of callers, from their creation; null: no limit",
    example: 86400,
  },
  "retention.cached_contents": { text: "Cached contents, from their creation", example: 86400, otherwise: NO_LIMIT },
  "retention.audit": { text: "Entries of the audit log; null: no limit", example: 31536000 },
  "billing.preauthorize": { text: "Whether a video's estimate is held before it is accepted" },
  "billing.unknown_creates": { text: "What happens to the hold of a video that the vendor never confirmed" },
  "billing.durability": {
    text: "What a [charge](#durability-of-charges) survives: the end of the process, or a power failure",
    otherwise: "`power` with PostgreSQL, else `process`",
  },
  "webhooks.timeout": { text: "Of one attempt", example: 30 },
  "notifications.url": {
    text: "Gets all [notifications](webhooks.md#notifications)",
    example: "https://ops.example.com/switchyard",
    otherwise: "none: they are only in the log",
  },
  "notifications.secret": {
    text: "Signs them",
    example: "${NOTIFICATIONS_SECRET}",
    otherwise: "none; required with `url`",
  },
  "notifications.balance_low": {
    text: "Below which a balance is low: US dollars, or days at the present rate",
    example: ["5.00", "3d"],
  },
  "egress.allow": { text: "Networks that are exempt from the rule against private addresses", example: ["10.0.0.0/8"] },
  "egress.ca_file": {
    text: "A PEM file of further trusted roots",
    example: "/etc/ssl/private-ca.pem",
    otherwise: "none",
  },
  "logs.level": { text: "The lowest level that is written" },
  "request_log.enabled": { text: "Whether each request leaves a row; `request_log: false` is short for false" },
  "request_log.path": {
    text: "A separate SQLite file",
    example: "/var/lib/switchyard/requests.db",
    otherwise: "the store's file with `.requests`, or the store's database",
  },
  "request_log.days": { text: "How long rows are kept", example: 90 },
  "request_log.max_bytes": { text: "All rows and indexes; above it the oldest rows are removed", example: "20GB" },
  "request_log.capture.secret_key": { text: "Encrypts captured bodies", example: "${SWITCHYARD_CAPTURE_KEY}" },
  "request_log.capture.body": { text: "The most of each body", example: "16KB" },
  "request_log.capture.days": { text: "How long bodies are kept", example: 1 },
  "request_log.capture.max_bytes": { text: "All bodies; above it the oldest are removed", example: "10GB" },
  "tracing.endpoint": { text: "A collector's address for OTLP over HTTP", example: "http://collector:4318/v1/traces" },
  "tracing.headers": { text: "Sent with every export", example: { authorization: "Bearer ${OTLP_TOKEN}" } },
  "tracing.ratio": { text: "The share of the traces that begin here and are exported", example: 0.1, unit: "share" },
  "tracing.service_name": { text: "The attribute `service.name`", example: "gateway-eu" },
  "catalog": {
    text: "`built_in` adds the built-in models of the providers to `models`, where a model with the same id wins",
    example: "built_in",
    otherwise: "built-in models without a section `models` only",
  },
  "console": { text: "Whether the web console is at `/console`", otherwise: "true if there is an admin key" },
};

/** What is said about each setting, by its path. */
export const SETTING_TEXTS: Readonly<Record<string, SettingText>> = {
  ...SERVER,
  ...STORAGE,
  ...ACCOUNTS,
  ...PROVIDERS,
  ...MODELS,
  ...MEDIA,
  ...ALIASES,
  ...LIMITS,
  ...REST,
};
