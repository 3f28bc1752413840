import { DAY_MS } from "../../money/billing/usage/usage_records.ts";
import type { UsageReports } from "../../money/billing/usage/usage_report.ts";
import type { DatedCatalog } from "../catalog/catalog.ts";
import { GatewayError, invalidField } from "../../platform/lib/basics/gateway_error.ts";
import { FairPermits } from "../../platform/lib/collections/permits.ts";
import type { EgressPolicy } from "../../platform/net/target.ts";
import type { RequestLog } from "../../observers/request_log/request_log.ts";
import type { Store } from "../../platform/store/store.ts";
import type { ProviderConfig } from "../upstreams/settings/provider_config.ts";
import type { ReportFormat } from "../upstreams/settings/report_access.ts";
import { readAnthropicReport } from "./anthropic_report.ts";
import { compare, type ComparedRow, type Comparison } from "./compare.ts";
import { explain, type Explanation, type LoggedRow } from "./explain.ts";
import { readInvoice } from "./invoice.ts";
import { readLoggedCharges } from "./logged_charges.ts";
import { readOpenaiReport } from "./openai_report.ts";
import { openrouterDays, readOpenrouterReport } from "./openrouter_report.ts";
import { readOwnSums } from "./own_sums.ts";
import { reportReader } from "./report_fetch.ts";
import type { ReportRange, ReportSink } from "./vendor_report.ts";
import { VendorSums } from "./vendor_sums.ts";

/** What a reconciliation needs. */
export interface ReconciliationParts {
  readonly providers: Readonly<Record<string, ProviderConfig>>;
  readonly usage: UsageReports;
  readonly store: Store;
  readonly catalog: DatedCatalog;
  /** Null if requests are not logged. */
  readonly requestLog: RequestLog | null;
  readonly egress: EgressPolicy;
}

/** What to reconcile. */
export interface ReconciliationQuery extends ReportRange {
  /** The name of a provider. */
  readonly provider: string;
  /** The vendor's invoice as CSV; null to read the vendor's reports. */
  readonly invoice: string | null;
}

/** The vendor's bill next to the ledger. */
export interface Reconciliation extends Comparison {
  readonly provider: string;
  /** Where the vendor's part comes from. */
  readonly source: ReportFormat | "invoice";
  /** Of the largest differences, the largest one first. */
  readonly explanations: readonly Explanation[];
}

/** The longest range. */
export const MAX_DAYS = 92;
const MAX_EXPLANATIONS = 5;
const MAX_WAITING = 4;
const ALL = "";

/** Compares bills with the ledger, one at a time. */
export class Reconciler {
  readonly #permits = new FairPermits({ inAll: 1 });

  constructor(private readonly parts: ReconciliationParts) {}

  /**
   * Compares a vendor's bill with the ledger.
   *
   * @throws {GatewayError} `not_found` for an unknown provider; `conflict` without a `report_key`; `invalid_request`
   * for a bad range or invoice; `upstream_error` or `upstream_timeout` if the vendor's report cannot be read;
   * `overloaded` if others wait.
   */
  async run(query: ReconciliationQuery): Promise<Reconciliation> {
    if (this.#permits.waitingOf(ALL) >= MAX_WAITING) {
      throw new GatewayError("overloaded", "Cannot reconcile: others wait already; try again later");
    }
    return await this.#permits.run(ALL, () => this.#run(query));
  }

  async #run(query: ReconciliationQuery): Promise<Reconciliation> {
    const { usage, store, catalog, requestLog } = this.parts;
    const { provider, fromDay, toDay } = query;
    const today = Math.floor(store.now() / DAY_MS);
    if (fromDay > today) throw invalidField("from", "expected a day that has begun, UTC");
    const { source, reported, read } = this.#sourceOf(query, today);
    const range = { fromDay, toDay: Math.min(toDay, today + 1) };
    const ours = await readOwnSums({ usage, store, catalog: catalog.at(store.now()) }, provider, range);
    const sums = new VendorSums(ours.nameOf);
    await read(range, sums);
    const comparison = await compare({ theirs: sums.rows, ours, range, reported, today });
    const rows: LoggedRow[] = [];
    for (const row of largestOf(comparison.rows)) {
      rows.push({ row, logged: await readLoggedCharges(requestLog, provider, row.own) });
    }
    return { ...comparison, provider, source, explanations: explain(rows, catalog) };
  }

  #sourceOf({ provider, invoice, ...range }: ReconciliationQuery, today: number): Source {
    const config = this.#configOf(provider);
    if (invoice !== null) {
      return { source: "invoice", reported: range, read: (days, sink) => readInvoice(invoice, days, sink) };
    }
    const { reports, baseUrl } = config;
    if (reports === undefined) {
      const what = `provider "${provider}" has no report_key`;
      const hint = "set it for OpenAI, Anthropic or OpenRouter, or give the vendor's invoice as a CSV file";
      throw new GatewayError("conflict", `Cannot reconcile: ${what}; ${hint}`, { field: "provider" });
    }
    const { egress } = this.parts;
    const ask = reportReader({ ...reports, provider, baseUrl: baseUrl.replace(/\/$/, ""), egress });
    const source = reports.format;
    switch (source) {
      case "openai":
        return { source, reported: range, read: (days, sink) => readOpenaiReport(ask, days, sink) };
      case "anthropic":
        return { source, reported: range, read: (days, sink) => readAnthropicReport(ask, days, sink) };
      case "openrouter": {
        const reported = openrouterDays(range, today);
        return { source, reported, read: (_days, sink) => readOpenrouterReport(ask, reported, sink) };
      }
    }
  }

  #configOf(provider: string): ProviderConfig {
    const { providers } = this.parts;
    const config = Object.hasOwn(providers, provider) ? providers[provider] : undefined;
    if (config !== undefined) return config;
    const names = Object.keys(providers);
    const expected = names.length === 0 ? "none is configured" : `expected one of ${names.join(", ")}`;
    throw new GatewayError("not_found", `Cannot reconcile: no provider has this name; ${expected}`);
  }
}

interface Source {
  readonly source: Reconciliation["source"];
  readonly reported: ReportRange;
  readonly read: (range: ReportRange, sink: ReportSink) => Promise<void>;
}

/** The rows with the largest differences, the largest one first. */
function largestOf(rows: readonly ComparedRow[]): readonly ComparedRow[] {
  const sizeOf = ({ difference: { cost } }: ComparedRow) => cost < 0n ? -cost : cost;
  return rows.filter((row) => sizeOf(row) > 0n)
    .sort((one, other) => sizeOf(one) === sizeOf(other) ? 0 : sizeOf(one) > sizeOf(other) ? -1 : 1)
    .slice(0, MAX_EXPLANATIONS);
}
