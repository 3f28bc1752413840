import * as z from "zod";
import type {
  CachedContent as ConsoleCache,
  ListedBatch as ConsoleBatch,
  ListedModel as ConsoleModel,
  ListedProvider as ConsoleProvider,
  PriceAnswer,
  PriceSource as ConsolePriceSource,
  ProviderTest as ConsoleProviderTest,
  Reconciliation as ConsoleReconciliation,
  TrafficAnswer,
  VideoResult as ConsoleResult,
  VideoTask as ConsoleTask,
} from "../../../src/console/client/shapes.ts";
import { TRAFFIC_GROUPS } from "../../../src/protocols/admin/shared/traffic_groups.ts";
import { TRAFFIC_SPANS, type TrafficSpan } from "../../../src/observers/metrics/traffic_history.ts";
import { REASON_KINDS } from "../../../src/vendors/reconciliation/reason.ts";
import { VIDEO_STATUSES } from "../../../src/services/videos/tasks/task.ts";
import { PROVIDER_STATES } from "../../../src/platform/names/provider_halt.ts";
import { about, seconds, usd, written } from "../schema.ts";
import { BATCH_FACTS } from "./batches.ts";
import { Architecture, PriceChanges, Pricing, Redirect, VideoOptions } from "./models.ts";

const instant = () => about(z.int().nullable(), "Unix seconds.");
const word = () => z.string().nullable();

/** A video task for operators. */
export const AdminTask = written<ConsoleTask>()(z.object({
  id: z.uuid(),
  account: z.string(),
  key: z.string(),
  model: z.string(),
  mode: z.string(),
  status: z.enum(VIDEO_STATUSES),
  step: z.string(),
  step_since: instant(),
  pinned_provider: word(),
  provider: word(),
  credential: word(),
  upstream_model: word(),
  upstream_task: word(),
  attempts: z.int().nullable(),
  created_at: seconds(),
  updated_at: seconds(),
  deadline_at: seconds(),
  ended_at: instant(),
  estimate: usd(),
  hold: z.object({ amount: usd(), state: z.string(), captured: usd() }).nullable(),
  charge: usd().nullable(),
  video_seconds: z.number().nullable(),
  failure: word(),
  results: z.int(),
  copies: z.int(),
  is_copying: z.boolean(),
  has_callback: z.boolean(),
})).meta({ id: "AdminTask" });

/** The addresses of what a task made. */
export const VideoResults = written<{ readonly data: readonly ConsoleResult[] }>()(z.object({
  data: z.array(z.object({ type: z.enum(["video", "thumbnail", "last_frame"]), index: z.int(), url: z.string() })),
})).meta({ id: "VideoResults" });

/** A batch for operators. */
export const AdminBatch = written<ConsoleBatch>()(z.object({
  ...BATCH_FACTS,
  account: z.string(),
  key: z.string(),
  errors: z.array(z.object({ code: z.string(), line: z.int().nullable() })),
  hold: z.object({ amount: usd(), state: z.string(), captured: usd() }).nullable(),
  has_output: z.boolean(),
  has_errors: z.boolean(),
  has_callback: z.boolean(),
})).meta({ id: "AdminBatch" });

/** A cached content for operators. */
export const AdminCache = written<ConsoleCache>()(z.object({
  id: z.string(),
  name: z.string(),
  account: z.string(),
  key: z.string(),
  model: z.string(),
  provider: z.string(),
  stored_at: z.enum(["vendor", "gateway"]),
  tokens: z.int(),
  counted_by: word(),
  created_at: seconds(),
  updated_at: seconds(),
  expires_at: seconds(),
  hits: z.int(),
  last_hit_at: instant(),
})).meta({ id: "AdminCache" });

/** A model for operators. */
export const AdminModel = written<ConsoleModel>()(z.object({
  id: z.string(),
  name: z.string(),
  description: z.string(),
  context_length: z.int(),
  architecture: Architecture,
  pricing: Pricing,
  pricing_overrides: PriceChanges,
  redirected_to: Redirect.nullable(),
  expiration_date: z.string().nullable(),
  providers: z.array(z.object({
    provider: z.string(),
    model: z.string(),
    weight: z.number(),
    answered_by: about(z.string().nullable(), "The other model with which the vendor answers, by the vendor's name."),
    facts: about(
      z.array(z.object({ source: z.string(), facts: z.record(z.string(), z.unknown()) })),
      "What the model takes and refuses, and where that comes from. Later entries override earlier ones.",
    ),
  })),
  aliases: z.array(z.string()),
  fallbacks: z.array(z.string()),
  video: VideoOptions.nullable(),
})).meta({ id: "AdminModel" });

/** What quantities cost. */
export const Price = written<PriceAnswer>()(z.object({
  model: z.string(),
  tier: word(),
  rates: about(z.record(z.string(), z.string()), "US dollars by price, those that are not zero."),
  charged: z.array(z.object({ price: z.string(), quantity: z.number(), rate: z.string(), cost: usd() })),
  cost: usd(),
})).meta({ id: "Price" });

const circuit = {
  circuit: z.enum(["closed", "half_open", "open"]),
  failures_in_a_row: z.int(),
  rests_until: instant(),
};

const health = {
  state: z.enum(["ready", "degraded", "resting", "misconfigured"]),
  misconfigured_since: instant(),
  ...circuit,
  connection: z.object(circuit),
  models: z.array(z.object({
    model: z.string(),
    ...circuit,
    open_for: about(word(), "The account that it is open for; null for all."),
    last_failure_at: instant(),
    succeeded: z.int(),
    failed: z.int(),
  })),
  last_failure_at: instant(),
  succeeded: z.int(),
  failed: z.int(),
  limits: z.object({
    rpm: z.int().nullable(),
    tpm: z.int().nullable(),
    concurrency: z.int().nullable(),
    max_wait: about(z.number(), "Seconds."),
    open: z.int(),
    waiting: z.int(),
  }).nullable(),
  polls: about(
    z.object({
      per_second: z.number(),
      tasks: z.int(),
      open: z.int(),
      paused_until: instant(),
    }).nullable(),
    "The polls of video jobs; null if there were none.",
  ),
};

const service = {
  state: z.enum(PROVIDER_STATES),
  by: about(word(), "The admin key that set it; null if the configuration states it, or if nobody does."),
  since: instant(),
  reason: about(word(), "Why, in the words of who has set it; null if no reason was given."),
};

/** The state that an operator gave a provider. */
export const ServiceState = z.object({ provider: z.string(), ...service }).meta({ id: "ServiceState" });

const Provider = written<ConsoleProvider>()(z.object({
  name: z.string(),
  kind: z.string(),
  service: z.object(service),
  ...health,
  credentials: z.array(z.object({ name: z.string(), ...health })),
})).meta({ id: "Provider" });

/** All providers. */
export const Providers = z.object({ data: z.array(Provider), since: seconds() }).meta({ id: "Providers" });

/** The result of a test. */
export const ProviderTest = written<ConsoleProviderTest>()(z.object({
  provider: z.string(),
  ok: z.boolean(),
  data: z.array(z.object({
    credential: word(),
    ok: z.boolean(),
    message: z.string(),
    latency_ms: z.number(),
    models: z.int().nullable(),
  })),
})).meta({ id: "ProviderTest" });

const quantiles = () => z.object({ p50: z.number(), p95: z.number(), p99: z.number() }).nullable();

const holder = {
  account: z.string(),
  key: about(z.string().nullable(), "Null for the account itself."),
  name: z.string().nullable(),
};

const TRAFFIC_TOTALS = {
  requests: z.int(),
  errors: about(z.record(z.string(), z.int()), "By code."),
  input_tokens: z.int(),
  output_tokens: z.int(),
  cost: usd(),
  first_byte_ms: quantiles(),
  duration_ms: quantiles(),
};

const TrafficStep = z.object({
  from: about(z.number(), "Unix seconds."),
  to: about(z.number(), "Unix seconds."),
  ...TRAFFIC_TOTALS,
}).meta({ id: "TrafficStep" });

/** The spans of traffic. */
export const SPANS = z.enum(TRAFFIC_SPANS as [TrafficSpan, ...TrafficSpan[]]);

/** What traffic can be broken down by. */
export const GROUPS = z.enum(TRAFFIC_GROUPS);

/** The traffic of a span. */
export const Traffic = written<TrafficAnswer>()(z.object({
  span: about(SPANS.nullable(), "Null for a time range."),
  data: z.array(TrafficStep),
  total: TrafficStep,
  groups: about(
    z.object({
      by: GROUPS,
      from: about(z.number(), "Unix seconds from which on every request is counted."),
      to: about(z.number(), "Unix seconds."),
      omitted: about(z.int(), "Further groups, with fewer requests."),
      data: z.array(z.object({ name: about(z.string().nullable(), "Null for none."), ...TRAFFIC_TOTALS })),
    }),
    "The same time by `group_by`, from the log of requests.",
  ).exactOptional(),
  now: z.object({
    open_streams: z.int(),
    memory: about(z.object({ in_use: z.int(), limit: z.int() }), "Bytes."),
    jobs: about(z.record(z.string(), z.number()), "By kind."),
    unpriced: about(
      z.array(z.object({ model: z.string(), dimension: z.string(), count: z.int() })),
      "Requests with reported usage that has no price, since the start of the gateway.",
    ),
    ending: about(
      z.array(z.object({
        account: z.string(),
        left: usd("What can be spent"),
        spent_per_day: usd("The present rate"),
        lasts_until: seconds(),
      })),
      "The accounts whose balances end within a month at the present rate, the first one first.",
    ),
    budgets: about(
      z.array(z.object({
        ...holder,
        amount: usd(),
        per: z.enum(["day", "week", "month", "total"]),
        spent: usd("With what is held for videos"),
        resets_at: about(z.int().nullable(), "Unix seconds."),
      })),
      "The budgets of which at least 80 % are spent, the most spent one first.",
    ),
    expiring: about(
      z.array(z.object({ ...holder, expires_at: seconds() })),
      "The keys and accounts that expire within a week, the first one first.",
    ),
  }),
})).meta({ id: "Traffic" });

const prices = () => about(z.record(z.string(), z.string()).nullable(), "The prices that differ, by name.");
const PriceChange = { model: z.string(), before: prices(), after: prices() };

/** The price source, and the changes that wait for a person. */
export const PriceSource = written<ConsolePriceSource>()(z.object({
  source: z.string(),
  is_built_in: z.boolean(),
  every: z.number(),
  max_change: z.number(),
  keep: z.number(),
  models: z.int(),
  read_at: instant(),
  effective_from: instant(),
  is_stale: z.boolean(),
  failure: z.object({ at: seconds(), reason: z.string() }).nullable(),
  pending: z.array(z.object({ ...PriceChange, reason: z.enum(["max_change", "zero", "vanished"]) })),
})).meta({ id: "PriceSource" });

/** The prices of a model in the price source. */
export const SourcedPrices = z.object({
  model: z.string(),
  prices: z.record(z.string(), z.string()),
}).meta({ id: "SourcedPrices" });

/** Changes of prices that were applied. */
export const AppliedChanges = z.object({ applied: z.array(z.object(PriceChange)) }).meta({ id: "AppliedChanges" });

const count = () => z.number().nullable();
const billSums = () =>
  z.object({
    cost: usd(),
    requests: count(),
    input_tokens: about(count(), "With the tokens of caches."),
    cache_read_tokens: count(),
    cache_write_tokens: count(),
    output_tokens: count(),
  });
const sides = () => ({
  theirs: billSums(),
  ours: billSums(),
  difference: about(billSums(), "The vendor's less the gateway's."),
});
const billSide = () =>
  z.object({
    cost: usd(),
    quantity: count(),
    price: about(z.string().nullable(), "The mean price of a unit in US dollars."),
  });
const day = () => about(z.string().nullable(), "UTC; null for a bill without days.");

/** The vendor's bill next to the ledger. */
export const Reconciliation = written<ConsoleReconciliation>()(z.object({
  provider: z.string(),
  source: z.enum(["openai", "anthropic", "openrouter", "invoice"]),
  total: about(z.object(sides()), "Of the days that both sides know."),
  days: z.array(z.object({
    day: z.string(),
    state: z.enum(["complete", "in_progress", "not_reported", "not_recorded"]),
    theirs: billSums().nullable(),
    ours: billSums().nullable(),
    difference: billSums().nullable(),
  })),
  explanations: about(
    z.array(z.object({
      day: day(),
      model: z.string(),
      difference: usd(),
      ours_from: z.enum(["request_log", "price_list"]),
      dimensions: z.array(z.object({
        dimension: about(z.string(), "The key of a price, or the vendor's words."),
        conditions: about(z.array(z.string()), "Under which the vendor billed a part of it, in its words."),
        theirs: billSide(),
        ours: billSide(),
      })),
      reasons: z.array(z.object({
        kind: z.enum(REASON_KINDS),
        text: z.string(),
        dimension: word(),
        amount: usd().nullable(),
        requests: about(z.array(z.string()), "Ids of requests to look at, the most expensive ones first."),
      })),
    })),
    "Of the largest differences, the largest one first.",
  ),
  data: z.array(z.object({
    day: day(),
    model: about(z.string(), "The vendor's name, or the name of an item that is not of a model."),
    gateway_models: about(z.array(z.string()), "The ids of the gateway's models."),
    ...sides(),
  })),
})).meta({ id: "Reconciliation" });
