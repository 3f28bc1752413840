import { assert, assertEquals } from "@std/assert";
import { openFileDirectory } from "../../src/platform/files/directory.ts";
import { useFolder } from "../../src/platform/files/folder_use.ts";

async function withFolder(run: (path: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await Deno.mkdir(`${folder}/files`);
    await run(`${folder}/files`);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("useFolder() gives the folder alone to the first process only, and again when all have ended", () =>
  withFolder(async (path) => {
    const first = await useFolder(path);
    assert(first.isAlone);
    await first.share();
    const second = await useFolder(path);
    assert(!second.isAlone);
    await second.share();
    first[Symbol.dispose]();
    const third = await useFolder(path);
    assert(!third.isAlone);
    second[Symbol.dispose]();
    third[Symbol.dispose]();
    using last = await useFolder(path);
    assert(last.isAlone);
  }));

Deno.test("useFolder() waits until the first process shares the folder", () =>
  withFolder(async (path) => {
    using first = await useFolder(path);
    let isShared = false;
    const second = useFolder(path).then((use) => {
      assert(isShared);
      use[Symbol.dispose]();
    });
    isShared = true;
    await first.share();
    await second;
  }));

Deno.test("removeLeftovers() leaves the unfinished files of a folder in use", () =>
  withFolder(async (path) => {
    await Deno.writeTextFile(`${path}/.part-1-1`, "half");
    await Deno.writeTextFile(`${path}/a.mp4`, "whole");
    const namesIn = () => [...Deno.readDirSync(path)].map(({ name }) => name).toSorted();
    await openFileDirectory(path).removeLeftovers(() => Promise.resolve(false), true);
    assertEquals(namesIn(), [".part-1-1", "a.mp4"]);
    await openFileDirectory(path).removeLeftovers(() => Promise.resolve(false));
    assertEquals(namesIn(), []);
  }));
