import * as z from "zod";
import type { AuditLog } from "../../observers/audit/audit_log.ts";
import type { PriceBook } from "../../vendors/catalog/sourced_model.ts";
import { OPERATOR_ENDPOINTS } from "../../platform/endpoints/operators.ts";
import type { Inbound } from "../../platform/http/request/inbound.ts";
import { secondsOf } from "../../platform/lib/basics/clock.ts";
import { GatewayError, invalidField } from "../../platform/lib/basics/gateway_error.ts";
import type { JsonObject } from "../../platform/lib/json/json_object.ts";
import { PRICE_PATH } from "../../vendors/prices/audited_prices.ts";
import {
  type FlatPrices,
  flatSourced,
  type PendingChange,
  type PriceChange,
} from "../../vendors/prices/price_changes.ts";
import type { PriceFeed } from "../../vendors/prices/price_feed.ts";
import type { PricesConfig } from "../../vendors/prices/prices_section.ts";
import type { ReadJson } from "./accounts.ts";
import { operatorOf } from "./admin_access.ts";
import { type AdminRoute, adminRoute } from "./shared/admin_route.ts";
import { answerJson } from "./shared/answer.ts";
import { writeAuditEntry } from "./audit.ts";
import { readFields } from "./shared/fields.ts";
import { PAGE_PARAMETERS, readPage } from "./shared/query.ts";

const MAX_APPLIED = 1_000;

/** The body of `POST /admin/v1/prices/apply`. */
export const AppliedPrices = z.strictObject({
  models: z.array(z.string("the name of a model with a change that waits"), "a list of models")
    .min(1, "a list of at least one model").max(MAX_APPLIED, `a list of at most ${MAX_APPLIED} models`).optional(),
});

/** The dependencies of the endpoints of prices. */
export interface AdminPriceOptions {
  readonly settings: PricesConfig;
  /** Null without a price source, or if the gateway does not run. */
  readonly feed: () => PriceFeed | null;
  readonly audit: AuditLog;
  readonly readOptionalJson: ReadJson;
}

/** The endpoints of the price source. Source: docs/api/admin.md#prices. */
export function adminPriceRoutes({ settings, feed, audit, readOptionalJson }: AdminPriceOptions): AdminRoute[] {
  const paged = { parameters: PAGE_PARAMETERS };
  /** The source, with what other gateways have stored. */
  const current = async () => {
    const source = feed();
    await source?.follow();
    return source;
  };
  return [
    adminRoute(OPERATOR_ENDPOINTS.readPrices, async () => answerJson(writeStatus(settings, await current()))),
    adminRoute(OPERATOR_ENDPOINTS.listPrices, async ({ query }) => {
      return answerJson(pageOf((await current())?.book ?? {}, readPage(query)));
    }, paged),
    adminRoute(OPERATOR_ENDPOINTS.listPriceChanges, async ({ query }) => {
      const { entries, next } = await audit.list({ pathPrefix: PRICE_PATH }, readPage(query));
      return answerJson({ data: entries.map(writeAuditEntry), next });
    }, paged),
    adminRoute(OPERATOR_ENDPOINTS.refreshPrices, async ({ request }) => {
      await request.body?.cancel();
      const source = sourceOf(feed);
      await source.refresh();
      return answerJson(writeStatus(settings, source));
    }),
    adminRoute(OPERATOR_ENDPOINTS.applyPrices, async (inbound) => {
      const { models = null } = readFields(AppliedPrices, await readOptionalJson(inbound));
      const applied = await sourceOf(feed).apply(models, actorOf(inbound));
      return answerJson({ applied: applied.map(writeChange) });
    }),
  ];
}

/** @throws {GatewayError} `conflict` without a price source. */
function sourceOf(feed: AdminPriceOptions["feed"]): PriceFeed {
  const source = feed();
  if (source !== null) return source;
  throw new GatewayError("conflict", "There is no price source: set prices.source and restart the gateway");
}

function actorOf(inbound: Inbound) {
  const { remote, requestId } = inbound;
  return { name: operatorOf(inbound), address: remote === "" ? null : remote, requestId };
}

function writeStatus(
  { source, isBuiltIn, everyMs, maxChange, keepMs }: PricesConfig,
  feed: PriceFeed | null,
): JsonObject {
  const { state = null, pending = [], models = 0, isStale = false, failure = null } = feed?.status ?? {};
  return {
    source,
    is_built_in: isBuiltIn,
    every: everyMs / 1_000,
    max_change: maxChange,
    keep: keepMs / 1_000,
    models,
    read_at: state === null ? null : secondsOf(state.readAt),
    effective_from: state === null ? null : secondsOf(state.from),
    is_stale: isStale,
    failure: failure && { at: secondsOf(failure.at), reason: failure.reason },
    pending: pending.map(writePending),
  };
}

function writePending({ reason, ...change }: PendingChange): JsonObject {
  return { ...writeChange(change), reason };
}

/** Only the prices that differ. */
function writeChange({ model, before, after }: PriceChange): JsonObject {
  return { model, before: changedIn(before, after), after: changedIn(after, before) };
}

function changedIn(prices: FlatPrices | null, others: FlatPrices | null): JsonObject | null {
  if (prices === null || others === null) return prices;
  return Object.fromEntries(Object.entries(prices).filter(([name, price]) => others[name] !== price));
}

function pageOf(book: PriceBook, { limit, after = "0" }: { readonly limit: number; readonly after?: string }) {
  if (!/^\d{1,9}$/.test(after)) throw invalidField("after", 'expected the "next" of an earlier page');
  const [start, models] = [Number(after), Object.entries(book)];
  const data = models.slice(start, start + limit).map(([model, sourced]) => ({ model, prices: flatSourced(sourced) }));
  return { data, next: start + limit < models.length ? String(start + limit) : null };
}
