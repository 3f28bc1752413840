import { replayCharges } from "../../../money/billing/ledger/replay_charges.ts";
import type { Config } from "../../../config/config.ts";
import { localPathOf, storeAddressOf } from "../../../config/tree/store_address.ts";
import type { Log } from "../../../platform/lib/basics/log.ts";
import { makePrivateFolder, restrictPermissions } from "../../../platform/lib/process/private_path.ts";
import { asUnwritableError } from "../../../platform/lib/process/unwritable.ts";
import { type Journal, type JournalSink, NO_SINK } from "../../../platform/store/journal/journal.ts";
import {
  keepDamagedSegment,
  lacksItsJournal,
  markJournal,
  readJournal,
  removeSegment,
  unmarkJournal,
} from "../../../platform/store/journal/journal_folder.ts";
import { sinkIn } from "../../../platform/store/journal/thread_sink.ts";
import type { Store } from "../../../platform/store/store.ts";
import type { ThreadJournalPlace } from "../../../threads/leases/thread_journals.ts";
import { type JournalUse, unusedJournalFolders, useJournalFolder } from "./journal_folders.ts";
import { Late } from "../../../platform/lib/process/late.ts";

const incompleteModule = new Late(() => import("../../../platform/store/incomplete.ts"));

/** What a journal that is replayed belongs to. */
export interface ReplayOwner {
  readonly config: Pick<Config, "store" | "files">;
  /** The open store of `config`. */
  readonly store: Store;
  readonly log: Log;
}

/** What a journal belongs to. */
export interface JournalOwner extends ReplayOwner {
  readonly config: Pick<Config, "store" | "files" | "billing" | "server">;
}

/**
 * Replays the charges that an earlier process left in the journal, then opens the journal for this process. A store in
 * memory has no file, and its charges need none. Beside a database several gateways can have the same folder of files:
 * each has a journal of its own, and replays those of gateways that have ended.
 *
 * @returns Where the journal is.
 * @throws As {@linkcode replayJournal}; {@linkcode UnwritableError} if the folder cannot be created.
 */
export async function openJournal(journal: Journal, owner: JournalOwner): Promise<OpenJournal> {
  const folder = await journalFolderOf(owner.config);
  if (folder === null) {
    journal.open(NO_SINK, 1);
    return { use: null, place: null };
  }
  const isShared = storeAddressOf(owner.config.store).engine === "postgres";
  if (!isShared) return { use: null, place: await openJournalIn(folder, { journal, owner, isMarked: true }) };
  const use = await useJournalFolder(folder).catch((error) => {
    throw asUnwritableError("files", folder, error);
  });
  try {
    const place = await openJournalIn(use.path, { journal, owner, isMarked: false });
    await replayUnused(folder, owner);
    return { use, place };
  } catch (error) {
    use[Symbol.dispose]();
    throw error;
  }
}

/** An open journal. */
export interface OpenJournal {
  /** The use of its folder, to be closed after the journal; null for a store of one process. */
  readonly use: JournalUse | null;
  /** Null for a store in memory. */
  readonly place: JournalPlace | null;
}

/**
 * Where the journals of a process are. The main thread and each isolate have one of their own in the same folder, so
 * that a replay, a copy and the mark of the store are about all of them. Their segments take turns: those of a thread
 * have numbers that differ by `step`.
 */
export interface JournalPlace {
  readonly folder: string;
  readonly isPower: boolean;
  /** The first segment of the main thread. Those of the isolates follow it. */
  readonly firstSegment: number;
  readonly step: number;
}

interface OpenedJournal {
  readonly journal: Journal;
  readonly owner: JournalOwner;
  /** Whether the store has a mark of its journal. */
  readonly isMarked: boolean;
}

async function openJournalIn(folder: string, { journal, owner, isMarked }: OpenedJournal): Promise<JournalPlace> {
  await noteMissingJournal(owner);
  const nextSegment = await replayFolder(folder, owner);
  try {
    await makePrivateFolder(folder);
    if (isMarked) await markJournal(owner.store, folder);
  } catch (error) {
    throw asUnwritableError("store", folder, error);
  }
  const isPower = owner.config.billing.durability === "power";
  const sink = sinkIn(folder, isPower, owner.log);
  const step = owner.config.server.isolates + 1;
  journal.open(isMarked ? unmarkingSink(sink, folder, owner.store) : sink, nextSegment, step);
  return { folder, isPower, firstSegment: nextSegment, step };
}

/**
 * Writes the charges in the journal of an isolate that has ended to the ledger, and removes the journal. A repeat
 * changes nothing.
 *
 * @param thread The number of the isolate, from 1.
 * @throws {StoreWriteError} If the store takes no writes. The journal stays, and is replayed at the next start.
 */
export async function replayThread(
  { folder, firstSegment, step }: JournalPlace,
  thread: number,
  owner: ReplayOwner,
): Promise<void> {
  await replayFolder(folder, owner, (segment) => (segment - firstSegment - thread) % step === 0);
}

/** Where the journal of an isolate is that starts. */
export async function threadJournalPlace(place: JournalPlace, thread: number): Promise<ThreadJournalPlace> {
  const { folder, firstSegment, step, isPower } = place;
  let first = firstSegment + thread;
  const { nextSegment } = await readJournal(folder, () => false);
  while (first < nextSegment) first += step;
  return { folder, isPower, firstSegment: first, step };
}

async function replayUnused(folder: string, owner: ReplayOwner): Promise<void> {
  for await (const { path } of unusedJournalFolders(folder)) await replayFolder(path, owner);
}

/** Removes the mark of the journal when it is closed without records. */
function unmarkingSink(sink: JournalSink, folder: string, store: Store): JournalSink {
  return {
    append: (segment, bytes) => sink.append(segment, bytes),
    remove: (segment) => sink.remove(segment),
    async close() {
      await sink.close();
      const { segments } = await readJournal(folder);
      if (segments.length === 0) await unmarkJournal(store, folder).catch(() => {}); // the mark is removed by a later stop
    },
  };
}

/**
 * Notes in the store that the journal which belongs to it is missing: the store was copied from a running gateway
 * without it. A database has no such copies.
 */
export async function noteMissingJournal({ config, store, log }: ReplayOwner): Promise<void> {
  const folder = storeAddressOf(config.store).engine === "kv" ? await journalFolderOf(config) : null;
  if (folder === null || !await lacksItsJournal(store, folder)) return;
  log.error("store_incomplete", { path: folder, reason: MISSING_JOURNAL });
  await (await incompleteModule.load()).noteIncomplete(store, "journal_of_charges");
  await unmarkJournal(store);
}

const MISSING_JOURNAL =
  "the store was copied while a gateway used it, without this folder, the journal of charges: its " +
  'last charges are missing; "switchyard backup" copies a store that is in use';

/**
 * Writes the charges in the journal of a store to its ledger, and removes the journal. Whoever opens a store of a
 * gateway that does not run calls this before it reads money. A repeat changes nothing.
 *
 * @throws {StoreWriteError} If the store takes no writes. The journal stays.
 */
export async function replayJournal(owner: ReplayOwner): Promise<void> {
  const folder = await journalFolderOf(owner.config);
  if (folder === null) return;
  if (storeAddressOf(owner.config.store).engine === "postgres") await replayUnused(folder, owner);
  else await replayFolder(folder, owner);
}

/** Replays one journal. Returns the next free number for a segment. */
async function replayFolder(
  folder: string,
  { store, log }: ReplayOwner,
  isMeant: (segment: number) => boolean = () => true,
): Promise<number> {
  await restrictPermissions(folder, log);
  const { segments, texts, damaged, nextSegment } = await readJournal(folder, isMeant);
  const { written, present, unusable } = await replayCharges(store, texts);
  if (written > 0) log.info("journal_replayed", { path: folder, count: written });
  for (const segment of segments) {
    const damagedBytes = damaged.get(segment) ?? 0;
    if (damagedBytes === 0 && unusable === 0) {
      await removeSegment(folder, segment);
      continue;
    }
    const path = await keepDamagedSegment(folder, segment);
    const reason =
      `${unusable} records of the journal cannot be charged; ${written + present} groups of charges were ` +
      "replayed, and the file is kept";
    log.error("journal_damaged", { path, bytes: damagedBytes, reason });
  }
  return nextSegment;
}

/** The folder of the journal of charges; null for a store in memory. As for the lock of a file, the path is real. */
export async function journalFolderOf(config: ReplayOwner["config"]): Promise<string | null> {
  const path = await localPathOf(config);
  return path === null ? null : `${path}.charges`;
}
