import { errorName } from "../../../platform/lib/basics/log.ts";
import type { Credential } from "../../../money/billing/keys/key_ring.ts";
import { GatewayError } from "../../../platform/lib/basics/gateway_error.ts";
import type { StoredFile } from "../../../platform/files/files.ts";
import { UpstreamFailure } from "../../../vendors/upstreams/call/failure.ts";
import type { BatchOrder, BatchUpstream, EndedBatch } from "../../../vendors/upstreams/contract/batch_upstream.ts";
import type { BatchParts } from "../settling/batch_parts.ts";
import { BatchCutter } from "./cut.ts";
import { settledLines, setVendorBatch, vendorBatchesOf } from "../records/records.ts";
import { LostBatchError, type Settler } from "../settling/settle.ts";
import { type VendorBatch, vendorContentNameOf } from "../records/vendor_batch.ts";
import { MIN_POLL_MS, pollMs, retryMs } from "./vendor_pauses.ts";
import { orderOf } from "./vendor_order.ts";
import { VendorResults } from "./vendor_results.ts";

/**
 * A create whose outcome is unknown is searched for this long before it is sent again. Its connection is closed by
 * then, and the vendor lists what it has.
 */
const DOUBT_MS = 120_000;
/** A vendor that neither answers nor lists may have run each, so it is sent no more often. */
const MAX_UNLISTED = 5;
/** Tolerance for a vendor's clock that is behind. */
const CLOCK_SKEW_MS = 60_000;
/** Results that are cut, or lack lines, are read so often. */
const MAX_RESULT_READS = 3;
/** Results that the gateway cannot take for now, since it has no memory or storage, are read so often: many minutes. */
const MAX_REFUSED_READS = 10;
/** Lines that the gateway cannot write for now are tried again after this time. */
const CUT_RETRY_MS = 30_000;
/** A batch that ends waits so long for its vendors, which finish the lines that they run. */
const MAX_STOP_MS = 3_600_000;

/** What {@linkcode VendorRun} works on. */
export interface VendorRunOptions {
  readonly settler: Settler;
  readonly lines: StoredFile;
  /** The credential for lines that are sent; the error of a key that may not be used any more. */
  readonly credential: () => Promise<Credential | GatewayError>;
  /** Since when no further line may begin, as the batch is cancelled or expired, in Unix milliseconds; null if not. */
  readonly stoppedAt: () => number | null;
  /** Whether this run ends, and a later one goes on. */
  readonly shouldPause: () => boolean;
  /** Whether this run ends now, whatever was read: the process stops, or lines cannot be stored. */
  readonly mustPause: () => boolean;
  /** Ends calls to vendors. */
  readonly signal: AbortSignal;
}

/** One look at all batches of vendors that a batch was cut into. Each step is durable before the next one. */
export class VendorRun {
  #results: VendorResults | null = null;

  constructor(private readonly parts: BatchParts, private readonly options: VendorRunOptions) {}

  /**
   * Does what is due. Resolves to when there is more to do, in Unix milliseconds; null if all batches have ended.
   *
   * @throws {UnfinishedCutError} If the run ends before the lines are cut.
   */
  async step(): Promise<number | null> {
    const { store } = this.parts;
    const { settler, stoppedAt, shouldPause } = this.options;
    const { id } = settler.entry.value;
    if (!settler.entry.value.isCut && stoppedAt() === null) await this.#cut();
    let next: number | null = null;
    for (const vendor of await vendorBatchesOf(store, id)) {
      if (shouldPause()) return store.now();
      const after = await this.#advance(vendor);
      if (after.state !== "ended") next = Math.min(next ?? Infinity, after.dueAt);
    }
    if (!settler.entry.value.isCut && stoppedAt() === null) {
      next = Math.min(next ?? Infinity, store.now() + CUT_RETRY_MS);
    }
    return next;
  }

  async #cut(): Promise<void> {
    const { settler, lines, shouldPause, stoppedAt } = this.options;
    const settled = await settledLines(this.parts.store, settler.entry.value);
    const credential = await this.options.credential();
    const shouldStop = () => shouldPause() || stoppedAt() !== null;
    await new BatchCutter(this.parts, { settler, lines, settled, credential, shouldStop }).cut();
  }

  /** Does what is due for one batch of a vendor, and returns it as it is then. */
  async #advance(vendor: VendorBatch): Promise<VendorBatch> {
    const { store, log } = this.parts;
    const { settler } = this.options;
    const stoppedAt = this.options.stoppedAt();
    const mustStop = stoppedAt !== null && vendor.cancelledAt === null;
    if (vendor.state === "ended" || (vendor.dueAt > store.now() && !mustStop)) return vendor;
    if (stoppedAt !== null && vendor.state === "cut") return await this.#end(vendor, null);
    if (stoppedAt !== null && store.now() >= stoppedAt + MAX_STOP_MS) {
      log.error("vendor_batch_lost", { ref: settler.entry.value.id, provider: vendor.provider, state: vendor.state });
      return await this.#end(vendor, null);
    }
    const upstream = await this.parts.runner.batchesOf(vendor.provider);
    if (upstream === null) {
      // An operator can bring the provider back while the batch lasts.
      return await this.#later(vendor, `provider "${vendor.provider}" has no batches any more`);
    }
    try {
      if (vendor.state === "cut") return await this.#create(vendor, upstream);
      if (vendor.state === "creating") return await this.#find(vendor, upstream);
      return await this.#poll(vendor, upstream);
    } catch (error) {
      if (error instanceof LostBatchError || !(error instanceof UpstreamFailure)) throw error;
      return await this.#later(vendor, error.loggedMessage);
    }
  }

  /** Uploads the lines and creates the batch. The record says that it may exist before it is sent. */
  async #create(vendor: VendorBatch, upstream: BatchUpstream): Promise<VendorBatch> {
    const { store, files } = this.parts;
    const { id } = this.options.settler.entry.value;
    const { signal } = this.options;
    if (await files.find(vendorContentNameOf(id, vendor.number)) === null) {
      throw new Error("The lines of a vendor's batch are missing");
    }
    try {
      const { content } = this.#orderOf(vendor);
      const file = vendor.file ?? await upstream.upload?.(content, signal) ?? null;
      const now = store.now();
      const creating = await this.#set({ ...vendor, state: "creating", file, sent: vendor.sent + 1, sentAt: now });
      return await this.#send(creating, upstream);
    } catch (error) {
      if (!(error instanceof UpstreamFailure) || !isRefusal(error)) throw error;
      return await this.#refuse(vendor, error.message);
    }
  }

  async #send(creating: VendorBatch, upstream: BatchUpstream): Promise<VendorBatch> {
    const { store } = this.parts;
    try {
      const vendorId = await upstream.create(this.#orderOf(creating), this.options.signal);
      return await this.#open(creating, vendorId);
    } catch (error) {
      if (!(error instanceof UpstreamFailure)) throw error;
      const now = store.now();
      this.#log(creating, error.loggedMessage);
      if (error.facts.accepted !== "no") return await this.#set({ ...creating, sentAt: now, dueAt: now });
      if (isRefusal(error)) throw error;
      const failures = creating.failures + 1;
      return await this.#set({ ...creating, state: "cut", failures, dueAt: now + retryMs(failures) });
    }
  }

  /** Searches for a batch whose create has an unknown outcome. It is sent again only if the vendor does not have it. */
  async #find(vendor: VendorBatch, upstream: BatchUpstream): Promise<VendorBatch> {
    const { store } = this.parts;
    const sentAt = vendor.sentAt ?? 0;
    const found = await upstream.find(this.#orderOf(vendor), sentAt - DOUBT_MS - CLOCK_SKEW_MS);
    if (typeof found === "object") return await this.#open(vendor, found.id);
    const now = store.now();
    if (found === "unclear" || now < sentAt + DOUBT_MS) {
      return await this.#set({ ...vendor, dueAt: now + pollMs(now - sentAt) });
    }
    const unlisted = (vendor.unlisted ?? 0) + 1;
    if (unlisted >= MAX_UNLISTED) return await this.#refuse(vendor, "no answer, and the batch is not listed");
    return await this.#set({ ...vendor, state: "cut", unlisted, dueAt: now });
  }

  async #open(vendor: VendorBatch, vendorId: string): Promise<VendorBatch> {
    const { store, log } = this.parts;
    const { id } = this.options.settler.entry.value;
    const now = store.now();
    const dueAt = now + MIN_POLL_MS;
    const open = await this.#set({ ...vendor, state: "open", vendorId, sentAt: now, failures: 0, dueAt });
    log.info("vendor_batch_created", { ref: id, provider: vendor.provider, model: vendor.model, count: vendor.count });
    return open;
  }

  async #poll(vendor: VendorBatch, upstream: BatchUpstream): Promise<VendorBatch> {
    const { store } = this.parts;
    const vendorId = vendor.vendorId ?? "";
    const progress = await upstream.read(vendorId);
    if (progress.state === "gone") return await this.#missing(vendor, "the vendor has the batch no more");
    if (progress.state === "ended") return await this.#settle(vendor, progress, upstream);
    const now = store.now();
    const dueAt = now + pollMs(now - (vendor.cancelledAt ?? vendor.sentAt ?? now));
    if (this.options.stoppedAt() === null || vendor.cancelledAt !== null) {
      return await this.#set({ ...vendor, failures: 0, dueAt });
    }
    await upstream.cancel(vendorId);
    return await this.#set({ ...vendor, failures: 0, cancelledAt: now, dueAt: now + MIN_POLL_MS });
  }

  async #settle(vendor: VendorBatch, ended: EndedBatch, upstream: BatchUpstream): Promise<VendorBatch> {
    const { store } = this.parts;
    const { failure } = ended;
    if (failure !== null) {
      if (!failure.isTemporary) {
        const refused = await this.#refuse(vendor, failure.message);
        await this.#remove(vendor, ended, upstream);
        return refused;
      }
      this.#log(vendor, failure.message);
      const failures = vendor.failures + 1;
      const again = { state: "cut", vendorId: null, failures } as const;
      return await this.#set({ ...vendor, ...again, dueAt: store.now() + retryMs(failures) });
    }
    const results = await this.#resultsOf();
    const mayWait = vendor.failures + 1 < MAX_REFUSED_READS;
    const { outcome, failure: cut, vendor: read } = await results.settle(vendor, { ended, upstream, mayWait });
    if (outcome === "paused") return await this.#set({ ...read, dueAt: store.now() });
    if (outcome === "refused") return await this.#later(read, "the gateway cannot take all results now");
    // A file that arrives in pieces ends at some time.
    const reads = cut !== null && read.place !== vendor.place ? vendor.reads : vendor.reads + 1;
    if (cut !== null && reads < MAX_RESULT_READS) return await this.#later({ ...read, reads }, cut.loggedMessage);
    if (cut !== null) this.#log(vendor, cut.loggedMessage);
    // A vendor that cancelled or expired a batch lists no result for the lines that it did not run.
    const isWhole = this.options.stoppedAt() !== null || results.hasAll(vendor);
    if (!isWhole && reads < MAX_RESULT_READS) {
      return await this.#later({ ...vendor, reads, place: { file: 0, bytes: 0 } }, "the results lack lines");
    }
    const done = await this.#missing(vendor, "the vendor returned no result");
    await this.#remove(vendor, ended, upstream);
    return done;
  }

  /** What the vendor keeps expires by itself if it cannot be removed. */
  async #remove(vendor: VendorBatch, { results }: EndedBatch, upstream: BatchUpstream): Promise<void> {
    const { vendorId, file } = vendor;
    const files = [...file === null ? [] : [file], ...results];
    await upstream.remove(vendorId ?? "", files).catch((error) => this.#log(vendor, errorName(error)));
  }

  /** Ends a vendor's batch. Its lines without a result fail; those of a stopped batch end with it. */
  async #missing(vendor: VendorBatch, why: string): Promise<VendorBatch> {
    const message = `Cannot return the reply of provider "${vendor.provider}": ${why}; the line is not charged`;
    return await this.#end(vendor, new GatewayError("upstream_error", message, { provider: vendor.provider }));
  }

  /** Ends a vendor's batch that the vendor refuses. */
  async #refuse(vendor: VendorBatch, message: string): Promise<VendorBatch> {
    this.#log(vendor, message);
    const text = `Provider "${vendor.provider}" refused the batch of this line: ${message}`;
    const loggedMessage = `Provider "${vendor.provider}" refused a batch`;
    return await this.#end(vendor, new GatewayError("upstream_error", text, { loggedMessage }));
  }

  async #end(vendor: VendorBatch, error: GatewayError | null): Promise<VendorBatch> {
    if (error !== null && this.options.stoppedAt() === null) {
      await (await this.#resultsOf()).refuseOthers(vendor, error);
    }
    const ended = await this.#set({ ...vendor, state: "ended" });
    const { id } = this.options.settler.entry.value;
    await this.parts.files.remove(vendorContentNameOf(id, vendor.number)).catch(() => {}); // removed with the batch
    return ended;
  }

  async #resultsOf(): Promise<VendorResults> {
    if (this.#results !== null) return this.#results;
    const { settler, lines, shouldPause, mustPause } = this.options;
    const { account: accountId, keyId } = settler.entry.value;
    const settled = await settledLines(this.parts.store, settler.entry.value);
    // What the vendor has done is paid, whatever the key may do by now.
    const credential = { accountId, keyId, limits: null, capture: null };
    return this.#results = new VendorResults(this.parts, {
      settler,
      lines,
      settled,
      credential,
      shouldPause,
      mustPause,
    });
  }

  async #later(vendor: VendorBatch, reason: string): Promise<VendorBatch> {
    this.#log(vendor, reason);
    const failures = vendor.failures + 1;
    return await this.#set({ ...vendor, failures, dueAt: this.parts.store.now() + retryMs(failures) });
  }

  #log({ provider, model, state, failures }: VendorBatch, reason: string): void {
    const { id } = this.options.settler.entry.value;
    this.parts.log.warn("vendor_batch_failed", { ref: id, provider, model, state, attempt: failures + 1, reason });
  }

  async #set(vendor: VendorBatch): Promise<VendorBatch> {
    const { settler } = this.options;
    await settler.change({}, setVendorBatch({}, settler.entry.value.id, vendor));
    return vendor;
  }

  #orderOf(vendor: VendorBatch): BatchOrder {
    return orderOf(vendor, this.options.settler.entry.value.id, this.parts.files);
  }
}

/** Whether a vendor would refuse the same batch again. */
function isRefusal({ kind }: UpstreamFailure): boolean {
  return kind === "invalid" || kind === "forbidden";
}
