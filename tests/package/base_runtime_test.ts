import { assertEquals, assertStringIncludes } from "@std/assert";
import { fileURLToPath } from "node:url";
import { baseProblem, systemOf } from "../../scripts/base_runtime.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** The start of a file, with numbers at their places. */
function headOf(write: (view: DataView) => void): Uint8Array<ArrayBuffer> {
  const head = new Uint8Array(256);
  write(new DataView(head.buffer));
  return head;
}

const elf = (machine: number) =>
  headOf((view) => {
    view.setUint32(0, 0x7f454c46);
    view.setUint16(18, machine, true);
  });
const machO = (type: number) =>
  headOf((view) => {
    view.setUint32(0, 0xcffaedfe);
    view.setUint32(4, type, true);
  });
const pe = (machine: number, at = 128) =>
  headOf((view) => {
    view.setUint16(0, 0x4d5a);
    view.setUint32(60, at, true);
    view.setUint32(128, 0x50450000);
    view.setUint16(132, machine, true);
  });

/** Every target of the task, with the head of an executable for it. */
const HEADS: Readonly<Record<string, Uint8Array<ArrayBuffer>>> = {
  "x86_64-unknown-linux-gnu": elf(62),
  "aarch64-unknown-linux-gnu": elf(183),
  "x86_64-apple-darwin": machO(0x01000007),
  "aarch64-apple-darwin": machO(0x0100000c),
  "x86_64-pc-windows-msvc": pe(0x8664),
};

async function withFile(bytes: Uint8Array, test: (path: string) => Promise<void>): Promise<void> {
  const path = await Deno.makeTempFile();
  try {
    await Deno.writeFile(path, bytes);
    await test(path);
  } finally {
    await Deno.remove(path);
  }
}

Deno.test("the base of an executable is accepted for its own target alone", async () => {
  for (const [target, head] of Object.entries(HEADS)) {
    await withFile(head, async (path) => {
      for (const other of Object.keys(HEADS)) {
        const problem = await baseProblem(path, other);
        assertEquals(problem === null, other === target, `${target} for ${other}: ${problem}`);
      }
    });
  }
});

Deno.test("a file that is no executable, or of an unknown machine, is no base", async () => {
  assertEquals(systemOf(elf(8)), null);
  assertEquals(systemOf(pe(0x8664, 1_000)), null);
  assertEquals(systemOf(new Uint8Array(10)), null);
  await withFile(new TextEncoder().encode("#!/bin/sh\n".repeat(20)), async (path) => {
    assertEquals(await baseProblem(path, "x86_64-apple-darwin"), `${path} is no executable of a known format`);
  });
  assertEquals(await baseProblem("/none/denort", "x86_64-apple-darwin"), "cannot read /none/denort");
});

Deno.test("a mark of the command line of Deno is found across the chunks of a file", async () => {
  const bytes = new Uint8Array(1_048_576 + 100);
  bytes.set(elf(62));
  bytes.set(new TextEncoder().encode("DENORT_BIN"), 1_048_576 - 5);
  await withFile(bytes, async (path) => {
    assertEquals(await baseProblem(path, "x86_64-unknown-linux-gnu"), `${path} is "deno" itself, not "denort"`);
  });
});

async function compile(base: string, ...args: readonly string[]) {
  const { code, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--quiet", `${ROOT}scripts/compile.ts`, ...args],
    env: { DENORT_BIN: base, NO_COLOR: "1" },
    stdout: "null",
    stderr: "piped",
  }).output();
  return { code, line: new TextDecoder().decode(stderr).trim() };
}

const isLinux = Deno.build.os === "linux";

Deno.test({
  name: `task compile refuses deno itself, and a base of another system, in one line${isLinux ? "" : " (needs Linux)"}`,
  ignore: !isLinux,
  fn: async () => {
    const own = Deno.execPath();
    const plain = await compile(own);
    assertEquals([plain.code, plain.line.split("\n").length], [1, 1]);
    assertStringIncludes(plain.line, `${own} is "deno" itself, not "denort"; set it to "denort" of Deno`);
    for (const target of ["x86_64-pc-windows-msvc", "all"]) {
      const other = await compile(own, "--target", target);
      assertEquals([other.code, other.line.split("\n").length], [1, 1]);
      assertStringIncludes(other.line, "Cannot compile with this DENORT_BIN");
    }
    const windows = await compile(own, "--target", "x86_64-pc-windows-msvc");
    assertStringIncludes(windows.line, `${own} is for ${Deno.build.arch} linux, not for x86_64 windows`);
  },
});
