import type { FileStore } from "../../../platform/files/files.ts";
import type { BatchOrder } from "../../../vendors/upstreams/contract/batch_upstream.ts";
import { idPrefixOf, markOf, type VendorBatch, vendorContentNameOf } from "../records/vendor_batch.ts";

/**
 * A vendor's batch as its vendor gets it.
 *
 * @param id That of the batch.
 */
export function orderOf(vendor: VendorBatch, id: string, files: Pick<FileStore, "find">): BatchOrder {
  const { path, headers, model, count, bytes: lengthBytes, file } = vendor;
  async function* open(): AsyncGenerator<Uint8Array<ArrayBuffer>> {
    const content = await files.find(vendorContentNameOf(id, vendor.number));
    if (content === null) throw new Error("The lines of a vendor's batch are missing");
    yield* content.read();
  }
  const idPrefix = idPrefixOf(id, vendor.number);
  return { mark: markOf(id, vendor), idPrefix, path, headers, model, count, content: { lengthBytes, open }, file };
}
