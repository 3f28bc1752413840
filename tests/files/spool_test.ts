import { assertEquals, assertRejects } from "@std/assert";
import { FilesUnavailableError } from "../../src/platform/files/files.ts";
import { createSpool } from "../../src/platform/files/spool.ts";

async function withFolder(test: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "switchyard-spool-" });
  try {
    await test(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function read(pieces: AsyncIterable<Uint8Array>): Promise<number[]> {
  const bytes: number[] = [];
  for await (const piece of pieces) for (const byte of piece) bytes.push(byte);
  return bytes;
}

const filesIn = async (folder: string) => (await Array.fromAsync(Deno.readDir(folder))).length;
const numbered = (length: number) => Uint8Array.from({ length }, (_, at) => at % 251);

Deno.test("a spool returns what was written, from the start each time, also after the source changed its chunks", async () => {
  await withFolder(async (folder) => {
    for (const length of [0, 1, 65_536, 65_537, 400_000]) {
      const room = createSpool(`${folder}/inner`).openRequest();
      const writer = room.create();
      const all = numbered(length);
      for (let at = 0; at < length; at += 30_000) {
        const piece = all.slice(at, at + 30_000);
        await writer.write(piece);
        piece.fill(0);
      }
      const spooled = writer.finish();
      assertEquals(spooled.lengthBytes, length);
      assertEquals(await read(spooled.open()), [...all]);
      assertEquals(await read(spooled.open()), [...all]);
      assertEquals(await spooled.head(70_000), all.slice(0, 70_000));
      assertEquals(await spooled.head(10), all.slice(0, 10));
      await room.clear();
    }
  });
});

Deno.test("a request keeps small uploads in memory and removes its files, complete or not", async () => {
  await withFolder(async (folder) => {
    const room = createSpool(folder).openRequest();
    await room.create().write(numbered(65_536));
    assertEquals(await filesIn(folder), 0);
    const large = room.create();
    await large.write(numbered(65_537));
    await room.create().write(numbered(100_000));
    large.finish();
    assertEquals(await filesIn(folder), 2);
    await room.clear();
    assertEquals(await filesIn(folder), 0);
  });
});

Deno.test("removeLeftovers() removes the files of an earlier process and needs no folder", async () => {
  await withFolder(async (folder) => {
    const spool = createSpool(`${folder}/uploads`);
    await spool.removeLeftovers();
    await spool.openRequest().create().write(numbered(100_000));
    assertEquals(await filesIn(`${folder}/uploads`), 1);
    await spool.removeLeftovers();
    assertEquals(await filesIn(folder), 0);
    const again = spool.openRequest();
    const writer = again.create();
    await writer.write(numbered(100_000));
    assertEquals((await read(writer.finish().open())).length, 100_000);
    await again.clear();
  });
});

Deno.test("a spool whose folder cannot be made says so, and works again when it can be", async () => {
  await withFolder(async (folder) => {
    await Deno.writeTextFile(`${folder}/inner`, "a file in its place");
    const spool = createSpool(`${folder}/inner`);
    const write = () => spool.openRequest().create().write(numbered(100_000));
    await assertRejects(write, FilesUnavailableError);
    await Deno.remove(`${folder}/inner`);
    await write();
  });
});
