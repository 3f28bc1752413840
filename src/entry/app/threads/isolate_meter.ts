import type { IsolateData, ServingData } from "../../../threads/serving/messages.ts";
import type { ThreadJournalPlace } from "../../../threads/leases/thread_journals.ts";
import type { Clock } from "../../../platform/lib/basics/clock.ts";
import type { Log } from "../../../platform/lib/basics/log.ts";
import { Journal, NO_SINK } from "../../../platform/store/journal/journal.ts";
import { sinkIn } from "../../../platform/store/journal/thread_sink.ts";
import { JournaledCharges } from "../../../threads/leases/journaled_charges.ts";
import { LeasedMeter, type LeasedMeterOptions } from "../../../threads/leases/leased_meter.ts";
import type { RemoteState } from "../../../threads/state/remote_state.ts";

/** The dependencies of {@linkcode openIsolateMeter}. */
export interface IsolateMeterParts extends Pick<LeasedMeterOptions, "report"> {
  readonly data: Pick<IsolateData, "journal" | "writableFlag"> & Pick<ServingData, "storeLimits">;
  /** Its grants go to the meter. */
  readonly state: RemoteState;
  readonly clock: Clock;
}

/** The meter of an isolate, and the journal of its charges. */
export interface IsolateMeter {
  readonly meter: LeasedMeter;
  readonly journal: Journal;
}

/** Opens the meter of an isolate, in its thread. */
export function openIsolateMeter({ data, state, clock, report }: IsolateMeterParts): IsolateMeter {
  const { log } = state;
  const journal = new Journal({ log });
  openJournal(journal, data.journal, log);
  const writableFlag = new Int32Array(data.writableFlag);
  const charges: JournaledCharges = new JournaledCharges({
    journal,
    storeLimits: data.storeLimits,
    clock,
    onCharged: (canWait) => meter.onCharged(canWait),
  });
  const meter: LeasedMeter = new LeasedMeter({
    remote: state.meter,
    charges,
    clock,
    now: () => state.store.now(),
    log,
    isWritable: () => Atomics.load(writableFlag, 0) === 1,
    report,
  });
  state.onGrant = (grant) => meter.onGrant(grant);
  return { meter, journal };
}

function openJournal(journal: Journal, place: ThreadJournalPlace | null, log: Log): void {
  if (place === null) return journal.open(NO_SINK, 1);
  journal.open(sinkIn(place.folder, place.isPower, log), place.firstSegment, place.step);
}
