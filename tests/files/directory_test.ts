import { assertEquals, assertRejects } from "@std/assert";
import { FilesUnavailableError } from "../../src/platform/files/files.ts";
import { openFileDirectory } from "../../src/platform/files/directory.ts";
import { DiskQuota } from "../../src/platform/files/quota.ts";
import { silentLog } from "../../src/platform/lib/basics/log.ts";
import { SAMPLE_VIDEO } from "../../src/sandbox/families/sample_video.ts";
import { fileStoreLaws, pieces } from "./file_store_laws.ts";

fileStoreLaws("a directory", async (quotaBytes) => {
  const folder = await Deno.makeTempDir();
  const reopen = () => {
    const quota = new DiskQuota({ quotaBytes, log: silentLog });
    return { quota, files: openFileDirectory(`${folder}/deep/er`, quota) };
  };
  return {
    ...reopen(),
    reopen,
    names: () => Promise.resolve([...Deno.readDirSync(`${folder}/deep/er`)].map(({ name }) => name)),
    async addForeign() {
      await Deno.writeTextFile(`${folder}/deep/er/.part-1-1`, "half");
      await Deno.writeTextFile(`${folder}/deep/er/Foreign.txt`, "whole");
      return "Foreign.txt";
    },
    close: () => Deno.remove(folder, { recursive: true }),
  };
});

async function inFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  await work(folder);
  await Deno.remove(folder, { recursive: true });
}

Deno.test("removeLeftovers() accepts a missing folder", () =>
  inFolder(async (folder) => {
    await openFileDirectory(`${folder}/missing`).removeLeftovers(() => Promise.resolve(false));
  }));

Deno.test("two directories of one process that are the same folder write at the same time", () =>
  inFolder(async (folder) => {
    const stores = [openFileDirectory(folder), openFileDirectory(folder)];
    await Promise.all(
      stores.map((files, index) => files.write(`${index}.mp4`, pieces(SAMPLE_VIDEO, 1_000), { capBytes: 1e6 })),
    );
    assertEquals([...Deno.readDirSync(folder)].map(({ name }) => name).toSorted(), ["0.mp4", "1.mp4"]);
  }));

Deno.test("a directory opens no file outside of it and follows no link", () =>
  inFolder(async (folder) => {
    await Deno.mkdir(`${folder}/inside`);
    await Deno.writeTextFile(`${folder}/secret.db`, "secret");
    await Deno.symlink(`${folder}/secret.db`, `${folder}/inside/link.mp4`);
    await Deno.mkdir(`${folder}/inside/folder.mp4`);
    const files = openFileDirectory(`${folder}/inside`);
    for (
      const name of ["../secret.db", "..", "/etc/passwd", "a\0.mp4", "link.mp4", "folder.mp4", "A.mp4", ".part-1-1", ""]
    ) {
      assertEquals(await files.find(name), null, name);
      if (name.includes("secret")) {
        await assertRejects(() => files.write(name, pieces(SAMPLE_VIDEO, 9), { capBytes: 9_999 }), RangeError);
      }
    }
  }));

Deno.test("a folder that is gone is unavailable, is not made again, and is used again when it is back", () =>
  inFolder(async (folder) => {
    const path = `${folder}/files`;
    const quota = new DiskQuota({ quotaBytes: 1e6, log: silentLog });
    const files = openFileDirectory(path, quota);
    const write = () => files.write("a.mp4", pieces(SAMPLE_VIDEO, 1_000), { capBytes: 1e6 });
    await write();
    await Deno.rename(path, `${folder}/away`);
    const failure = await assertRejects(write, FilesUnavailableError);
    assertEquals(failure.message.includes("ENOENT"), true);
    assertEquals(await files.find("a.mp4"), null);
    await Deno.rename(`${folder}/away`, path);
    await write();
    assertEquals([quota.usage.bytes, (await files.find("a.mp4"))?.bytes], [SAMPLE_VIDEO.length, SAMPLE_VIDEO.length]);
  }));

Deno.test("a folder that cannot be made is unavailable until it can be", () =>
  inFolder(async (folder) => {
    await Deno.writeTextFile(`${folder}/files`, "a file in its place");
    const files = openFileDirectory(`${folder}/files/deep`);
    const write = () => files.write("a.mp4", pieces(SAMPLE_VIDEO, 1_000), { capBytes: 1e6 });
    await assertRejects(write, FilesUnavailableError);
    await assertRejects(write, FilesUnavailableError);
    await Deno.remove(`${folder}/files`);
    await write();
    assertEquals((await files.find("a.mp4"))?.bytes, SAMPLE_VIDEO.length);
  }));

Deno.test("what a source throws stays what it is, also an error of the system", () =>
  inFolder(async (folder) => {
    const reset = Object.assign(new Deno.errors.ConnectionReset("the vendor left"), { code: "ECONNRESET" });
    const source = { [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(reset) }) };
    const thrown = await openFileDirectory(folder).write("a.mp4", source, { capBytes: 1e6 }).catch((error) => error);
    assertEquals(thrown, reset);
  }));
