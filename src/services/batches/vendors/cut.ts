import { TurnPace } from "../../../platform/lib/streams/turn_pace.ts";
import type { StoredFile } from "../../../platform/files/files.ts";
import type { Credential } from "../../../money/billing/keys/key_ring.ts";
import { GatewayError } from "../../../platform/lib/basics/gateway_error.ts";
import type { BatchedCall, BatchUpstream } from "../../../vendors/upstreams/contract/batch_upstream.ts";
import type { BatchParts } from "../settling/batch_parts.ts";
import { type StoredLine, storedLines } from "../lines/input_lines.ts";
import { type BatchRoute, isRefusedForNow } from "../lines/line_runner.ts";
import { setVendorBatch, vendorBatchesOf } from "../records/records.ts";
import type { LineSet } from "../records/line_set.ts";
import type { Settler } from "../settling/settle.ts";
import {
  addLine,
  hasLine,
  idPrefixOf,
  noLines,
  type VendorBatch,
  vendorContentNameOf,
} from "../records/vendor_batch.ts";

/** The run ends before the batches are cut. */
export class UnfinishedCutError extends Error {
  override readonly name = "UnfinishedCutError";
}

/** What {@linkcode BatchCutter} works on. */
export interface CutOptions {
  readonly settler: Settler;
  readonly lines: StoredFile;
  /** Numbers of the lines that are settled. */
  readonly settled: LineSet;
  /** Of the key; the error of one that may not be used any more. */
  readonly credential: Credential | GatewayError;
  /** Whether the run ends. */
  readonly shouldStop: () => boolean;
}

/**
 * Cuts the lines of a batch that vendors run into batches of the vendors, within their limits. Each has lines of one
 * provider, model and path. Its lines are written as the vendor gets them, and then its record. A repeat goes on where
 * an earlier cut ended. The batch is cut when all lines could be written.
 */
export class BatchCutter {
  readonly #taken: Uint8Array<ArrayBuffer>;
  #next = 1;
  /** Whether there are lines that cannot be written now. */
  #isWaiting = false;

  constructor(private readonly parts: BatchParts, private readonly options: CutOptions) {
    this.#taken = noLines(options.settler.entry.value.total);
  }

  /** @throws {UnfinishedCutError} If the run ends before. */
  async cut(): Promise<void> {
    const { settler, settled } = this.options;
    this.#take(settled.bits);
    for (const { number, lines } of await vendorBatchesOf(this.parts.store, settler.entry.value.id)) {
      this.#next = number + 1;
      this.#take(lines);
    }
    // Ends when no line is left: each step takes lines.
    while (await this.#cutOne());
    await settler.flush();
    if (!this.#isWaiting) await settler.change({ isCut: true });
  }

  #take(lines: Uint8Array): void {
    lines.forEach((bits, index) => this.#taken[index] = (this.#taken[index] ?? 0) | bits);
  }

  /** Cuts one batch of a vendor. Returns whether it took lines. */
  async #cutOne(): Promise<boolean> {
    const { id, total } = this.options.settler.entry.value;
    const number = this.#next++;
    const piece = new Piece(total, idPrefixOf(id, number));
    const name = vendorContentNameOf(id, number);
    const bytes = await this.parts.stored.writeAs(name, this.#linesOf(piece), Infinity);
    if (piece.count === 0 || piece.group === null) {
      await this.parts.files.remove(name);
      return piece.hasRefused;
    }
    const { route: { provider, model }, path, headers } = piece.group;
    const cut: VendorBatch = {
      number,
      state: "cut",
      provider,
      model,
      path,
      headers,
      lines: piece.lines,
      count: piece.count,
      bytes,
      sent: 0,
      failures: 0,
      reads: 0,
      file: null,
      vendorId: null,
      sentAt: null,
      cancelledAt: null,
      dueAt: 0,
    };
    await this.options.settler.change({}, setVendorBatch({}, id, cut));
    return true;
  }

  async *#linesOf(piece: Piece): AsyncGenerator<Uint8Array> {
    const { lines, settler, shouldStop } = this.options;
    const pace = new TurnPace();
    for await (const line of storedLines(lines.read())) {
      if (shouldStop()) throw new UnfinishedCutError("The run ends");
      const { number, route } = line;
      if (route === null || hasLine(this.#taken, number) || !piece.isFor(route)) continue;
      const turn = pace.note();
      if (turn !== null) await turn;
      const batches = await this.#batchesOf(route);
      const composed = await this.#compose(line, { route, batches, piece });
      if ("reply" in composed && isRefusedForNow(composed.reply)) {
        this.#isWaiting = true;
        continue; // for a later cut
      }
      if ("reply" in composed) {
        await settler.add({ line, reply: composed.reply });
        addLine(this.#taken, number);
        piece.hasRefused = true;
        continue;
      }
      const { call, bytes, inputs } = composed;
      const isOther = piece.group !== null && !isSameCall(piece.group, call);
      if (isOther) continue; // for a later piece
      if (piece.count > 0 && !piece.hasRoom({ bytes: bytes.length, inputs }, batches)) return;
      piece.take(number, { bytes: bytes.length, inputs }, { route, ...call });
      addLine(this.#taken, number);
      yield bytes;
      yield LINE_FEED;
    }
  }

  async #batchesOf({ provider }: BatchRoute): Promise<BatchUpstream | null> {
    return await this.parts.runner.batchesOf(provider);
  }

  async #compose(line: StoredLine, { route, batches, piece }: Destination) {
    const { runner } = this.parts;
    const { endpoint, betas, account: accountId, keyId } = this.options.settler.entry.value;
    const { body, part, number } = line;
    const { credential } = this.options;
    const refused = async (error: GatewayError) => ({
      reply: await runner.refuse({ endpoint, credential: { accountId, keyId } }, error),
    });
    if (credential instanceof GatewayError) return await refused(credential);
    if (batches === null) return await refused(withoutBatches(route.provider));
    const request = { endpoint, credential, body, betas };
    const composed = await runner.compose({ request, route, part });
    if ("reply" in composed) return composed;
    const { call } = composed;
    const bytes = batches.writeLine(`${piece.idPrefix}${number}`, call);
    if (bytes.length >= batches.limits.bytes) return await refused(tooLong());
    return { call, bytes, inputs: batches.inputsOf?.(call) ?? 0 };
  }
}

/** Where a line goes. */
interface Destination {
  readonly route: BatchRoute;
  readonly batches: BatchUpstream | null;
  readonly piece: Piece;
}

const LINE_FEED = new Uint8Array([0x0a]);

/** What a line takes of the limits of a vendor's batch. */
interface LineSize {
  readonly bytes: number;
  readonly inputs: number;
}

/** The lines of one vendor's batch while it is cut. */
class Piece {
  readonly lines: Uint8Array<ArrayBuffer>;
  /** Null before the first line. */
  group: (Pick<BatchedCall, "path" | "headers"> & { readonly route: BatchRoute }) | null = null;
  count = 0;
  hasRefused = false;
  #bytes = 0;
  #inputs = 0;

  constructor(total: number, readonly idPrefix: string) {
    this.lines = noLines(total);
  }

  isFor({ provider, model }: BatchRoute): boolean {
    return this.group === null || (this.group.route.provider === provider && this.group.route.model === model);
  }

  hasRoom({ bytes, inputs }: LineSize, batches: BatchUpstream | null): boolean {
    const { lines = 0, bytes: max = 0, inputs: maxInputs = Infinity } = batches?.limits ?? {};
    return this.count < lines && this.#bytes + bytes + 1 <= max && this.#inputs + inputs <= maxInputs;
  }

  take(number: number, { bytes, inputs }: LineSize, group: NonNullable<Piece["group"]>): void {
    this.group ??= { route: group.route, path: group.path, headers: group.headers };
    this.count++;
    this.#bytes += bytes + 1;
    this.#inputs += inputs;
    addLine(this.lines, number);
  }
}

/** Whether two lines can be in one batch: its path and its header fields are those of all lines. */
function isSameCall(one: Pick<BatchedCall, "path" | "headers">, other: Pick<BatchedCall, "path" | "headers">): boolean {
  return one.path === other.path && JSON.stringify(one.headers) === JSON.stringify(other.headers);
}

function withoutBatches(provider: string): GatewayError {
  return new GatewayError("route_error", `Cannot run the line: provider "${provider}" has no batches any more`);
}

function tooLong(): GatewayError {
  return new GatewayError("request_too_large", "Cannot run the line: it is longer than a batch of the vendor may be");
}
