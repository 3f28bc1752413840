import { assertEquals, assertRejects } from "@std/assert";
import { openFileDirectory } from "../../src/platform/files/directory.ts";
import { DiskQuota, FilesFullError } from "../../src/platform/files/quota.ts";
import { jsonLog, silentLog } from "../../src/platform/lib/basics/log.ts";

/** A source of this many bytes in chunks of ten; counts the chunks that were read. */
function source(bytes: number) {
  const seen = { bytes: 0, isClosed: false };
  async function* pieces(): AsyncGenerator<Uint8Array> {
    try {
      for (; seen.bytes < bytes; seen.bytes += 10) yield await Promise.resolve(new Uint8Array(10));
    } finally {
      seen.isClosed = true;
    }
  }
  return { seen, pieces };
}

async function inFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  await work(folder);
  await Deno.remove(folder, { recursive: true });
}

const namesIn = (folder: string) => [...Deno.readDirSync(folder)].map(({ name }) => name);
const COPY = { capBytes: 1_000, keepsQuota: true };

Deno.test("a quota refuses a file that exceeds it, keeps nothing of it, and accepts it once there is room", () =>
  inFolder(async (folder) => {
    const quota = new DiskQuota({ quotaBytes: 100, log: silentLog });
    const files = openFileDirectory(folder, quota);
    await files.write("a.mp4", source(60).pieces(), COPY);
    const late = source(50);
    await assertRejects(() => files.write("b.mp4", late.pieces(), COPY), FilesFullError);
    assertEquals([quota.usage.bytes, namesIn(folder), late.seen.isClosed], [60, ["a.mp4"], true]);
    await files.remove("a.mp4");
    await files.remove("a.mp4");
    assertEquals(quota.usage.bytes, 0);
    assertEquals(await files.write("b.mp4", source(50).pieces(), COPY), 50);
  }));

Deno.test("a quota refuses a file whose announced length does not fit at the first chunk", () =>
  inFolder(async (folder) => {
    const files = openFileDirectory(folder, new DiskQuota({ quotaBytes: 100, log: silentLog }));
    const { pieces, seen } = source(500);
    await assertRejects(() => files.write("a.mp4", pieces(), { ...COPY, announcedBytes: 500 }), FilesFullError);
    assertEquals([seen.bytes, seen.isClosed], [0, true]);
  }));

Deno.test("a file that ignores the quota is counted, and a replaced file is counted once", () =>
  inFolder(async (folder) => {
    const quota = new DiskQuota({ quotaBytes: 100, log: silentLog });
    const files = openFileDirectory(folder, quota);
    await files.write("in.png", source(90).pieces(), { capBytes: 1_000 });
    await files.write("in.png", source(120).pieces(), { capBytes: 1_000 });
    assertEquals([quota.usage.bytes, quota.usage.state], [120, "full"]);
    await assertRejects(() => files.write("a.mp4", source(10).pieces(), COPY), FilesFullError);
  }));

Deno.test("files of an earlier process are counted from the start, partial files are not", () =>
  inFolder(async (folder) => {
    await Deno.writeFile(`${folder}/a.mp4`, new Uint8Array(70));
    await Deno.writeFile(`${folder}/.part-1-1`, new Uint8Array(70));
    const quota = new DiskQuota({ quotaBytes: 100, log: silentLog });
    await openFileDirectory(folder, quota).removeLeftovers(() => Promise.resolve(true));
    assertEquals(quota.usage, { bytes: 70, quotaBytes: 100, state: "ok" });
  }));

Deno.test("files leave the minimum of free space on the disk", () =>
  inFolder(async (folder) => {
    let freeBytes = 100;
    const quota = new DiskQuota({ quotaBytes: null, freeBytes: () => freeBytes, spareBytes: 70, log: silentLog });
    const files = openFileDirectory(folder, quota);
    await files.write("a.mp4", source(30).pieces(), COPY);
    freeBytes = 70;
    await assertRejects(() => files.write("b.mp4", source(10).pieces(), COPY), FilesFullError);
    freeBytes = 90;
    await files.write("b.mp4", source(10).pieces(), COPY);
  }));

Deno.test("a quota logs each transition between its states once", () => {
  const events: string[] = [];
  const log = jsonLog("debug", (line) => void events.push(`${JSON.parse(line).level} ${JSON.parse(line).event}`));
  const quota = new DiskQuota({ quotaBytes: 1_000, log });
  for (let bytes = 0; bytes < 1_000; bytes += 10) quota.add(10);
  assertEquals(events, ["error files_nearly_full", "error files_full"]);
  quota.subtract(10);
  assertEquals(quota.usage.state, "full");
  for (let bytes = 0; bytes < 100; bytes += 10) quota.subtract(10);
  assertEquals(quota.usage.state, "nearly_full");
  quota.subtract(100);
  assertEquals(events.slice(2), ["error files_nearly_full", "warn files_room"]);
});
