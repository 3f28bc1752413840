/** What the gateway's API answers, as far as pages show it. Source: docs/api/admin.md. */

/** A page of a list. */
export interface ListAnswer<T> {
  readonly data: readonly T[];
  /** The `after` of the next page; null on the last one. */
  readonly next: string | null;
}

/** Estimated quantiles of durations in milliseconds. */
export interface Quantiles {
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
}

/** The traffic of a span of time. */
export interface Traffic {
  /** Unix seconds. */
  readonly from: number;
  /** Unix seconds. */
  readonly to: number;
  readonly requests: number;
  /** By code. */
  readonly errors: Readonly<Record<string, number>>;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cost: string;
  readonly first_byte_ms: Quantiles | null;
  readonly duration_ms: Quantiles | null;
}

/** The traffic of one model, provider, account or key. */
export interface TrafficGroup extends Omit<Traffic, "from" | "to"> {
  /** Null for requests without one. */
  readonly name: string | null;
}

/** How long a balance lasts at the present rate. */
export interface Forecast {
  readonly spent_per_day: string;
  /** Unix seconds; null for never. */
  readonly lasts_until: number | null;
}

/** An account whose balance ends soon. */
export interface EndingAccount {
  readonly account: string;
  /** USD that can be spent. */
  readonly left: string;
  readonly spent_per_day: string;
  /** Unix seconds. */
  readonly lasts_until: number;
}

/** An account, or one of its keys. */
interface Holder {
  readonly account: string;
  /** Null for the account itself. */
  readonly key: string | null;
  readonly name: string | null;
}

/** A budget that is nearly spent. */
export interface SpentBudget extends Holder {
  readonly amount: string;
  readonly per: "day" | "week" | "month" | "total";
  readonly spent: string;
  /** Unix seconds. */
  readonly resets_at: number | null;
}

/** A key, or an account, that expires soon. */
export interface ExpiringKey extends Holder {
  /** Unix seconds. */
  readonly expires_at: number;
}

/** The answer of `GET /admin/v1/traffic`. */
export interface TrafficAnswer {
  readonly data: readonly Traffic[];
  readonly total: Traffic;
  /** With `group_by`. */
  readonly groups?: {
    /** Unix seconds from which on every request is counted. */
    readonly from: number;
    /** Further groups. */
    readonly omitted: number;
    readonly data: readonly TrafficGroup[];
  };
  readonly now: {
    readonly open_streams: number;
    readonly memory: { readonly in_use: number; readonly limit: number };
    /** By kind. */
    readonly jobs: Readonly<Record<string, number>>;
    /** Requests with usage that has no price. Absent in answers of earlier versions. */
    readonly unpriced?: readonly { readonly model: string; readonly dimension: string; readonly count: number }[];
    /** The accounts whose balances end within a month. Absent in answers of earlier versions. */
    readonly ending?: readonly EndingAccount[];
    /** The budgets that are nearly spent. Absent in answers of earlier versions. */
    readonly budgets?: readonly SpentBudget[];
    /** The keys and accounts that expire soon. Absent in answers of earlier versions. */
    readonly expiring?: readonly ExpiringKey[];
  };
}

interface Circuit {
  readonly circuit: "closed" | "half_open" | "open";
  readonly failures_in_a_row: number;
  /** Unix seconds. */
  readonly rests_until: number | null;
}

/** What is known about a provider, or about one of its credentials. */
export interface ProviderHealth extends Circuit {
  readonly name: string;
  readonly state: "ready" | "degraded" | "resting" | "misconfigured";
  readonly models: readonly (Circuit & {
    readonly model: string;
    readonly open_for: string | null;
    readonly succeeded: number;
    readonly failed: number;
  })[];
  /** Unix seconds. */
  readonly last_failure_at: number | null;
  readonly succeeded: number;
  readonly failed: number;
  readonly limits: {
    readonly rpm: number | null;
    readonly tpm: number | null;
    readonly concurrency: number | null;
    readonly open: number;
    readonly waiting: number;
  } | null;
  /** The polls of video jobs; null if there were none. Absent in answers of earlier versions. */
  readonly polls?: {
    readonly per_second: number;
    readonly tasks: number;
    readonly open: number;
    /** Unix seconds. */
    readonly paused_until: number | null;
  } | null;
}

/** What an operator lets a provider do. */
export interface ProviderService {
  readonly state: "on" | "drain" | "off";
  /** The name of the admin key; null if the configuration states it, or if nobody does. */
  readonly by: string | null;
  /** Unix seconds. */
  readonly since: number | null;
  /** Absent in answers of earlier versions. */
  readonly reason?: string | null;
}

/** A provider of `GET /admin/v1/providers`. */
export interface ListedProvider extends ProviderHealth {
  readonly kind: string;
  /** Absent in answers of earlier versions. */
  readonly service?: ProviderService;
  readonly credentials: readonly ProviderHealth[];
}

/** The answer of `GET /admin/v1/providers`. */
export interface ProvidersAnswer {
  readonly data: readonly ListedProvider[];
  /** Unix seconds. */
  readonly since: number;
}

/** The answer of a test of a provider. */
export interface ProviderTest {
  readonly ok: boolean;
  readonly data: readonly {
    readonly credential: string | null;
    readonly ok: boolean;
    readonly message: string;
    readonly latency_ms: number;
  }[];
}

/** A video task of `GET /admin/v1/tasks`. Source: docs/api/admin.md#tasks. */
export interface VideoTask {
  readonly id: string;
  readonly account: string;
  readonly key: string | null;
  readonly model: string;
  readonly mode: string;
  readonly status: string;
  readonly step: string | null;
  /** Unix seconds. */
  readonly step_since: number | null;
  readonly provider: string | null;
  readonly upstream_model: string | null;
  readonly upstream_task: string | null;
  readonly attempts: number | null;
  readonly created_at: number;
  readonly deadline_at: number | null;
  readonly ended_at: number | null;
  readonly estimate: string | null;
  readonly hold: { readonly amount: string; readonly state: string; readonly captured: string } | null;
  readonly charge: string | null;
  readonly video_seconds: number | null;
  readonly failure: string | null;
  readonly results: number;
  readonly copies: number;
  readonly is_copying: boolean;
}

/** A video task as its caller gets it. Source: docs/api/videos.md#task. */
export interface OwnVideoTask {
  readonly id: string;
  readonly status: string;
  readonly model: string;
  readonly prompt: string;
  /** Addresses at the vendor. */
  readonly unsigned_urls: readonly string[];
  /** Addresses of the copies at the gateway. */
  readonly mirror_urls: readonly string[];
  readonly thumbnail_url?: string;
  readonly thumbnail_mirror_url?: string;
  readonly last_frame_url?: string;
  readonly last_frame_mirror_url?: string;
  readonly usage: { readonly video_seconds: number; readonly video_cost: string };
  /** Unix seconds, as all instants. */
  readonly created_at: number;
  readonly updated_at: number;
  readonly started_at?: number;
  readonly completed_at: number | null;
  readonly seconds: string;
  readonly size?: string;
  readonly metadata: Readonly<Record<string, string>>;
  /** 0 to 100. */
  readonly progress?: number;
  readonly queue_position?: number;
  readonly provider?: string;
  readonly error?: { readonly code: string; readonly message: string };
}

/** A delivery of `GET /admin/v1/deliveries`. Source: docs/api/admin.md#deliveries. */
export interface Delivery {
  /** The id of the video task, or of the notification. */
  readonly task: string;
  /** Null for notifications to the operator. */
  readonly account: string | null;
  readonly event: string;
  /** Without its query. */
  readonly url: string;
  readonly state: "pending" | "delivered" | "exhausted";
  /** Unix seconds. */
  readonly created_at: number;
  readonly attempts: number;
  readonly next_attempt_at: number | null;
  readonly settled_at: number | null;
  readonly body_bytes: number;
}

/** A receiver of `GET /admin/v1/webhook-receivers`. Source: docs/api/admin.md#webhook-receivers. */
export interface OpenReceiver {
  readonly id: string;
  readonly account: string;
  readonly url: string;
  /** Unix seconds. */
  readonly closes_at: number;
}

/** An event that a receiver got. */
export interface ReceivedEvent {
  readonly number: number;
  /** Unix seconds. */
  readonly received_at: number;
  readonly via: "gateway" | "network";
  readonly verified: boolean;
  /** Why it is not verified; null if it is. */
  readonly problem: string | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A delivery with its attempts. */
export interface DeliveryWithAttempts extends Delivery {
  readonly attempt_log: readonly {
    readonly number: number;
    /** Unix seconds. */
    readonly started_at: number;
    readonly duration_ms: number;
    readonly status: number | null;
    readonly failure: string | null;
    readonly reason: string | null;
    readonly answer_bytes: number | null;
    /** The start of the receiver's answer, whatever its status; null without an answer. */
    readonly answer_start: string | null;
  }[];
}

/** An entry of `GET /admin/v1/audit`. Source: docs/api/admin.md#audit. */
export interface AuditEntry {
  readonly id: string;
  /** Unix seconds. */
  readonly created_at: number;
  readonly actor: string;
  readonly address: string | null;
  readonly request_id: string | null;
  readonly method: string;
  readonly path: string;
  readonly account: string | null;
  readonly state: "begun" | "done";
  readonly before: Readonly<Record<string, unknown>> | null;
  readonly after: Readonly<Record<string, unknown>> | null;
}

/** A setting of `GET /admin/v1/config`. Source: docs/api/admin.md#configuration. */
export interface ConfigSetting {
  /** Without secrets. */
  readonly value: unknown;
  /** `file …`, `environment`, `store version N`, `built in` or `default`. */
  readonly owner: string;
  /** Where it is in the file; absent for other owners. */
  readonly path?: string;
}

/** The answer of `GET /admin/v1/config`. */
export interface ConfigInForce {
  /** The path of the file; null without one. */
  readonly file: string | null;
  /** The version of the settings in the store; 0 for none. */
  readonly version: number;
  /** Whether it stays until the gateway stops. */
  readonly is_read_only: boolean;
  /** Settings of the store without effect. */
  readonly shadowed: readonly string[];
  /** By section, then by name. */
  readonly settings: Readonly<Record<string, Readonly<Record<string, ConfigSetting>>>>;
}

/** The difference of two configurations. */
export interface ConfigDifference {
  /** Names by section. */
  readonly added: Readonly<Record<string, readonly string[]>>;
  readonly removed: Readonly<Record<string, readonly string[]>>;
  /** By section, then by name, then by field. */
  readonly changed: Readonly<
    Record<string, Readonly<Record<string, Readonly<Record<string, "changed" | { before: unknown; after: unknown }>>>>>
  >;
  /** Settings that take effect at the next start. */
  readonly restart: readonly string[];
  /** Ids of keys; absent in versions. */
  readonly revoked_keys?: readonly string[];
}

/** A version of `GET /admin/v1/config/versions`. */
export interface ConfigVersion extends ConfigDifference {
  readonly version: number;
  /** Unix seconds. */
  readonly created_at: number;
  /** The name of the admin key. */
  readonly by: string;
}

/** A model of `GET /admin/v1/models` or, for callers, of `GET /v1/models`. */
export interface ListedModel {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  /** Tokens; 0 if unknown. */
  readonly context_length: number;
  readonly architecture: {
    readonly modality: string;
    readonly input_modalities: readonly string[];
    readonly output_modalities: readonly string[];
  };
  /** USD by what they apply to. */
  readonly pricing: Readonly<Record<string, string>>;
  /** The prices under conditions, and those that are still to come: conditions and prices by their names. */
  readonly pricing_overrides?: readonly Readonly<Record<string, string | number | boolean | readonly string[]>>[];
  /** The model that the vendor answers with in its place, from a time on; null or absent for none. */
  readonly redirected_to?: { readonly model: string; readonly from: string } | null;
  /** The date on which the vendor ends it; null or absent for none. */
  readonly expiration_date?: string | null;
  /** For operators only. */
  readonly providers?: readonly {
    readonly provider: string;
    readonly model: string;
    readonly weight: number;
    /** The vendor's name of another model that answers in its place; null or absent for none. */
    readonly answered_by?: string | null;
    /** What the model takes and refuses there. Later entries override earlier ones. */
    readonly facts: readonly { readonly source: string; readonly facts: Readonly<Record<string, unknown>> }[];
  }[];
  readonly aliases?: readonly string[];
  readonly fallbacks?: readonly string[];
  /** Null or absent for other models. */
  readonly video?: {
    readonly modes: readonly string[];
    readonly resolutions: readonly string[];
    readonly aspect_ratios: readonly string[];
    /** Seconds. */
    readonly duration: { readonly min: number; readonly max: number; readonly default: number };
  } | null;
}

/** The answer of `POST /admin/v1/models/price`. */
export interface PriceAnswer {
  /** USD by price, those that are not zero. */
  readonly rates: Readonly<Record<string, string>>;
  readonly charged: readonly {
    readonly price: string;
    readonly quantity: number;
    readonly rate: string;
    readonly cost: string;
  }[];
  readonly cost: string;
}

/** A change of a model's prices. */
export interface PriceChange {
  readonly model: string;
  /** Those that differ, by name; null if the model had none. */
  readonly before: Readonly<Record<string, string>> | null;
  /** Null if the source no longer has the model. */
  readonly after: Readonly<Record<string, string>> | null;
}

/** The answer of `GET /admin/v1/prices`. */
export interface PriceSource {
  readonly source: string;
  readonly is_built_in: boolean;
  /** Seconds. */
  readonly every: number;
  readonly max_change: number;
  /** Seconds. */
  readonly keep: number;
  readonly models: number;
  readonly read_at: number | null;
  readonly effective_from: number | null;
  readonly is_stale: boolean;
  readonly failure: { readonly at: number; readonly reason: string } | null;
  readonly pending: readonly (PriceChange & { readonly reason: "max_change" | "zero" | "vanished" })[];
}

/** A result of `POST /admin/v1/tasks/{id}/results`. */
export interface VideoResult {
  readonly type: "video" | "thumbnail" | "last_frame";
  readonly index: number;
  /** Signed; of the gateway or of the vendor. */
  readonly url: string;
}

/** The limits of an account or a key. */
export interface Limits {
  readonly name: string | null;
  readonly models: readonly string[] | null;
  readonly endpoints: readonly string[] | null;
  readonly providers: readonly string[] | null;
  readonly ip_allow: readonly string[] | null;
  /** Which requests have their bodies kept; null as by default. */
  readonly capture: string | null;
  readonly rpm: number | null;
  readonly tpm: number | null;
  readonly concurrency: number | null;
  readonly budget: { readonly amount: string; readonly per: string } | null;
  /** Unix seconds. */
  readonly expires_at: number | null;
  readonly metadata: Readonly<Record<string, string>>;
}

/** An account of `GET /admin/v1/accounts`. */
export interface Account extends Limits {
  readonly id: string;
  readonly status: "active" | "suspended" | "erasing" | "erased";
  /** Unix seconds. */
  readonly created_at: number;
  readonly balance: string;
  readonly held: string;
  readonly overdraft: string;
  /** Whether the account is charged whatever its balance is. */
  readonly unlimited: boolean;
  /** Gets the notifications about the account. */
  readonly notification_url: string | null;
  /** The body of events about batches. */
  readonly webhook_format: string;
}

/** An account with what is left of its limits and of its balance. */
export interface AccountWithLeft extends Account {
  readonly left: OwnLimits;
  readonly forecast: Forecast;
}

/** A key of an account. */
export interface AccountKey extends Limits {
  readonly id: string;
  readonly account: string;
  readonly prefix: string;
  /** Unix seconds. */
  readonly created_at: number;
  readonly last_used_at: number | null;
  readonly revoked_at: number | null;
}

/** A key with what is left of its limits and of those of its account. */
export interface KeyWithLeft extends AccountKey {
  readonly left: { readonly key: OwnLimits; readonly account: OwnLimits };
}

/** A cached content of `GET /admin/v1/caches`. Source: docs/api/admin.md#caches. */
export interface CachedContent {
  readonly id: string;
  /** `cachedContents/…`. */
  readonly name: string;
  readonly account: string;
  readonly model: string;
  readonly provider: string;
  readonly stored_at: "vendor" | "gateway";
  readonly tokens: number;
  /** The charged requests that named it. */
  readonly hits: number;
  /** Unix seconds; null before the first hit. */
  readonly last_hit_at: number | null;
  /** Unix seconds. */
  readonly created_at: number;
  readonly expires_at: number;
}

/** An entry of a ledger. Source: docs/api/money.md#ledger. */
export interface LedgerEntry {
  readonly id: string;
  /** Unix seconds. */
  readonly created_at: number;
  readonly operation: string;
  readonly reference: string | null;
  /** Changes, signed. */
  readonly balance: string;
  readonly held: string;
  /** Of a charge. */
  readonly requests?: readonly { readonly request_id: string; readonly model: string }[];
  /** Of other entries. */
  readonly detail?: { readonly reason?: string; readonly model?: string };
}

/** Sums of usage. Source: docs/api/money.md#usage. */
export interface UsageSums {
  readonly cost: string;
  readonly requests: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly images: number;
  readonly video_seconds: number;
  /** What vendors' caches saved, in USD. */
  readonly cache_saved: string;
}

/** Usage of a group, whose values are named by its dimensions. */
export type UsageGroup = UsageSums & { readonly [dimension: string]: string | number | null };

/** The answer of a usage endpoint. */
export interface UsageAnswer extends ListAnswer<UsageGroup> {
  /** With `top`: the sums of all groups that are not in `data`, by day if the groups are. */
  readonly others?: readonly UsageGroup[];
  readonly total: UsageSums;
}

/** The answer of `GET /v1/key`, as far as it is shown. Source: docs/api/limits.md#own-limits-and-credits. */
export interface OwnKey {
  readonly id: string;
  readonly name: string | null;
  readonly prefix: string;
  /** Unix seconds. */
  readonly created_at: number;
  readonly expires_at: number | null;
  readonly left: OwnLimits;
  readonly account: { readonly id: string; readonly name: string | null; readonly left: OwnLimits };
}

/** What limits have left; those without a limit are absent. */
export interface OwnLimits {
  readonly rpm?: { readonly left: number };
  readonly tpm?: { readonly left: number };
  readonly concurrency?: { readonly left: number };
  readonly budget?: { readonly left: string; readonly resets_at: number | null };
}

/** The answer of `GET /v1/credits`. */
export interface OwnCredits {
  readonly balance: string;
  readonly held: string;
  readonly reserved: string;
  /** Whether the account is charged whatever its balance is. */
  readonly unlimited: boolean;
}

/** Sums of one side of a bill; null for what is not known. */
export interface BillSums {
  /** USD. */
  readonly cost: string;
  readonly requests: number | null;
  readonly input_tokens: number | null;
  readonly cache_read_tokens: number | null;
  readonly cache_write_tokens: number | null;
  readonly output_tokens: number | null;
}

/** The vendor's bill, the ledger, and the first less the second. */
export interface ComparedBill {
  readonly theirs: BillSums;
  readonly ours: BillSums;
  readonly difference: BillSums;
}

/** One side of a price key in an explanation. */
export interface BillSide {
  readonly cost: string;
  readonly quantity: number | null;
  /** The mean of a unit in USD. */
  readonly price: string | null;
}

/** What can explain a difference. */
export interface BillReason {
  readonly kind: string;
  readonly text: string;
  readonly dimension: string | null;
  readonly amount: string | null;
  /** Ids of requests. */
  readonly requests: readonly string[];
}

/** The answer of `GET /admin/v1/reconcile`. */
export interface Reconciliation {
  readonly provider: string;
  readonly source: "openai" | "anthropic" | "openrouter" | "invoice";
  readonly total: ComparedBill;
  readonly days: readonly ({
    readonly day: string;
    readonly state: "complete" | "in_progress" | "not_reported" | "not_recorded";
  } & { readonly [Side in keyof ComparedBill]: BillSums | null })[];
  readonly explanations: readonly {
    readonly day: string | null;
    readonly model: string;
    readonly difference: string;
    readonly ours_from: "request_log" | "price_list";
    readonly dimensions: readonly {
      readonly dimension: string;
      readonly conditions: readonly string[];
      readonly theirs: BillSide;
      readonly ours: BillSide;
    }[];
    readonly reasons: readonly BillReason[];
  }[];
  readonly data: readonly (ComparedBill & {
    readonly day: string | null;
    readonly model: string;
    readonly gateway_models: readonly string[];
  })[];
}

/** What both APIs say of a batch of any protocol. */
export interface BatchFacts {
  readonly id: string;
  /** As its caller's client has it. */
  readonly caller_id: string;
  /** That of the client that created it. */
  readonly protocol: "default" | "message" | "content";
  /** Whether its lines were in a file or in the create. */
  readonly input: "file" | "requests";
  readonly endpoint: string;
  readonly model: string | null;
  /** Who runs the lines: vendors in batches of theirs, the gateway, or both. */
  readonly mode: "vendor" | "emulated" | "mixed";
  readonly status: string;
  /** Unix seconds. */
  readonly created_at: number;
  readonly expires_at: number;
  readonly cancelling_at: number | null;
  readonly finalizing_at: number | null;
  readonly ended_at: number | null;
  readonly lines: { readonly total: number; readonly completed: number; readonly failed: number };
  /** The lines that were run and failed, by the code of their error, the most frequent first. */
  readonly failures: readonly { readonly code: string; readonly count: number }[];
  readonly estimate: string;
  readonly cost: string;
}

/** A batch as its caller reads it. */
export interface OwnBatch extends BatchFacts {
  readonly display_name: string | null;
  readonly errors: readonly { readonly code: string; readonly line: number | null; readonly message: string }[];
  readonly output_file_id: string | null;
  readonly error_file_id: string | null;
}

/** A batch as the admin API lists it. */
export interface ListedBatch extends BatchFacts {
  readonly account: string;
  readonly key: string;
  /** What was wrong with the lines of a batch that failed. */
  readonly errors: readonly { readonly code: string; readonly line: number | null }[];
  readonly hold: { readonly amount: string; readonly state: string; readonly captured: string } | null;
  readonly has_output: boolean;
  readonly has_errors: boolean;
  readonly has_callback: boolean;
}
