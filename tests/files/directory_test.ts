import { assertEquals, assertRejects } from "@std/assert";
import { openFileDirectory } from "../../src/files/directory.ts";
import { SAMPLE_VIDEO } from "../../src/sandbox/families/sample_video.ts";

async function* pieces(bytes: Uint8Array, length: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += length) yield await Promise.resolve(bytes.subarray(at, at + length));
}

async function* broken(): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(new Uint8Array(10));
  throw new Error("the source broke");
}

async function inFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  await work(folder);
  await Deno.remove(folder, { recursive: true });
}

const read = async (stream: ReadableStream<Uint8Array<ArrayBuffer>>) => await new Response(stream).bytes();
const namesIn = (folder: string) => [...Deno.readDirSync(folder)].map(({ name }) => name);

Deno.test("a directory returns what was written, with its type by content, whole and in part", () =>
  inFolder(async (folder) => {
    const files = openFileDirectory(`${folder}/deep/er`);
    assertEquals(await files.find("a-0.mp4"), null);
    assertEquals(await files.write("a-0.mp4", pieces(SAMPLE_VIDEO, 999), { capBytes: 5_000 }), SAMPLE_VIDEO.length);
    const file = (await files.find("a-0.mp4"))!;
    assertEquals([file.bytes, file.mediaType], [SAMPLE_VIDEO.length, "video/mp4"]);
    assertEquals(await read(file.read()), SAMPLE_VIDEO);
    assertEquals(await read(file.read({ first: 5, last: 1_000 })), SAMPLE_VIDEO.slice(5, 1_001));
    await file.read().cancel();
    await files.remove("a-0.mp4");
    await files.remove("a-0.mp4");
    assertEquals(await files.find("a-0.mp4"), null);
  }));

Deno.test("a directory keeps nothing of a source that fails or is too large", () =>
  inFolder(async (folder) => {
    const files = openFileDirectory(folder);
    await assertRejects(() => files.write("a.mp4", broken(), { capBytes: 100 }), Error, "the source broke");
    await assertRejects(() => files.write("a.mp4", pieces(SAMPLE_VIDEO, 100), { capBytes: 2_000 }), RangeError);
    assertEquals(namesIn(folder), []);
  }));

Deno.test("removeLeftovers() removes partial and unreferenced files and nothing else", () =>
  inFolder(async (folder) => {
    await Deno.writeTextFile(`${folder}/.part-1-1`, "half");
    for (const name of ["a.mp4", "b.mp4", "Foreign.txt"]) await Deno.writeTextFile(`${folder}/${name}`, "whole");
    await openFileDirectory(folder).removeLeftovers((name) => Promise.resolve(name !== "b.mp4"));
    assertEquals(namesIn(folder).toSorted(), ["Foreign.txt", "a.mp4"]);
    await openFileDirectory(`${folder}/missing`).removeLeftovers(() => Promise.resolve(false));
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

Deno.test("a directory serves a type that browsers run as plain bytes", () =>
  inFolder(async (folder) => {
    const files = openFileDirectory(folder);
    const page = new TextEncoder().encode(
      '<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"><script/></svg>',
    );
    await files.write("a.mp4", pieces(page, 20), { capBytes: 1_000 });
    assertEquals((await files.find("a.mp4"))!.mediaType, "application/octet-stream");
  }));
