import { assertEquals, assertRejects } from "@std/assert";
import * as fc from "fast-check";
import { readTar, TarError, TarWriter } from "../../../src/platform/store/backup/tar.ts";

async function archiveOf(path: string, contents: ReadonlyMap<string, string>): Promise<void> {
  using file = await Deno.open(path, { write: true, create: true, truncate: true });
  const tar = new TarWriter(file, Date.UTC(2026, 10, 23));
  for (const [name, text] of contents) await tar.addText(name, text);
  await tar.end();
}

async function contentsOf(path: string): Promise<Map<string, string>> {
  using file = await Deno.open(path);
  const contents = new Map<string, string>();
  for await (const { name, read } of readTar(file)) {
    let text = "";
    await read((piece) => {
      text += new TextDecoder().decode(piece);
      return Promise.resolve();
    });
    contents.set(name, text);
  }
  return contents;
}

const NAME = fc.stringMatching(/^(files\/(caches\/)?)?[a-z][a-z0-9-]{0,95}\.db$/);
const TEXT = fc.string({ maxLength: 2_000 });

Deno.test("readTar() gives what TarWriter wrote, and refuses every shorter archive", async () => {
  const path = await Deno.makeTempFile();
  try {
    const contents = fc.dictionary(NAME, TEXT, { maxKeys: 4 }).map((each) => new Map(Object.entries(each)));
    await fc.assert(
      fc.asyncProperty(contents, fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), async (each, part) => {
        await archiveOf(path, each);
        assertEquals(await contentsOf(path), each);
        const { size } = await Deno.stat(path);
        await Deno.truncate(path, Math.floor(part * (size - 1_023)));
        await assertRejects(() => contentsOf(path), TarError);
      }),
      { numRuns: 50 },
    );
  } finally {
    await Deno.remove(path);
  }
});

Deno.test("readTar() skips entries that are not read", async () => {
  const path = await Deno.makeTempFile();
  try {
    await archiveOf(path, new Map([["a.db", "x".repeat(700)], ["b.db", "y"]]));
    using file = await Deno.open(path);
    assertEquals(await Array.fromAsync(readTar(file), ({ name, bytes }) => [name, bytes]), [["a.db", 700], [
      "b.db",
      1,
    ]]);
  } finally {
    await Deno.remove(path);
  }
});

Deno.test("TarWriter writes what tar lists and extracts", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const long = `files/${"n".repeat(96)}.db`;
    await archiveOf(`${folder}/a.tar`, new Map([["store.db", "the store"], [long, "a file"]]));
    const { code, stdout } = await new Deno.Command("tar", { args: ["-tf", `${folder}/a.tar`] }).output();
    assertEquals([code, new TextDecoder().decode(stdout)], [0, `store.db\n${long}\n`]);
    await new Deno.Command("tar", { args: ["-xf", "a.tar"], cwd: folder }).output();
    assertEquals(await Deno.readTextFile(`${folder}/${long}`), "a file");
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("a file of more than 8 GiB keeps its size", async () => {
  const folder = await Deno.makeTempDir();
  const bytes = 9 * 2 ** 30;
  try {
    using big = await Deno.open(`${folder}/big`, { write: true, create: true, read: true });
    await big.truncate(bytes); // without blocks on the disk
    const written: Uint8Array[] = [];
    const output = {
      write(piece: Uint8Array) {
        written.push(piece.slice());
        return Promise.reject(new Error("the header is enough"));
      },
      sync: () => Promise.resolve(),
    };
    await assertRejects(() => new TarWriter(output, 0).addFile("big.db", big), Error, "the header is enough");
    await Deno.writeFile(`${folder}/a.tar`, written[0] ?? new Uint8Array());
    using file = await Deno.open(`${folder}/a.tar`);
    for await (const entry of readTar(file)) {
      assertEquals(entry.bytes, bytes);
      break;
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
