import { TurnPace } from "../../../platform/lib/streams/turn_pace.ts";
import type { StoredFile } from "../../../platform/files/files.ts";
import type { Credential } from "../../../money/billing/keys/key_ring.ts";
import type { GatewayError } from "../../../platform/lib/basics/gateway_error.ts";
import { UpstreamFailure } from "../../../vendors/upstreams/call/failure.ts";
import type { BatchUpstream, EndedBatch, ResultContent } from "../../../vendors/upstreams/contract/batch_upstream.ts";
import type { BatchParts } from "../settling/batch_parts.ts";
import { LineIndex, readStoredLine, type StoredLine, storedLines } from "../lines/input_lines.ts";
import { isRefusedForNow, isSuccess, type LineReply } from "../lines/line_runner.ts";
import { splitLines } from "../lines/split_lines.ts";
import type { LineSet } from "../records/line_set.ts";
import type { Settler } from "../settling/settle.ts";
import { hasLine, idPrefixOf, lineNumberOf, type ResultPlace, type VendorBatch } from "../records/vendor_batch.ts";

/** A longer line of a vendor's results is left out: no reply of a model is as long. */
const MAX_RESULT_BYTES = 64 * 1024 * 1024;

/** What {@linkcode VendorResults} works on. */
export interface ResultOptions {
  readonly settler: Settler;
  readonly lines: StoredFile;
  /** Numbers of the lines that are settled. Grows with the lines that are settled here. */
  readonly settled: LineSet;
  readonly credential: Credential;
  /** Whether the time of the run is over, so that a later run reads the other results. */
  readonly shouldPause: () => boolean;
  /** Whether the run ends now, whatever was read. */
  readonly mustPause: () => boolean;
}

/** What {@linkcode VendorResults.settle} reads. */
export interface ReadResults {
  readonly ended: EndedBatch;
  readonly upstream: BatchUpstream;
  /** Whether a reply that the gateway cannot take for now is left to a later look. The vendor has done it already. */
  readonly mayWait: boolean;
}

/** What the lines of results are settled with. */
interface SettledResults extends ReadResults {
  readonly vendor: VendorBatch;
  readonly counts: { ignored: number; waiting: number };
}

/** How a look at results ends. */
export interface ReadEnd {
  /** `paused`: the run ended before. `refused`: the gateway could not take some for now. */
  readonly outcome: "paused" | "refused" | "read";
  /** Why the results could not be read to their end; null if they were, as far as the outcome says. */
  readonly failure: UpstreamFailure | null;
  /** The vendor's batch with the place from which the next look reads. */
  readonly vendor: VendorBatch;
}

/** Settles the lines of vendors' batches from their results, each once, whatever the vendor sends. */
export class VendorResults {
  readonly #pace = new TurnPace();
  #index: LineIndex | null = null;
  /** The bytes of the present file that have arrived, and those that must before the run may pause. */
  #progress = { bytes: 0, needed: 0 };

  constructor(private readonly parts: BatchParts, private readonly options: ResultOptions) {}

  /**
   * Settles the lines that have results, from the place on where an earlier look ended. Lines without one, of other
   * batches, and those that are settled already are left out.
   */
  async settle(vendor: VendorBatch, read: ReadResults): Promise<ReadEnd> {
    const { settler } = this.options;
    const counts = { ignored: 0, waiting: 0 };
    const at = { place: vendor.place };
    const ended = (outcome: ReadEnd["outcome"], failure: UpstreamFailure | null = null) => ({
      outcome,
      failure,
      vendor: at.place === vendor.place ? vendor : { ...vendor, ...at.place && { place: at.place } },
    });
    try {
      const isRead = await this.#readAll({ ...read, vendor, counts }, at);
      if (!isRead) return ended("paused");
    } catch (error) {
      if (!(error instanceof UpstreamFailure)) throw error;
      return ended("read", error);
    } finally {
      await settler.flush(); // the place is stored when the lines before it are
    }
    if (counts.ignored > 0) {
      const { id } = settler.entry.value;
      this.parts.log.warn("batch_results_ignored", { ref: id, provider: vendor.provider, count: counts.ignored });
    }
    return ended(counts.waiting > 0 ? "refused" : "read");
  }

  /** Whether all results were read. `at` gets the place before which all lines are settled. */
  async #readAll(read: SettledResults, at: { place: ResultPlace | undefined }): Promise<boolean> {
    const { vendor: { place = { file: 0, bytes: 0 } }, ended, upstream, counts } = read;
    for (const [file, name] of ended.results.entries()) {
      if (file < place.file) continue;
      const consumed = { bytes: file === place.file ? place.bytes : 0 };
      const chunks = this.#chunksFrom(consumed.bytes, await upstream.results(name, consumed.bytes));
      for await (const line of splitLines(chunks, MAX_RESULT_BYTES, consumed)) {
        if (this.#pauses()) return false;
        if (line !== null) await this.#settleLine(line, read);
        if (counts.waiting === 0) at.place = { file, bytes: consumed.bytes };
      }
      if (this.#pauses()) return false;
    }
    return true;
  }

  /** Settles the line of a result, and counts one that is none of the batch, or that the gateway cannot take now. */
  async #settleLine(
    bytes: Uint8Array<ArrayBuffer>,
    { vendor, upstream, mayWait, counts }: SettledResults,
  ): Promise<void> {
    const { settler, settled } = this.options;
    const turn = this.#pace.note();
    if (turn !== null) await turn;
    const result = bytes.length === 0 ? null : await readQuietly(upstream, bytes);
    if (result === null) return;
    const number = lineNumberOf(idPrefixOf(settler.entry.value.id, vendor.number), result.id);
    if (number === null || settled.has(number) || !hasLine(vendor.lines, number)) {
      counts.ignored++;
      return;
    }
    if (!("status" in result)) return; // it was not run: as a line without a result
    const line = await this.#lineAt(number);
    if (line === null) return;
    const reply = await this.#answer(vendor, line, result);
    if (mayWait && isSuccess(result) && isRefusedForNow(reply)) {
      counts.waiting++;
      return;
    }
    settled.add(number);
    await settler.add({ line, reply });
  }

  /**
   * The chunks after what was read before, until the run pauses: a vendor can send any number without a result. A
   * vendor that sends no parts sends what was read again. So that such results end, the run does not pause before as
   * many bytes have followed.
   */
  async *#chunksFrom(first: number, { from, chunks }: ResultContent): AsyncGenerator<Uint8Array> {
    this.#progress = { bytes: from, needed: from < first ? 2 * first : 0 };
    for await (const chunk of chunks) {
      if (this.#pauses()) return;
      const turn = this.#pace.note();
      if (turn !== null) await turn;
      const skipped = Math.min(Math.max(0, first - this.#progress.bytes), chunk.length);
      this.#progress.bytes += chunk.length;
      if (skipped < chunk.length) yield chunk.subarray(skipped);
    }
  }

  #pauses(): boolean {
    const { shouldPause, mustPause } = this.options;
    return mustPause() || (shouldPause() && this.#progress.bytes >= this.#progress.needed);
  }

  /** Ends the lines of a vendor's batch that have no result with an error, which costs nothing. */
  async refuseOthers(vendor: VendorBatch, error: GatewayError): Promise<void> {
    const { settler, settled, lines, credential } = this.options;
    const { endpoint } = settler.entry.value;
    for await (const line of storedLines(lines.read())) {
      if (settled.has(line.number) || !hasLine(vendor.lines, line.number)) continue;
      settled.add(line.number);
      await settler.add({ line, reply: await this.parts.runner.refuse({ endpoint, credential }, error) });
    }
    await settler.flush();
  }

  /** Whether all lines of a vendor's batch are settled. */
  hasAll({ lines, count }: VendorBatch): boolean {
    return this.options.settled.countOf(lines) >= count;
  }

  async #answer(
    { provider, model }: VendorBatch,
    { body, part }: StoredLine,
    result: { readonly status: number; readonly body: Uint8Array<ArrayBuffer> },
  ): Promise<LineReply> {
    const { settler: { entry }, credential } = this.options;
    const { endpoint, betas } = entry.value;
    const request = { endpoint, credential, body, betas };
    return await this.parts.runner.answer({ request, part, route: { provider, model } }, result);
  }

  async #lineAt(number: number): Promise<StoredLine | null> {
    const { lines } = this.options;
    this.#index ??= await LineIndex.of(lines.read());
    const place = this.#index.placeOf(number);
    if (place === null) return null;
    const bytes = new Uint8Array(await new Response(lines.read(place)).arrayBuffer());
    return readStoredLine(bytes, number);
  }
}

/** A line that is none of the vendor's format is as one that is missing. */
async function readQuietly(upstream: BatchUpstream, bytes: Uint8Array<ArrayBuffer>) {
  try {
    return await upstream.readResult(bytes);
  } catch {
    return null;
  }
}
