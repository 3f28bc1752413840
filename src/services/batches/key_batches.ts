import type { Batches } from "./batches.ts";
import { anyStoredBatchId, BATCH_PROTOCOLS, type BatchRecord, shownBatchId } from "./records/batch.ts";
import { ownBatchIds, type OwnBatchPage, readBatch, readBatches } from "./records/records.ts";

/** The batches of a key of all protocols. */
export class KeyBatches {
  constructor(private readonly batches: Batches) {}

  /**
   * Lists them, newest first, and whether there are more.
   *
   * @param page With ids of any protocol. An id that can be none gives the first page.
   */
  async list(
    keyId: string,
    { after, limit }: Pick<OwnBatchPage, "after" | "limit">,
  ): Promise<{ readonly batches: readonly BatchRecord[]; readonly hasMore: boolean }> {
    const { store } = this.batches.parts;
    const page = { after: after === null ? null : anyStoredBatchId(after), limit: limit + 1 };
    const lists = await Promise.all(BATCH_PROTOCOLS.map((protocol) => ownBatchIds(store, { keyId, protocol }, page)));
    // Ids sort by the time of creation.
    const ids = lists.flat().sort().reverse();
    return { batches: await readBatches(store, ids.slice(0, limit)), hasMore: ids.length > limit };
  }

  /**
   * Reads one.
   *
   * @param id That of the store, or one of any protocol.
   * @throws {GatewayError} `not_found`.
   */
  async read(keyId: string, id: string): Promise<BatchRecord> {
    const { shown, protocol } = await this.#placeOf(id);
    return await this.batches.read(keyId, shown, protocol);
  }

  /**
   * Cancels one.
   *
   * @throws {GatewayError} As {@linkcode Batches.cancel}.
   */
  async cancel(keyId: string, id: string): Promise<BatchRecord> {
    const { shown, protocol } = await this.#placeOf(id);
    return await this.batches.cancel(keyId, shown, protocol);
  }

  /** The id of a batch as its caller sees it, and its protocol. An unknown one stays as it is. */
  async #placeOf(id: string) {
    const stored = anyStoredBatchId(id);
    const entry = stored === null ? null : await readBatch(this.batches.parts.store, stored);
    return entry === null
      ? { shown: id, protocol: undefined }
      : { shown: shownBatchId(entry.value), protocol: entry.value.protocol };
  }
}
