import { TurnPace } from "../../../platform/lib/streams/turn_pace.ts";
import type { StoredFile } from "../../../platform/files/files.ts";
import type { Credential } from "../../../money/billing/keys/key_ring.ts";
import type { GatewayError } from "../../../platform/lib/basics/gateway_error.ts";
import type { BatchUpstream, EndedBatch } from "../../../vendors/upstreams/contract/batch_upstream.ts";
import type { BatchParts } from "../settling/batch_parts.ts";
import { LineIndex, readStoredLine, type StoredLine, storedLines } from "../lines/input_lines.ts";
import { isRefusedForNow, isSuccess, type LineReply } from "../lines/line_runner.ts";
import { splitLines } from "../lines/split_lines.ts";
import type { Settler } from "../settling/settle.ts";
import { hasLine, idPrefixOf, lineNumberOf, type VendorBatch } from "../records/vendor_batch.ts";

/** A longer line of a vendor's results is left out: no reply of a model is as long. */
const MAX_RESULT_BYTES = 64 * 1024 * 1024;

/** What {@linkcode VendorResults} works on. */
export interface ResultOptions {
  readonly settler: Settler;
  readonly lines: StoredFile;
  /** Numbers of the lines that are settled. Grows with the lines that are settled here. */
  readonly settled: Set<number>;
  readonly credential: Credential;
  /** Whether the run ends before all results are read. */
  readonly shouldPause: () => boolean;
}

/** What {@linkcode VendorResults.settle} reads. */
export interface ReadResults {
  readonly ended: EndedBatch;
  readonly upstream: BatchUpstream;
  /** Whether a reply that the gateway cannot take for now is left to a later look. The vendor has done it already. */
  readonly mayWait: boolean;
}

/** How a look at results ends. `paused`: the run ended before. `refused`: the gateway could not take some for now. */
export type ReadOutcome = "paused" | "refused" | "read";

/** Settles the lines of vendors' batches from their results, each once, whatever the vendor sends. */
export class VendorResults {
  #index: LineIndex | null = null;

  constructor(private readonly parts: BatchParts, private readonly options: ResultOptions) {}

  /**
   * Settles the lines that have results. Lines without one, of other batches, and those that are settled already are
   * left out.
   *
   * @throws {UpstreamFailure} If the results cannot be read to their end.
   */
  async settle(vendor: VendorBatch, { ended, upstream, mayWait }: ReadResults): Promise<ReadOutcome> {
    const { settler, settled, shouldPause } = this.options;
    const { id } = settler.entry.value;
    const pace = new TurnPace();
    const prefix = idPrefixOf(id, vendor.number);
    let ignored = 0;
    let isWaiting = false;
    for await (const bytes of splitLines(this.#untilPause(upstream.results(ended)), MAX_RESULT_BYTES)) {
      if (shouldPause()) return "paused";
      if (bytes === null || bytes.length === 0) continue;
      const turn = pace.note();
      if (turn !== null) await turn;
      const result = readQuietly(upstream, bytes);
      if (result === null) continue;
      const number = lineNumberOf(prefix, result.id);
      if (number === null || settled.has(number) || !hasLine(vendor.lines, number)) {
        ignored++;
        continue;
      }
      if (!("status" in result)) continue; // it was not run: as a line without a result
      const line = await this.#lineAt(number);
      if (line === null) continue;
      const reply = await this.#answer(vendor, line, result);
      if (mayWait && isSuccess(result) && isRefusedForNow(reply)) {
        isWaiting = true;
        continue;
      }
      settled.add(number);
      await settler.add({ line, reply });
    }
    if (shouldPause()) return "paused";
    await settler.flush();
    if (ignored > 0) {
      this.parts.log.warn("batch_results_ignored", { ref: id, provider: vendor.provider, count: ignored });
    }
    return isWaiting ? "refused" : "read";
  }

  /** Chunks until the run ends: a vendor can send any number without a result. */
  async *#untilPause(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    const pace = new TurnPace();
    for await (const chunk of chunks) {
      if (this.options.shouldPause()) return;
      const turn = pace.note();
      if (turn !== null) await turn;
      yield chunk;
    }
  }

  /** Ends the lines of a vendor's batch that have no result with an error, which costs nothing. */
  async refuseOthers(vendor: VendorBatch, error: GatewayError): Promise<void> {
    const { settler, settled, lines } = this.options;
    const { endpoint } = settler.entry.value;
    for await (const line of storedLines(lines.read())) {
      if (settled.has(line.number) || !hasLine(vendor.lines, line.number)) continue;
      settled.add(line.number);
      await settler.add({ line, reply: await this.parts.runner.refuse(endpoint, error) });
    }
    await settler.flush();
  }

  /** Whether all lines of a vendor's batch are settled. */
  hasAll({ lines, count }: VendorBatch): boolean {
    let found = 0;
    for (const number of this.options.settled) if (hasLine(lines, number)) found++;
    return found >= count;
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
function readQuietly(upstream: BatchUpstream, bytes: Uint8Array<ArrayBuffer>) {
  try {
    return upstream.readResult(bytes);
  } catch {
    return null;
  }
}
