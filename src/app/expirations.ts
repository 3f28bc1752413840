import type { DatedCatalog } from "../catalog/catalog.ts";
import { type ExpiringModel, expiringModels } from "../catalog/expiring.ts";
import type { Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";

/** What {@linkcode warnOfExpirations} needs. */
export interface ExpirationParts {
  /** Gives the catalog of the configuration in force. */
  readonly catalog: () => DatedCatalog;
  readonly clock: Clock;
  readonly log: Log;
  /** Called once for each model and date. */
  readonly onExpiring: readonly ((model: ExpiringModel) => void)[];
}

/** Lists and prices change between two looks. */
const INTERVAL_MS = 3_600_000;

/**
 * Logs each model that its vendor ends within thirty days, once for each date.
 *
 * @returns A function that stops it.
 */
export function warnOfExpirations({ catalog, clock, log, onExpiring }: ExpirationParts): () => void {
  const reported = new Set<string>();
  let stopTimer = () => {};
  function look(): void {
    const now = clock.now();
    for (const model of expiringModels(catalog().at(now).models, now)) {
      const { id, date, isPast } = model;
      if (reported.has(`${id} ${date}`)) continue;
      reported.add(`${id} ${date}`);
      log.warn("model_expires", {
        model: id,
        reason: isPast ? `its vendor ended it on ${date}` : `it ends on ${date}`,
      });
      for (const listener of onExpiring) listener(model);
    }
    stopTimer = clock.after(INTERVAL_MS, look);
  }
  look();
  return () => stopTimer();
}
