import type { Clock } from "../../lib/basics/clock.ts";
import type { Log } from "../../lib/basics/log.ts";
import { MEDIA_TYPE_HEAD_BYTES, mediaTypeOf } from "../../lib/media/media_type.ts";
import { outputStream } from "../../lib/streams/output_stream.ts";
import type { HttpResponse } from "../../net/http1/response.ts";
import { type FileStore, isFileName, type StoredFile, type WriteOptions } from "../files.ts";
import type { DiskQuota } from "../quota.ts";
import { servedTypeOf } from "../served_type.ts";
import type { BucketClient } from "./bucket_client.ts";
import { finish, type Head, headOf } from "./object_head.ts";
import { MultipartUpload, removeStaleUploads } from "./multipart.ts";
import { PART_BYTES, partsOf } from "./parts.ts";
import { elementsIn, textIn } from "./xml.ts";

/** The dependencies and settings of {@linkcode openBucket}. */
export interface BucketOptions {
  readonly client: BucketClient;
  readonly clock: Clock;
  readonly log: Log;
  readonly quota: DiskQuota;
  /** Whether a file has an address in the bucket that serves it in place of the gateway. */
  readonly serves: boolean;
  /**
   * The age from which a partial upload, or a file without a reference, is removed. Default: three hours, more than a
   * copy takes, because another gateway may be writing it.
   */
  readonly leftoverAgeMs?: number;
}

const LEFTOVER_AGE_MS = 10_800_000;
/** How often stale uploads are removed and files are counted again, at the next write. */
const TIDY_EVERY_MS = 3_600_000;
/** The validity of an address in the bucket, in seconds. */
const ADDRESS_SECONDS = 300;
const MAX_REMOVED_AT_ONCE = 8;

/**
 * Files in an S3-compatible bucket. A file appears when its upload is complete: a small one is one request, a large one
 * a multipart upload with at most two parts in flight. The quota counts all files in the bucket at the start and once
 * an hour, and the changes of this process between two counts.
 */
export function openBucket(options: BucketOptions): FileStore {
  const { client, clock, log, quota, serves, leftoverAgeMs = LEFTOVER_AGE_MS } = options;
  let tidiedAt = clock.now();

  async function write(name: string, source: AsyncIterable<Uint8Array>, settings: WriteOptions): Promise<number> {
    if (!isFileName(name)) throw new RangeError(`Cannot keep a file of this name: got "${name.slice(0, 40)}"`);
    if (clock.now() - tidiedAt >= TIDY_EVERY_MS) {
      tidiedAt = clock.now();
      tidy().catch((error) => log.warn("files_not_tidied", { reason: String(error?.message) }));
    }
    const written = { bytes: 0 };
    try {
      const older = await put(client, name, partsOf(counted(source, settings, quota, written)));
      quota.subtract(older ?? 0);
      return written.bytes;
    } catch (error) {
      quota.subtract(written.bytes);
      throw error;
    }
  }

  async function tidy(): Promise<void> {
    await removeStaleUploads(client, clock.now() - leftoverAgeMs);
    const before = quota.usage.bytes;
    let bytes = 0;
    for await (const file of listed(client)) bytes += file.bytes;
    // Changes by this process during the listing may be counted twice or not at all until the next count.
    quota.add(bytes - before);
  }

  return {
    write,
    async find(name) {
      const head = isFileName(name) ? await headOf(client, name) : null;
      if (head === null) return null;
      const file: StoredFile = { name, ...head, read: (part) => streamOf(client, name, head, part) };
      return serves ? { ...file, address: () => addressOf(client, file) } : file;
    },
    async remove(name) {
      const bytes = isFileName(name) ? (await headOf(client, name))?.bytes ?? null : null;
      if (bytes === null) return;
      await finish(client, await client.send({ method: "DELETE", name }));
      quota.subtract(bytes);
    },
    async removeLeftovers(isKept) {
      const before = clock.now() - leftoverAgeMs;
      await removeStaleUploads(client, before);
      let removals: Promise<void>[] = [];
      for await (const { name, bytes, modifiedAt } of listed(client)) {
        if (modifiedAt > before || await isKept(name)) {
          quota.add(bytes);
          continue;
        }
        removals.push(client.send({ method: "DELETE", name }).then((response) => finish(client, response)));
        if (removals.length < MAX_REMOVED_AT_ONCE) continue;
        await Promise.all(removals);
        removals = [];
      }
      await Promise.all(removals);
    },
  };
}

/** Counts the bytes of a source, and ends it with an error above a limit. */
async function* counted(
  source: AsyncIterable<Uint8Array>,
  { capBytes, keepsQuota = false, announcedBytes }: WriteOptions,
  quota: DiskQuota,
  written: { bytes: number },
): AsyncGenerator<Uint8Array> {
  for await (const piece of source) {
    const total = written.bytes + piece.length;
    if (total > capBytes) throw new RangeError(`Cannot keep a file this large: expected at most ${capBytes} bytes`);
    if (keepsQuota) quota.check(Math.max(piece.length, (announcedBytes ?? 0) - written.bytes));
    written.bytes = total;
    quota.add(piece.length);
    yield piece;
  }
}

/** Uploads a file; returns the size of the file that it replaces, null if there is none. */
async function put(
  client: BucketClient,
  name: string,
  parts: AsyncGenerator<Uint8Array<ArrayBuffer>>,
): Promise<number | null> {
  const first = (await parts.next()).value ?? new Uint8Array(0);
  const mediaType = servedTypeOf(await mediaTypeOf(first.subarray(0, MEDIA_TYPE_HEAD_BYTES)));
  const headers = { "content-type": mediaType };
  if (first.length < PART_BYTES) {
    const older = await headOf(client, name);
    // A source that is complete and read to its end.
    await parts.next();
    await finish(client, await client.send({ method: "PUT", name, headers, body: first }));
    return older?.bytes ?? null;
  }
  const upload = await MultipartUpload.start(client, name, headers);
  try {
    await upload.add(first);
    for await (const part of parts) await upload.add(part);
    const older = await headOf(client, name);
    await upload.complete();
    return older?.bytes ?? null;
  } catch (error) {
    await parts.return(undefined);
    await upload.abort();
    throw error;
  }
}

/** A part of an object, or all of it. The object must still have its entity tag. */
function streamOf(
  client: BucketClient,
  name: string,
  { bytes, etag }: Head,
  { first, last }: { readonly first: number; readonly last: number } = { first: 0, last: bytes - 1 },
): ReadableStream<Uint8Array<ArrayBuffer>> {
  let response: HttpResponse | null = null;
  let left = last - first + 1;
  let skip = 0;
  return outputStream({
    async pull(output) {
      try {
        if (left === 0) return output.close();
        const headers = { range: `bytes=${first}-${last}`, "if-match": etag };
        if (response === null) {
          response = await client.send({ method: "GET", name, headers });
          skip = skippedBytes(response, first);
        }
        if (output.isOver) return response.cancel(); // the reader left before the response came
        const piece = await nextPiece(client, response, { skip, left });
        skip = 0;
        left -= piece.length;
        output.enqueue(piece);
        if (left > 0) return;
        // After a whole file in place of a part, the rest is not read.
        if (response.status === 206 || last === bytes - 1) await finish(client, response);
        else response.cancel();
      } catch (error) {
        output.error(error);
      }
    },
    cancel: () => response?.cancel(),
  }, { highWaterMark: 0 });
}

/**
 * The bytes before the part in the body: none, or those before it in a whole file, since a server may ignore `Range`.
 * Source: RFC 9110, 14.2.
 *
 * @throws {Error} If the body is another part.
 */
function skippedBytes(response: HttpResponse, first: number): number {
  if (response.status !== 206) return first;
  const start = /^bytes (\d+)-/.exec(response.head.get("content-range") ?? "")?.[1];
  if (Number(start) === first) return 0;
  response.cancel();
  throw new Error("Cannot read the file: the bucket returned another part of it");
}

/** The next piece of a part after `skip` bytes, at most `left` bytes. Throws if the body ends before. */
async function nextPiece(
  client: BucketClient,
  response: HttpResponse,
  { skip, left }: { readonly skip: number; readonly left: number },
): Promise<Uint8Array<ArrayBuffer>> {
  let toSkip = skip;
  for (let piece = await client.read(response); piece !== null; piece = await client.read(response)) {
    if (piece.length > toSkip) return piece.subarray(toSkip, toSkip + left);
    toSkip -= piece.length;
  }
  throw new Error("Cannot read the file to its end");
}

function addressOf(client: BucketClient, { name, mediaType }: StoredFile): Promise<string> {
  return client.presign(name, ADDRESS_SECONDS, {
    "response-content-type": mediaType,
    "response-content-disposition": `inline; filename="${name}"`,
    "response-cache-control": "private, max-age=3600",
  });
}

interface Listed {
  readonly name: string;
  readonly bytes: number;
  readonly modifiedAt: number;
}

/** All files directly below the prefix. Objects with other names are not files of the gateway. */
async function* listed(client: BucketClient): AsyncGenerator<Listed> {
  const { prefix } = client.settings;
  let token: string | null = null;
  // Ends with the last page of the bucket.
  do {
    const query: Record<string, string> = { "list-type": "2", prefix, delimiter: "/" };
    if (token !== null) query["continuation-token"] = token;
    const page: string = await client.document({ method: "GET", name: null, query });
    for (const item of elementsIn(page, "Contents")) {
      const name = (textIn(item, "Key") ?? "").slice(prefix.length);
      if (!isFileName(name)) continue;
      yield {
        name,
        bytes: Number(textIn(item, "Size") ?? 0),
        modifiedAt: Date.parse(textIn(item, "LastModified") ?? "") || 0,
      };
    }
    token = textIn(page, "IsTruncated") === "true" ? textIn(page, "NextContinuationToken") : null;
  } while (token !== null);
}
