import { Buffer } from "node:buffer";
import { assertEquals, assertRejects } from "@std/assert";
import type { FileStore } from "../../src/platform/files/files.ts";
import { type DiskQuota, FilesFullError } from "../../src/platform/files/quota.ts";
import { SAMPLE_VIDEO } from "../../src/sandbox/families/sample_video.ts";

/** A file store for one test. */
export interface TestedStore {
  readonly files: FileStore;
  readonly quota: DiskQuota;
  /** A new store with the same files, as after a restart. */
  reopen(): { readonly files: FileStore; readonly quota: DiskQuota };
  /** All names, of partial files too. */
  names(): Promise<string[]>;
  /** Puts something that is not a file of the gateway, and the rest of an interrupted write, beside the files. */
  addForeign(): Promise<string>;
  close(): Promise<void>;
}

/** Returns the bytes in pieces. */
export async function* pieces(bytes: Uint8Array, length: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += length) yield await Promise.resolve(bytes.subarray(at, at + length));
}

/** Fails after this many bytes. */
export async function* broken(bytes: number): AsyncGenerator<Uint8Array> {
  for (let left = bytes; left > 0; left -= 1_000_000) {
    yield await Promise.resolve(new Uint8Array(Math.min(left, 1_000_000)));
  }
  throw new Error("the source broke");
}

/** Registers the laws that every file store keeps. */
export function fileStoreLaws(
  kind: string,
  open: (quotaBytes: number | null) => Promise<TestedStore>,
  ignore = false,
): void {
  const law = (name: string, quotaBytes: number | null, work: (store: TestedStore) => Promise<void>) =>
    Deno.test({
      name: `${kind} ${name}`,
      ignore,
      async fn() {
        const store = await open(quotaBytes);
        try {
          await work(store);
        } finally {
          await store.close();
        }
      },
    });

  law("returns what was written, with its type by content, whole and in part", null, async ({ files }) => {
    assertEquals(await files.find("a-0.mp4"), null);
    assertEquals(await files.write("a-0.mp4", pieces(SAMPLE_VIDEO, 999), { capBytes: 5_000 }), SAMPLE_VIDEO.length);
    const file = (await files.find("a-0.mp4"))!;
    assertEquals([file.name, file.bytes, file.mediaType], ["a-0.mp4", SAMPLE_VIDEO.length, "video/mp4"]);
    assertEquals(/^"[^"]+"$/.test(file.etag), true);
    assertEquals(Math.abs(file.modifiedAt - Date.now()) < 60_000, true);
    assertEquals(await read(file.read()), SAMPLE_VIDEO);
    assertEquals(await read(file.read({ first: 5, last: 1_000 })), SAMPLE_VIDEO.slice(5, 1_001));
    await file.read().cancel();
    await files.remove("a-0.mp4");
    await files.remove("a-0.mp4");
    assertEquals(await files.find("a-0.mp4"), null);
  });

  law("replaces a file of the same name, with another entity tag", null, async ({ files, quota }) => {
    await files.write("a.mp4", pieces(SAMPLE_VIDEO, 999), { capBytes: 5_000 });
    const older = (await files.find("a.mp4"))!;
    await files.write("a.mp4", pieces(SAMPLE_VIDEO.subarray(0, 700), 99), { capBytes: 5_000 });
    const newer = (await files.find("a.mp4"))!;
    assertEquals([newer.bytes, newer.etag === older.etag], [700, false]);
    assertEquals(quota.usage.bytes, 700);
  });

  law("stores a file of more than two parts as it is", null, async ({ files }) => {
    const large = new Uint8Array(18_000_000).map((_, index) => index % 251);
    await files.write("large.mp4", pieces(large, 777_777), { capBytes: 20_000_000 });
    const file = (await files.find("large.mp4"))!;
    assertEquals(file.bytes, large.length);
    const part = { first: 8_388_600, last: 8_388_620 };
    assertEquals(await read(file.read(part)), large.slice(part.first, part.last + 1));
    assertEquals(Buffer.compare(await read(file.read()), large), 0);
  });

  law("keeps nothing of a source that fails or is too large", null, async ({ files, names, quota }) => {
    for (const bytes of [10, 18_000_000]) {
      await assertRejects(() => files.write("a.mp4", broken(bytes), { capBytes: 1e9 }), Error, "the source broke");
      await assertRejects(() => files.write("a.mp4", broken(bytes), { capBytes: bytes - 1 }), RangeError);
    }
    assertEquals(await names(), []);
    assertEquals(quota.usage.bytes, 0);
  });

  law("refuses a file above the quota and keeps the counted ones", 3_000, async ({ files, quota, names }) => {
    const options = { capBytes: 5_000, keepsQuota: true };
    await files.write("a.mp4", pieces(SAMPLE_VIDEO.subarray(0, 2_000), 99), options);
    await assertRejects(
      () => files.write("b.mp4", pieces(SAMPLE_VIDEO.subarray(0, 1_500), 99), options),
      FilesFullError,
    );
    assertEquals([quota.usage.bytes, await names()], [2_000, ["a.mp4"]]);
    await files.remove("a.mp4");
    assertEquals(quota.usage.bytes, 0);
  });

  law("refuses what files that are written at one time have above the quota together", 3_000, async (store) => {
    const { files, quota } = store;
    const options = { capBytes: 5_000, keepsQuota: true };
    const writes = ["a.mp4", "b.mp4", "c.mp4"].map((name) =>
      files.write(name, pieces(SAMPLE_VIDEO.subarray(0, 2_000), 2_000), options)
    );
    const results = await Promise.allSettled(writes);
    assertEquals(results.map(({ status }) => status).toSorted(), ["fulfilled", "rejected", "rejected"]);
    assertEquals([quota.usage.bytes, (await store.names()).length], [2_000, 1]);
  });

  law("removes partial and unreferenced files at the start, nothing else, and counts the rest", null, async (store) => {
    for (const name of ["a.mp4", "b.mp4"]) {
      await store.files.write(name, pieces(SAMPLE_VIDEO.subarray(0, 500), 99), { capBytes: 5_000 });
    }
    const foreign = await store.addForeign();
    const { files, quota } = store.reopen();
    await files.removeLeftovers((name) => Promise.resolve(name !== "b.mp4"));
    assertEquals((await store.names()).toSorted(), [foreign, "a.mp4"].toSorted());
    assertEquals(quota.usage.bytes, 500);
  });

  law("has no file of another kind of name", null, async ({ files }) => {
    for (const name of ["../secret.db", "..", "/etc/passwd", "a\0.mp4", "A.mp4", ".part-1-1", "caches/a.mp4", ""]) {
      assertEquals(await files.find(name), null, name);
      await files.remove(name);
      await assertRejects(() => files.write(name, pieces(SAMPLE_VIDEO, 9), { capBytes: 9_999 }), RangeError);
    }
  });

  law("serves a type that browsers run as plain bytes", null, async ({ files }) => {
    const page = new TextEncoder().encode(
      '<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"><script/></svg>',
    );
    await files.write("a.mp4", pieces(page, 20), { capBytes: 1_000 });
    assertEquals((await files.find("a.mp4"))!.mediaType, "application/octet-stream");
  });
}

const read = async (stream: ReadableStream<Uint8Array<ArrayBuffer>>) => await new Response(stream).bytes();
