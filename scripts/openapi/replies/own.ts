import * as z from "zod";
import type { RequestEnd } from "../../../src/platform/http/request/request_record.ts";
import { USAGE_DIMENSIONS } from "../../../src/money/billing/usage/usage_group.ts";
import { about, seconds, usd } from "../schema.ts";

const rate = () => z.object({ left: z.number(), resets_at: seconds() });

/** What limits have left. */
export const LimitsLeft = z.object({
  rpm: rate().exactOptional(),
  tpm: rate().exactOptional(),
  concurrency: z.object({ left: z.int() }).exactOptional(),
  budget: z.object({ left: usd(), resets_at: about(z.int().nullable(), "Unix seconds.") }).exactOptional(),
}).meta({ id: "LimitsLeft", description: "Limits that are not set are absent." });

const words = () => z.array(z.string()).nullable();

/** The fields of limits. */
export const LIMITS = {
  models: words(),
  endpoints: words(),
  providers: words(),
  ip_allow: words(),
  rpm: about(z.int().nullable(), "Requests a minute."),
  tpm: about(z.int().nullable(), "Tokens a minute."),
  concurrency: about(z.int().nullable(), "Open requests."),
  budget: z.object({ amount: usd(), per: z.enum(["day", "week", "month", "total"]) }).nullable(),
};

const Limits = z.object(LIMITS).meta({ id: "Limits", description: "Null for no limit." });

/** A caller's own key. */
export const OwnKey = z.object({
  object: z.literal("key"),
  id: z.string(),
  name: z.string().nullable(),
  prefix: z.string(),
  created_at: seconds(),
  expires_at: about(z.int().nullable(), "Unix seconds."),
  limits: Limits,
  left: LimitsLeft,
  account: z.object({
    id: z.string(),
    name: z.string().nullable(),
    expires_at: about(z.int().nullable(), "Unix seconds."),
    limits: Limits,
    left: LimitsLeft,
  }),
}).meta({ id: "OwnKey" });

/** A caller's credits. */
export const Credits = z.object({
  object: z.literal("credits"),
  account: z.string(),
  balance: usd("What can be spent"),
  held: usd("Set aside for videos"),
  reserved: usd("Reserved by open requests"),
  overdraft: usd("How far the balance may fall below zero"),
  unlimited: about(z.boolean(), "Whether requests are charged whatever the balance is."),
}).meta({ id: "Credits" });

const counts = {
  cost: usd(),
  requests: z.int(),
  estimated_requests: z.int(),
  input_tokens: z.int(),
  cache_read_tokens: z.int(),
  cache_write_tokens: z.int(),
  output_tokens: z.int(),
  reasoning_tokens: z.int(),
  images: z.int(),
  web_searches: z.int(),
  video_seconds: z.number(),
  cache_saved: usd(),
};

const dimensions = Object.fromEntries(USAGE_DIMENSIONS.map((name) => [name, z.string().nullable().exactOptional()]));

const group = z.object({ ...dimensions, ...counts }).meta({ id: "UsageGroup" });

/** Sums of usage. */
export const Usage = z.object({
  data: z.array(group),
  others: about(z.array(group).exactOptional(), "With `top`: the sums of all other groups, by day if `data` is."),
  total: z.object(counts).meta({ id: "UsageSums" }),
  next: about(z.string().nullable(), "The `after` of the next page."),
}).meta({ id: "Usage" });

const ENDS = ["completed", "cut", "left"] as const satisfies readonly RequestEnd[];

const attempt = {
  provider: z.string(),
  started_at: about(z.number(), "Unix seconds."),
  duration_ms: z.number(),
  status: z.int().nullable(),
  vendor_request_id: z.string().nullable(),
  code: z.string().nullable(),
  message: z.string().nullable(),
};

/** The fields of a request for its account and for operators. */
const request = {
  id: z.string(),
  object: z.literal("request"),
  key: z.string().nullable(),
  received_at: about(z.number(), "Unix seconds."),
  first_byte_ms: z.number().nullable(),
  duration_ms: z.number(),
  method: z.string(),
  path: z.string(),
  endpoint: z.string().nullable(),
  protocol: z.string().nullable(),
  kind: z.string().nullable(),
  model: about(z.string().nullable(), "As the request named it."),
  served_model: z.string().nullable(),
  provider: z.string().nullable(),
  status: z.int(),
  error: z.object({ code: z.string(), message: z.string().nullable() }).nullable(),
  refusal: about(
    z.object({
      holder: z.enum(["key", "account"]),
      limit: z.string(),
      value: z.string(),
      resets_at: about(z.number().nullable(), "Unix seconds."),
    }).nullable(),
    "The limit that refused it.",
  ),
  reserved: z.object({ amount: usd(), tokens: z.int().nullable() }).nullable(),
  end: z.enum(ENDS).nullable(),
  dropped: z.array(z.string()),
  usage: z.object({
    input_tokens: z.int(),
    cache_read_tokens: z.int(),
    cache_write_tokens: z.int(),
    output_tokens: z.int(),
    reasoning_tokens: z.int(),
    is_estimated: z.boolean(),
  }).nullable(),
  images: z.int(),
  cost: usd().nullable(),
  charged: z.array(z.object({ price: z.string(), quantity: z.number(), rate: usd("The price of one") })),
  price_conditions: about(z.array(z.string()), "The conditions that decided on the rates, in a few words each."),
  request_bytes: z.int().nullable(),
  response_bytes: z.int().nullable(),
  client_address: z.string().nullable(),
  session: about(z.string().nullable(), "The session to which the client says that it belongs."),
};

/** A request for its account. */
export const OwnRequest = z.object({ ...request, attempts: z.array(z.object(attempt)) }).meta({ id: "OwnRequest" });

/** A request for operators. */
export const LoggedRequest = z.object({
  ...request,
  account: z.string().nullable(),
  answered_by: about(z.string().nullable(), "The other model with which the vendor answered, by the vendor's name."),
  position: about(z.int(), "Usable as `after`."),
  has_bodies: about(z.boolean().optional(), "Whether its bodies are kept. Not in lists."),
  attempts: z.array(z.object({ ...attempt, model: z.string().nullable() })),
  routes: about(
    z.array(z.object({
      model: z.string(),
      pin: z.string().nullable(),
      warm: about(
        z.string().exactOptional(),
        "The provider that came first because it has read the conversation last.",
      ),
      candidates: z.array(z.object({
        provider: z.string(),
        weight: z.number(),
        state: z.enum(["ready", "circuit_open", "misconfigured", "not_able", "not_pinned", "drain", "off"]),
        by: about(
          z.string().nullable().exactOptional(),
          "Who halted the provider; null for the configuration. Only with `drain` and `off`.",
        ),
        since: about(z.int().nullable().exactOptional(), "Since when, in Unix seconds. Only with `drain` and `off`."),
      })),
    })),
    "The choices of providers.",
  ),
}).meta({ id: "LoggedRequest" });

/** The texts of the captured bodies of a request. */
export const RequestBodies = z.object({
  request_id: z.string(),
  request: z.string().nullable(),
  response: z.string().nullable(),
  is_cut: z.boolean(),
}).meta({ id: "RequestBodies" });

/** A page of a list. */
export function pageOf<S extends z.ZodType>(
  item: S,
): z.ZodObject<{ data: z.ZodArray<S>; next: z.ZodNullable<z.ZodString> }> {
  return z.object({ data: z.array(item), next: about(z.string().nullable(), "The `after` of the next page.") });
}
