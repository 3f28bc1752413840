import { AuditLog } from "../../../observers/audit/audit_log.ts";
import type { EnsuredAccounts } from "../../../money/billing/declared/configured_accounts.ts";
import { isCacheFileInUse } from "../../../services/caches/read.ts";
import { recordSettings } from "../../../config/diff/recorded_settings.ts";
import { FilesUnavailableError } from "../../../platform/files/files.ts";
import type { FolderUse } from "../../../platform/files/folder_use.ts";
import { prepareFolder } from "../../../platform/files/prepare_folder.ts";
import type { Log } from "../../../platform/lib/basics/log.ts";
import { asUnwritableError } from "../../../platform/lib/process/unwritable.ts";
import { StoreWriteError } from "../../../platform/store/store_errors.ts";
import type { Store } from "../../../platform/store/store.ts";
import { isFileNeeded } from "../../../services/videos/create/inputs.ts";
import { openSigningKeys, type SigningKeyRing } from "../../../services/videos/results/signing_keys.ts";
import { indexOldTasks } from "../../../services/videos/tasks/records.ts";
import type { RequestLog } from "../../../observers/request_log/request_log.ts";
import type { StoredReplies } from "../../../services/texts/memory/stored_replies.ts";
import { ensureAuditedAccounts } from "./audited_accounts.ts";
import { type JournalPlace, openJournal } from "../journal/charge_journal.ts";
import type { Services } from "./services.ts";
import type { StartedConfig } from "./start_config.ts";
import type { GatewayTracing } from "./tracing.ts";
import { Late } from "../../../platform/lib/process/late.ts";

const storedRepliesModule = new Late(() => import("../../../services/texts/memory/stored_replies.ts"));
const requestLogModule = new Late(() => import("./request_log.ts"));
const tracingModule = new Late(() => import("./tracing.ts"));
const auditedConfigModule = new Late(() => import("./audited_config.ts"));
const folderUseModule = new Late(() => import("../../../platform/files/folder_use.ts"));
const storedFileRecordsModule = new Late(() => import("../../../services/stored_files/records.ts"));
const batchRecordsModule = new Late(() => import("../../../services/batches/records/records.ts"));
const openModule = new Late(() => import("../../../platform/files/s3/open.ts"));

/** Services of the process that owns the store: its records and files are in the form that this version expects. */
export interface OwnedServices extends Services {
  /** The configured accounts and keys that {@linkcode own} created. */
  readonly createdAccounts: EnsuredAccounts;
  /** The keys that sign the addresses of results. */
  readonly signingKeys: SigningKeyRing;
  /** Creates what is kept of replies for all processes; null if the store has one process. */
  readonly StoredReplies: typeof StoredReplies | null;
  /** One row for each request; null if it is off. Closed with the services. */
  readonly requestLog: RequestLog | null;
  /** Where the journals of the charges are; null for a store in memory. */
  readonly journalPlace: JournalPlace | null;
  /** Exports spans; null if it is off. Closed with the services. */
  readonly tracing: GatewayTracing | null;
}

/**
 * Prepares the store and the files folder, which only gateways on one database share: replays the charges in the
 * journal, creates the configured accounts and the first signing key, migrates records of earlier versions, and removes
 * files that an earlier process left behind. Runs once, before the first request and the first job. A repeat changes
 * nothing.
 *
 * @throws {UnwritableError} If this process cannot write to the files folder, beside the store or to the log of
 * requests; it names the setting.
 * @throws {StoreWriteError} If the store takes no writes.
 */
export async function own(services: Services): Promise<OwnedServices> {
  const { config, store, journal } = services;
  using opened = new DisposableStack();
  const openedJournal = await openJournal(journal, services);
  opened.use(openedJournal.use);
  opened.use(await tidyFiles(services));
  const { signingKeys, createdAccounts } = await (store.exclusively?.(() => prepareRecords(services)) ??
    prepareRecords(services));
  // Code is loaded only for what is on.
  const replies = store.moneyLeases === undefined ? null : await storedRepliesModule.load();
  const requestLog = config.requestLog.isEnabled
    ? await (await requestLogModule.load()).openCurrentRequestLog(services)
    : null;
  const tracing = config.tracing === null ? null : (await tracingModule.load()).openTracing(config.tracing, services);
  const uses = opened.move();
  return {
    ...services,
    createdAccounts,
    signingKeys,
    StoredReplies: replies?.StoredReplies ?? null,
    requestLog,
    tracing,
    journalPlace: openedJournal.place,
    async close() {
      await tracing?.close();
      await requestLog?.close();
      await services.close();
      uses.dispose();
    },
  };
}

/** Migrates records of earlier versions, and creates those that every gateway needs. One gateway does it at a time. */
async function prepareRecords(
  { config, store, started, log }: Services,
): Promise<Pick<OwnedServices, "signingKeys" | "createdAccounts">> {
  await indexOldTasks(store);
  const signingKeys = await openSigningKeys(store);
  const audit = new AuditLog(store, config.retention.auditMs);
  if (started !== null) await recordStart({ started, store, audit, log });
  return { signingKeys, createdAccounts: await ensureAuditedAccounts({ store, audit, accounts: config.accounts }) };
}

/**
 * Records what changed in the configuration since a gateway on the store last had one in force. The first start has no
 * entry. A store that takes no writes does not prevent the start: the next one records the change.
 */
async function recordStart(
  { started, store, audit, log }: {
    readonly started: StartedConfig;
    readonly store: Store;
    readonly audit: AuditLog;
    readonly log: Log;
  },
): Promise<void> {
  try {
    const { diff, save } = await recordSettings(store, started.loaded.tree);
    if (diff === null) return await save();
    const { auditedChange, beginConfigChange } = await auditedConfigModule.load();
    const change = await beginConfigChange(audit, "START");
    await save();
    const { source: { path: file }, version } = started;
    await change.done(auditedChange({ file, version, diff, revokedKeys: [] }));
  } catch (error) {
    if (!(error instanceof StoreWriteError)) throw error;
    log.warn("configuration_unrecorded", { reason: error.name });
  }
}

/**
 * Removes uploads, unfinished files and files without a record. A folder that another gateway uses too stays as it is.
 *
 * @returns The use of the folder by this process; null if the store has no other process.
 */
async function tidyFiles({ config, store, files, log, egress, clock }: Services): Promise<FolderUse | null> {
  let use: FolderUse | null = null;
  try {
    await prepareFolder(config.files, log);
    if (store.moneyLeases !== undefined) {
      const { useFolder } = await folderUseModule.load();
      use = await useFolder(config.files);
    }
    const isInUse = use !== null && !use.isAlone;
    if (!isInUse) await files.uploads.removeLeftovers();
    if (config.bucket !== null) {
      const { checkBucket } = await openModule.load();
      await checkBucket(config.bucket, { clock, caCerts: egress.caCertificates, proxies: config.proxies });
    }
    // In a bucket, what was written in the last hours is left: another gateway may be about to refer to it.
    await files.caches.removeLeftovers((name) => isCacheFileInUse(store, name), isInUse);
    await files.results.removeLeftovers(async (name) => {
      if (!/^(batch|file|upload)-/.test(name)) return await isFileNeeded(store, name);
      const { hasStoredRecord } = await storedFileRecordsModule.load();
      const { isBatchContentNeeded } = await batchRecordsModule.load();
      return await hasStoredRecord(store, name) ?? await isBatchContentNeeded(store, name) ?? true;
    }, isInUse);
    await use?.share();
    return use;
  } catch (error) {
    use?.[Symbol.dispose]();
    if (error instanceof FilesUnavailableError) throw error;
    throw asUnwritableError(config.bucket === null ? "files" : "files_folder", config.files, error);
  }
}
