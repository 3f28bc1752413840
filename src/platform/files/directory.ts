import { dirname, join } from "node:path";
import { MEDIA_TYPE_HEAD_BYTES, mediaTypeOf } from "../lib/media/media_type.ts";
import { makePrivateFolder, PRIVATE_FILE_MODE } from "../lib/process/private_path.ts";
import { silentLog } from "../lib/basics/log.ts";
import { outputStream } from "../lib/streams/output_stream.ts";
import { type FileStore, isFileName, type StoredFile, type WriteOptions } from "./files.ts";
import { asFilesError, onDisk } from "./files_error.ts";
import { DiskQuota } from "./quota.ts";
import { servedTypeOf } from "./served_type.ts";

const PIECE_BYTES = 65_536;
const UNFINISHED = ".part-";
/** In the names of unfinished files. Processes on two hosts can have the same number. */
const WRITER = `${Deno.pid}-${crypto.randomUUID().slice(0, 8)}`;
/** The number of the last unfinished file. Two directories of one process can be the same folder. */
let lastUnfinished = 0;

/**
 * Files in one directory, which is created if it is missing. A file is written under a temporary name, synced and
 * renamed, so that a partial file is never visible. Symbolic links are not followed.
 *
 * @param quota Counts written, removed and existing files. Default: unlimited.
 */
export function openFileDirectory(path: string, quota: DiskQuota = new DiskQuota(UNBOUNDED)): FileStore {
  // Only once: a folder that is gone later may be a disk that is not mounted, and its files would be on another one.
  let isMade = false;

  async function write(name: string, source: AsyncIterable<Uint8Array>, options: WriteOptions): Promise<number> {
    if (!isFileName(name)) throw new RangeError(`Cannot keep a file of this name: got "${name.slice(0, 40)}"`);
    if (!isMade) await onDisk(path, () => makePrivateFolder(path));
    isMade = true;
    const unfinished = join(path, `${UNFINISHED}${WRITER}-${++lastUnfinished}`);
    const written = { bytes: 0 };
    try {
      await fill(unfinished, source, options, quota, written);
      const older = sizeOf(join(path, name));
      await onDisk(path, () => Deno.rename(unfinished, join(path, name)));
      quota.subtract(older ?? 0);
      return written.bytes;
    } catch (error) {
      quota.subtract(written.bytes);
      // What stays is removed at the next start. Why nothing was stored matters more.
      await removeIfThere(unfinished).catch(() => {});
      throw error;
    }
  }

  async function remove(name: string): Promise<void> {
    const bytes = sizeOf(join(path, name));
    const isRemoved = bytes !== null && await onDisk(path, () => removeIfThere(join(path, name)));
    if (isRemoved) quota.subtract(bytes);
  }

  return {
    write,
    find: (name) => isFileName(name) ? onDisk(path, () => findIn(join(path, name), name)) : Promise.resolve(null),
    remove: (name) => isFileName(name) ? remove(name) : Promise.resolve(),
    async removeLeftovers(isKept, isInUse = false) {
      try {
        for await (const { name, isFile } of Deno.readDir(path)) {
          const isLeft = !isInUse &&
            (name.startsWith(UNFINISHED) || (isFile && isFileName(name) && !await isKept(name)));
          if (isLeft) await removeIfThere(join(path, name));
          // Synchronous: there may be a hundred thousand files, and an asynchronous call costs more than the system
          // call.
          else if (isFile && isFileName(name)) quota.add(Deno.lstatSync(join(path, name)).size);
        }
      } catch (error) {
        if (!(error instanceof Deno.errors.NotFound)) throw error;
      }
    },
  };
}

const UNBOUNDED = { quotaBytes: null, log: silentLog };

/** Writes the whole source. `written` is updated along, so that the caller can undo it. */
async function fill(
  path: string,
  source: AsyncIterable<Uint8Array>,
  { capBytes, keepsQuota = false, announcedBytes }: WriteOptions,
  quota: DiskQuota,
  written: { bytes: number },
): Promise<void> {
  using file = await onDisk(path, () => Deno.open(path, { write: true, createNew: true, mode: PRIVATE_FILE_MODE }));
  if (keepsQuota) quota.refresh();
  for await (const piece of source) {
    const total = written.bytes + piece.length;
    if (total > capBytes) throw new RangeError(`Cannot keep a file this large: expected at most ${capBytes} bytes`);
    if (keepsQuota) quota.check(Math.max(piece.length, (announcedBytes ?? 0) - written.bytes));
    // Counted before the write, so that files which are written at one time do not pass the quota together.
    written.bytes = total;
    quota.add(piece.length);
    // Ends with the piece: a write takes at least one byte, or throws.
    for (let at = 0; at < piece.length;) at += await onDisk(path, () => file.write(piece.subarray(at)));
  }
  await onDisk(path, () => file.sync());
}

/** The size of a file; null if there is none. Synchronous: an asynchronous call costs a hundred times as much. */
function sizeOf(path: string): number | null {
  try {
    return Deno.lstatSync(path).size;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) return null;
    throw asFilesError(path, error);
  }
}

async function findIn(path: string, name: string): Promise<StoredFile | null> {
  try {
    const about = await Deno.lstat(path);
    if (!about.isFile) return null;
    if (await Deno.realPath(path) !== join(await Deno.realPath(dirname(path)), name)) return null;
    const modifiedAt = about.mtime?.getTime() ?? 0;
    return {
      name,
      bytes: about.size,
      mediaType: await mediaTypeIn(path),
      etag: `"${about.size.toString(16)}-${modifiedAt.toString(16)}"`,
      modifiedAt,
      read: (part = { first: 0, last: about.size - 1 }) => partOf(path, part.first, part.last),
    };
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) return null;
    throw error;
  }
}

async function mediaTypeIn(path: string): Promise<string> {
  using file = await Deno.open(path);
  const head = new Uint8Array(MEDIA_TYPE_HEAD_BYTES);
  let length = 0;
  for (let read; length < head.length && (read = await file.read(head.subarray(length))) !== null;) length += read;
  return servedTypeOf(await mediaTypeOf(head.subarray(0, length)));
}

function partOf(path: string, first: number, last: number): ReadableStream<Uint8Array<ArrayBuffer>> {
  let file: Deno.FsFile | null = null;
  let left = last - first + 1;
  const end = () => {
    file?.close();
    file = null;
  };
  return outputStream({
    async pull(output) {
      try {
        if (file === null && left > 0) {
          file = await Deno.open(path);
          await file.seek(first, Deno.SeekMode.Start);
          if (output.isOver) return end(); // the reader left meanwhile
        }
        const piece = new Uint8Array(Math.min(left, PIECE_BYTES));
        const read = left > 0 ? await file!.read(piece) : null;
        if (read === null) {
          end();
          return left > 0 ? output.error(new Error("Cannot read the file to its end")) : output.close();
        }
        left -= read;
        output.enqueue(piece.subarray(0, read));
      } catch (error) {
        end();
        output.error(asFilesError(path, error));
      }
    },
    cancel: end,
  }, { highWaterMark: 0 });
}

/** Whether the file existed. */
async function removeIfThere(path: string): Promise<boolean> {
  try {
    await Deno.remove(path);
    return true;
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    return false;
  }
}
