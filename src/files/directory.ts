import { dirname, join } from "node:path";
import { MEDIA_TYPE_HEAD_BYTES, mediaTypeOf } from "../lib/media_type.ts";
import { makePrivateFolder, PRIVATE_FILE_MODE } from "../lib/private_path.ts";
import { type Files, isFileName, type StoredFile } from "./files.ts";

const PIECE_BYTES = 65_536;
const UNFINISHED = ".part-";

/** What may be served under its own type; all else is served as bytes, which no browser runs. */
const MEDIA_TYPE = /^(video|audio|image)\/(?!svg)[a-z0-9.+-]+$/;

/**
 * Files in one directory, which is made when it is missing. A file is written beside its name and renamed when it is whole and
 * on the disk, so that no half file is ever found, whenever the process ends. Links are not followed.
 */
export function openDirectory(path: string): Files {
  let made: Promise<void> | null = null;
  let serial = 0;

  async function write(name: string, source: AsyncIterable<Uint8Array>, capBytes: number): Promise<number> {
    if (!isFileName(name)) throw new RangeError(`Cannot keep a file of this name: got "${name.slice(0, 40)}"`);
    await (made ??= makePrivateFolder(path));
    const unfinished = join(path, `${UNFINISHED}${Deno.pid}-${++serial}`);
    try {
      const bytes = await fill(unfinished, source, capBytes);
      await Deno.rename(unfinished, join(path, name));
      return bytes;
    } catch (error) {
      await removeIfThere(unfinished);
      throw error;
    }
  }

  return {
    write,
    find: (name) => isFileName(name) ? findIn(join(path, name), name) : Promise.resolve(null),
    remove: (name) => isFileName(name) ? removeIfThere(join(path, name)) : Promise.resolve(),
    async tidy(isKept) {
      try {
        for await (const { name, isFile } of Deno.readDir(path)) {
          const isLeft = name.startsWith(UNFINISHED) || (isFile && isFileName(name) && !await isKept(name));
          if (isLeft) await removeIfThere(join(path, name));
        }
      } catch (error) {
        if (!(error instanceof Deno.errors.NotFound)) throw error;
      }
    },
  };
}

async function fill(path: string, source: AsyncIterable<Uint8Array>, capBytes: number): Promise<number> {
  using file = await Deno.open(path, { write: true, createNew: true, mode: PRIVATE_FILE_MODE });
  let total = 0;
  for await (const piece of source) {
    total += piece.length;
    if (total > capBytes) throw new RangeError(`Cannot keep a file this large: expected at most ${capBytes} bytes`);
    for (let written = 0; written < piece.length;) written += await file.write(piece.subarray(written));
  }
  await file.sync();
  return total;
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
  const mediaType = await mediaTypeOf(head.subarray(0, length)) ?? "";
  return MEDIA_TYPE.test(mediaType) ? mediaType : "application/octet-stream";
}

function partOf(path: string, first: number, last: number): ReadableStream<Uint8Array<ArrayBuffer>> {
  let file: Deno.FsFile | null = null;
  let left = last - first + 1;
  const end = () => {
    file?.close();
    file = null;
  };
  return new ReadableStream({
    async pull(controller) {
      try {
        if (file === null && left > 0) {
          file = await Deno.open(path);
          await file.seek(first, Deno.SeekMode.Start);
        }
        const piece = new Uint8Array(Math.min(left, PIECE_BYTES));
        const read = left > 0 ? await file!.read(piece) : null;
        if (read === null) {
          end();
          return left > 0 ? controller.error(new Error("Cannot read the file to its end")) : controller.close();
        }
        left -= read;
        controller.enqueue(piece.subarray(0, read));
      } catch (error) {
        end();
        controller.error(error);
      }
    },
    cancel: end,
  }, { highWaterMark: 0 });
}

async function removeIfThere(path: string): Promise<void> {
  try {
    await Deno.remove(path);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}
