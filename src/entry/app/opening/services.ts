import { adminKeyTest } from "./admin_access.ts";
import { type Authenticate, createAuthenticate } from "../../../money/billing/authenticate.ts";
import { createKeyRing, type KeyRing } from "../../../money/billing/keys/key_ring.ts";
import { createMeter } from "../../../money/billing/meter/create_meter.ts";
import type { LedgerMeter } from "../../../money/billing/meter/meter.ts";
import { settledStore } from "../../../money/billing/meter/settled_store.ts";
import type { UsageReports } from "../../../money/billing/usage/usage_report.ts";
import { markedLedger, UsageRollup } from "../../../money/billing/usage/usage_rollup.ts";
import { OpenStreams } from "../../../services/calls/stream_relay.ts";
import type { Config, LoadedConfig } from "../../../config/config.ts";
import { capturedBodyBytes } from "../../../config/sections/captured_bodies.ts";
import type { ConfigTree } from "../../../config/tree/plain_tree.ts";
import { storeAddressOf } from "../../../config/tree/store_address.ts";
import { WrongKeys } from "../../../platform/http/wrong_keys.ts";
import { defaultMemoryLimit } from "../../../config/machine_memory.ts";
import { type Clock, systemClock, waitAtMost } from "../../../platform/lib/basics/clock.ts";
import type { Log } from "../../../platform/lib/basics/log.ts";
import { MemoryBudget } from "../../../platform/lib/process/memory_budget.ts";
import { threadModule } from "../../../platform/lib/process/program_files.ts";
import { ThreadUse } from "../../../platform/lib/process/thread_use.ts";
import type { BucketNetwork } from "../../../platform/files/s3/open.ts";
import { originOf } from "../../../platform/net/http1/wire_request.ts";
import type { OwnAddress } from "../../../platform/net/target.ts";
import { createAttemptSlots, type ProcessAttemptSlots } from "../../../vendors/routing/attempt_slots.ts";
import { createCircuitBreaker, type ProcessCircuitBreaker } from "../../../vendors/routing/circuit_breaker.ts";
import { createCredentialMonitor, type ProcessCredentialMonitor } from "../../../vendors/routing/credential_monitor.ts";
import type { StoreEngine } from "../../../platform/store/engine.ts";
import { Journal } from "../../../platform/store/journal/journal.ts";
import type { ReplyWork } from "../../../services/texts/large_replies/reply_work.ts";
import { useReplyRunner } from "../../../services/texts/large_replies/reply_runner.ts";
import { useTokenCounter } from "../../../services/texts/plan/token_estimate.ts";
import type { IdempotencyCounts } from "../../../money/limits/idempotency_counts.ts";
import { idempotencyCounts } from "./replays.ts";
import type { Lessors } from "../../../threads/leases/lessors.ts";
import { limitsByProvider } from "../../../vendors/upstreams/settings/provider_limits.ts";
import { type BodyReader, bodyReaderBy, type BodyRunner } from "../../../platform/http/bodies/body_reader.ts";
import type { BodyWork } from "../../../platform/http/bodies/body_work.ts";
import { createMediaWork, type MediaThreads } from "../../../platform/workers/media_work.ts";
import { createTokenWork } from "../../../platform/workers/token_work.ts";
import type { LogThreadData } from "../../../observers/request_log/messages.ts";
import type { StartThread } from "../../../platform/workers/worker_thread.ts";
import { type CountedHits, countHits } from "./caches.ts";
import { type ConfiguredParts, openConfiguredParts, OtherAnswers } from "./configured_parts.ts";
import { type LiveSettings, startConfig, type StartedConfig, withDatedHalts } from "./start_config.ts";
import { type FileStores, openFileStores } from "./file_stores.ts";
import { createCounts, type GatewayCounts } from "./counts.ts";
import type { GatewayRoles } from "./gateway_roles.ts";
import { openStore, type OpenStoreOptions } from "./store.ts";
import { Late } from "../../../platform/lib/process/late.ts";

const lendingModule = new Late(() => import("./lending.ts"));
const recallingModule = new Late(() => import("./recalling.ts"));
const usageReportModule = new Late(() => import("../../../money/billing/usage/usage_report.ts"));
const bodyWorkModule = new Late(() => import("../../../platform/http/bodies/body_work.ts"));
const replyWorkModule = new Late(() => import("../../../services/texts/large_replies/reply_work.ts"));

/** Options of {@linkcode openServices}. */
export interface ServiceOptions {
  readonly config: Config;
  readonly log: Log;
  /** Default: the system clock. */
  readonly clock?: Clock;
  /** Uniform in [0, 1). Default: `Math.random`. */
  readonly random?: () => number;
  /** How the configuration is changed while the gateway runs, and how it was read. Default: it is not changed. */
  readonly live?: LiveSettings & { readonly loaded: LoadedConfig };
  /**
   * The settings of a configuration that is not changed while the gateway runs, as an operator would write them.
   * Default: null, and the admin API does not show them.
   */
  readonly tree?: ConfigTree | null;
  /** Returns the number of log lines that could not be written. Default: none. */
  readonly droppedLogLines?: () => number;
  /** How a store in PostgreSQL is shared with other gateways. Default: it is used beside them. */
  readonly sharing?: Pick<OpenStoreOptions, "isStandby" | "onLost" | "patience">;
  /** What this gateway does of the work of all gateways on the store. Default: everything. */
  readonly roles?: GatewayRoles;
  /** Whether requests are counted for the metrics. The benchmark measures what it costs. Default: true. */
  readonly countsRequests?: boolean;
  /** The module that isolates run. Replaced in tests. Default: `serving_thread.ts`. */
  readonly isolateEntry?: URL;
  /** The JavaScript heap limit of an isolate in megabytes. Smaller in tests. Default: 4,096. */
  readonly isolateHeapMegabytes?: number;
  /** What the log of requests of a store in memory starts in the place of its thread. Tests only. Default: null. */
  readonly memoryLog?: ((data: LogThreadData) => StartThread) | null;
}

const ISOLATE_HEAP_MEGABYTES = 4_096;

/** Options of {@linkcode openServices} that the open services need no more. */
type OpeningOptions = "live" | "sharing";

/** The parts that all endpoints and jobs share. */
export interface Services extends Required<Omit<ServiceOptions, OpeningOptions>>, ConfiguredParts {
  /** How the configuration is changed while the gateway runs; null if it is not. */
  readonly started: StartedConfig | null;
  /** The configuration in force. */
  readonly config: Config;
  /** What the gateway counts. Its log is `log`. */
  readonly counts: GatewayCounts;
  /** Its balances and ledgers include the charges in the journal. */
  readonly store: StoreEngine;
  /** Charges that are not in the ledger yet. */
  readonly journal: Journal;
  readonly files: FileStores;
  readonly keys: KeyRing;
  /** Called when the kept replies of an account are removed. */
  readonly onRepliesForgotten: ((accountId: string) => void)[];
  /** Awaited before the log of requests is read. Threads send the records that they hold. */
  readonly onRecordsRead: (() => Promise<void>)[];
  /** The models with which vendors answer in the place of others. */
  readonly otherAnswers: OtherAnswers;
  /** Called after each failed attempt at a vendor. */
  readonly onAttemptFailed: (() => void)[];
  /** Called when an account or one of its keys has changed. Threads add their own. */
  readonly onKeysEvicted: ((accountId: string) => void)[];
  readonly authenticate: Authenticate;
  /** Delays the answers to wrong keys of callers and operators. */
  readonly wrongKeys: WrongKeys;
  readonly idempotencyCounts: IdempotencyCounts;
  /** Counts the wrong keys of requests for catalogs, which are public and not delayed. */
  readonly publicWrongKeys: WrongKeys;
  readonly meter: LedgerMeter;
  /** What isolates lease of accounts; null without isolates. */
  readonly lessors: Lessors | null;
  /** The open calls that every account can have, which a change of the configuration sets. */
  readonly openCallLimit: { perAccount: number };
  readonly usageRollup: UsageRollup;
  readonly usage: UsageReports;
  /** Which cached contents requests use. */
  readonly cacheHits: CountedHits;
  readonly breaker: ProcessCircuitBreaker;
  /** Whether vendors accept the providers' credentials. */
  readonly credentials: ProcessCredentialMonitor;
  /** Limits the attempts at providers. */
  readonly slots: ProcessAttemptSlots;
  /** Bounds the memory of bodies, downloads and replies under way. */
  readonly memory: MemoryBudget;
  /** What the main thread and the isolates hold; null without isolates. */
  readonly threadUse: ThreadUse | null;
  /** The gateway's own addresses, which `egress` refuses. An address is added when the gateway listens. */
  readonly ownAddresses: OwnAddress[];
  /** Decodes and measures media, in threads. */
  readonly media: MediaThreads;
  /** Reads large bodies with media, in a thread. */
  readonly bodies: BodyReader & Pick<BodyWork, "run">;
  /** The response streams that are open. */
  readonly openStreams: OpenStreams;
  /** Flushes all charges to the store, then closes everything but the providers of a later configuration. */
  close(): Promise<void>;
}

/**
 * Opens the store and builds the shared parts. A missing store is created empty; apart from that nothing changes on
 * disk or in the store.
 *
 * @throws What {@linkcode openStore} throws, and a `ConfigError` if `egress.ca_file` cannot be read.
 */
export async function openServices(options: ServiceOptions): Promise<Services> {
  const { clock = systemClock, random = Math.random, droppedLogLines = () => 0, tree = null } = options;
  const { roles = { serves: true, works: true }, countsRequests = true, memoryLog = null } = options;
  const {
    isolateEntry = threadModule("entry/app/threads/serving_thread"),
    isolateHeapMegabytes = ISOLATE_HEAP_MEGABYTES,
  } = options;
  const counts = createCounts({ log: options.log, clock });
  const { log } = counts;
  const engine = await openStore(options.config, { clock, log, isShared: true, roles, ...options.sharing });
  try {
    const started = options.live ? await startConfig(options.live, options.live.loaded, { store: engine, log }) : null;
    const config = withDatedHalts(started?.loaded.config ?? options.config, null, clock.now());
    const ownAddresses = ownAddressesOf(config);
    const otherAnswers = new OtherAnswers(log);
    const configured = await openConfiguredParts(config, { clock, ownAddresses, onOtherAnswer: otherAnswers.note });
    const shared = {
      otherAnswers,
      config,
      log,
      clock,
      random,
      droppedLogLines,
      roles,
      countsRequests,
      isolateEntry,
      isolateHeapMegabytes,
      memoryLog,
      counts,
      started,
      tree,
    };
    // Code is loaded only for what is on.
    const lending = config.server.isolates === 1 ? null : await lendingModule.load();
    const recalling = engine.gateways === undefined ? null : await recallingModule.load();
    const maxLedgerLagMs = maxLedgerLagMsOf(config, options.sharing?.patience?.ledgerMs);
    return buildServices(shared, { engine, configured, ownAddresses, lending, recalling, maxLedgerLagMs });
  } catch (error) {
    await engine.close();
    throw error;
  }
}

interface OpenedParts {
  readonly engine: StoreEngine;
  readonly configured: ConfiguredParts;
  readonly ownAddresses: OwnAddress[];
  /** Null without isolates. */
  readonly lending: Pick<typeof import("./lending.ts"), "lend"> | null;
  /** Null without other gateways on the store. */
  readonly recalling: Pick<typeof import("./recalling.ts"), "recalled"> | null;
  /** Null if charges may wait in the journal as long as it has room. */
  readonly maxLedgerLagMs: number | null;
}

function buildServices(
  options: Required<Omit<ServiceOptions, OpeningOptions>> & Pick<Services, "counts" | "started" | "otherAnswers">,
  { engine: plainEngine, configured, ownAddresses, lending, recalling, maxLedgerLagMs }: OpenedParts,
): Services {
  const { config, clock, log } = options;
  const { chargedAccounts } = plainEngine;
  const usageRollup = new UsageRollup({
    store: plainEngine,
    clock,
    log,
    ...chargedAccounts !== undefined && { chargedAccounts: chargedAccounts.bind(plainEngine) },
  });
  const engine = markedLedger(plainEngine, (account) => usageRollup.mark(account));
  const journal = new Journal({ log });
  const openCallLimit = { perAccount: config.limits.accountConcurrency };
  const ownMeter = createMeter({
    store: engine,
    journal,
    clock,
    log,
    accountConcurrency: () => openCallLimit.perAccount,
    readSpent: (account, keyId, since) => usageRollup.spentSince(account, keyId, since),
    writeGuard: engine.writeGuard,
    leases: engine.moneyLeases ?? null,
    shareLeases: engine.shareLeases ?? null,
    ...plainEngine.gateways !== undefined && { gateways: plainEngine.gateways },
    maxLedgerLagMs,
  });
  const { meter: lentMeter, lessors } = lending === null
    ? { meter: ownMeter, lessors: null }
    : lending.lend(ownMeter, clock);
  const meter = recalling === null ? lentMeter : recalling.recalled(lentMeter, plainEngine, clock);
  const store = settledStore(engine, meter);
  const onRecordsRead: Services["onRecordsRead"] = [];
  const cacheHits = countHits({ store, clock, log }, onRecordsRead);
  const onAttemptFailed: Services["onAttemptFailed"] = [];
  const onKeysEvicted: Services["onKeysEvicted"] = [];
  const onEvicted = (accountId: string) => onKeysEvicted.forEach((listener) => listener(accountId));
  const keys = createKeyRing({ store, clock, onEvicted, isAdminKey: adminKeyTest(config, store, clock) });
  const wrongKeys = new WrongKeys(clock);
  const credentials = createCredentialMonitor({ providers: configured.providers, clock, log });
  const breaker = createCircuitBreaker({
    clock,
    credentials,
    onFailure: () => onAttemptFailed.forEach((listener) => listener()),
    onOpened: (provider) => plainEngine.announce?.(CIRCUIT_PREFIX + provider),
  });
  plainEngine.onWake((kind) => {
    if (kind.startsWith(CIRCUIT_PREFIX)) breaker.noteOpenedElsewhere(kind.slice(CIRCUIT_PREFIX.length));
  });
  const slots = createAttemptSlots(limitsByProvider(config.providers), clock, sharedLimitsOf(plainEngine));
  const media = createMediaWork({ clock, log });
  const tokens = createTokenWork({ clock, log });
  const { isolates } = config.server;
  const threadUse = isolates === 1 ? null : new ThreadUse(ThreadUse.bufferFor(isolates + 1), 0);
  const memoryBytes = config.limits.memoryBytes ?? defaultMemoryLimit();
  const restoreCounter = useTokenCounter((text) => tokens.count(text));
  let usage: UsageReports | null = null;
  let replies: ReplyWork | null = null;
  let bodies: BodyWork | null = null;
  const readBody: BodyRunner = async (...request) => {
    const { createBodyWork } = await bodyWorkModule.load();
    bodies ??= createBodyWork({ clock, log });
    return await bodies.run(...request);
  };
  const restoreRunner = useReplyRunner(async (job, accountId) => {
    const { createReplyWork } = await replyWorkModule.load();
    replies ??= createReplyWork({ clock, log });
    return await replies.run(job, accountId);
  });
  return {
    ...options,
    ...configured,
    store,
    journal,
    files: openFileStores(config, log, bucketNetworkOf(configured, config, clock)),
    keys,
    onKeysEvicted,
    authenticate: createAuthenticate({
      ring: keys,
      wrongKeys,
      meter,
      clock,
      captureBytes: capturedBodyBytes(config.requestLog),
    }),
    wrongKeys,
    idempotencyCounts: idempotencyCounts(store),
    publicWrongKeys: new WrongKeys(clock),
    meter,
    lessors,
    openCallLimit,
    usageRollup,
    usage: {
      async report(query) {
        const { createUsageReports } = await usageReportModule.load();
        usage ??= createUsageReports({ store, rollup: usageRollup, meter });
        return await usage.report(query);
      },
    },
    cacheHits,
    breaker,
    onAttemptFailed,
    onRepliesForgotten: [],
    onRecordsRead,
    credentials,
    slots,
    memory: new MemoryBudget(memoryBytes, threadUse && { use: threadUse, limitBytes: memoryBytes }),
    ownAddresses,
    media,
    bodies: { ...bodyReaderBy(readBody), run: readBody },
    threadUse,
    openStreams: new OpenStreams(threadUse),
    async close() {
      media.close();
      bodies?.close();
      // A request whose caller left is charged by a token count, so the counts come before the flush.
      await waitAtMost(clock, MAX_LAST_COUNTS_MS, tokens.whenIdle());
      replies?.close(); // no request is open any more
      tokens.close(); // a count that is late is replaced by a rough one
      await tokens.whenIdle();
      await cacheHits.write();
      await meter.flush();
      await slots.close();
      await journal.close();
      await credentials.close();
      configured.openedProviders.close();
      restoreCounter();
      restoreRunner();
      await store.close();
    },
  };
}

/** How long a stop waits for exact counts of tokens. */
const MAX_LAST_COUNTS_MS = 2_000;

/** Announces to other gateways on the store that a provider cannot be reached. */
const CIRCUIT_PREFIX = "circuit_open ";

/** How other gateways on the store have the limits of providers too; null for an engine of one process. */
function sharedLimitsOf({ shareLeases: leases, gateways }: StoreEngine): Parameters<typeof createAttemptSlots>[2] {
  return leases === undefined || gateways === undefined ? null : { leases, gateways };
}

/** What a node that never comes back may lose of an account: the charges of so long. */
const MAX_LEDGER_LAG_MS = 2_000;

/** A journal in the system's cache on the host of one gateway is no place for charges that wait for a database. */
function maxLedgerLagMsOf({ store, billing }: Config, lagMs = MAX_LEDGER_LAG_MS): number | null {
  return storeAddressOf(store).engine === "postgres" && billing.durability === "process" ? lagMs : null;
}

function bucketNetworkOf(
  { egress: { caCertificates: caCerts } }: ConfiguredParts,
  { proxies }: Config,
  clock: Clock,
): BucketNetwork {
  return { clock, caCerts, proxies };
}

/** The configured public address of the gateway, if there is one. */
function ownAddressesOf({ server }: Config): OwnAddress[] {
  if (server.baseUrl === null) return [];
  const { hostname: host, port } = originOf(new URL(server.baseUrl));
  return [{ host, port }];
}
