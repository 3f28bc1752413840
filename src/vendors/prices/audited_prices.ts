import type { AuditActor, AuditedChange, AuditLog } from "../../observers/audit/audit_log.ts";
import type { FlatPrices, PriceChange } from "./price_changes.ts";

/** Who changes prices: the source, or an operator with a request. */
export interface PriceActor extends AuditActor {
  /** Null without a request. */
  readonly requestId: string | null;
}

/** The entries of changes that are under way. */
export interface PriceEntries {
  /** Records that the changes were made. */
  done(): Promise<void>;
  /** Records that nothing was changed. */
  refused(): Promise<void>;
}

/** The first part of the path of entries of price changes. */
export const PRICE_PATH = "prices/";
/** More new models of one list share an entry, which has their number. */
const MAX_NEW_ENTRIES = 200;

/** Records that prices change: an entry for each model, with its prices before and after. */
export async function auditedChanges(
  audit: AuditLog,
  changes: readonly PriceChange[],
  { name, address, requestId }: PriceActor,
): Promise<PriceEntries> {
  const begin = (path: string, before: FlatPrices | null): Promise<AuditedChange> =>
    audit.begin({
      actor: { name, address },
      requestId,
      method: "PRICES",
      path: PRICE_PATH + path,
      account: null,
      before,
    });
  const changed = changes.filter(({ before }) => before !== null);
  const added = changes.filter(({ before }) => before === null);
  const begun: [AuditedChange, Readonly<Record<string, unknown>> | null][] = [];
  for (const { model, before, after } of [...changed, ...added.slice(0, MAX_NEW_ENTRIES)]) {
    begun.push([await begin(model, before), after]);
  }
  const further = added.length - MAX_NEW_ENTRIES;
  if (further > 0) begun.push([await begin("further models", null), { count: further }]);
  return {
    async done() {
      for (const [entry, after] of begun) await entry.done(after);
    },
    async refused() {
      for (const [entry] of begun) await entry.refused();
    },
  };
}
