/**
 * Whether a file can be the base of a compiled executable. Only its bytes are read, as a base for another system cannot
 * run here.
 */

const HEAD_BYTES = 4_096;
const CHUNK_BYTES = 1_048_576;
/** The name of the variable in which `deno compile` looks for a base. Only the command line of Deno reads it. */
const COMMAND_LINE_MARK = new TextEncoder().encode("DENORT_BIN");

const ELF_MACHINES: Readonly<Record<number, string>> = { 0x3e: "x86_64", 0xb7: "aarch64" };
const MACH_O_TYPES: Readonly<Record<number, string>> = { 0x01000007: "x86_64", 0x0100000c: "aarch64" };
const PE_MACHINES: Readonly<Record<number, string>> = { 0x8664: "x86_64", 0xaa64: "aarch64" };

/**
 * The machine and the system that an executable is for: `x86_64 linux`. Null for a file
 * of another format. Sources: the ELF specification, "ELF header"; Apple's `mach-o/loader.h`; Microsoft's "PE format".
 *
 * @param head The start of the file.
 */
export function systemOf(head: Uint8Array<ArrayBuffer>): string | null {
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength);
  if (view.byteLength < 64) return null;
  if (view.getUint32(0) === 0x7f454c46) return named(ELF_MACHINES[view.getUint16(18, true)], "linux");
  if (view.getUint32(0, true) === 0xfeedfacf) return named(MACH_O_TYPES[view.getUint32(4, true)], "apple");
  const header = view.getUint32(60, true);
  if (view.getUint16(0) !== 0x4d5a || header + 6 > view.byteLength || view.getUint32(header) !== 0x50450000) {
    return null;
  }
  return named(PE_MACHINES[view.getUint16(header + 4, true)], "windows");
}

function named(machine: string | undefined, system: string): string | null {
  return machine === undefined ? null : `${machine} ${system}`;
}

/**
 * Says why a file is not the base of executables for a target; null if it is.
 *
 * @param path A copy of `denort`.
 * @param target Such as `x86_64-unknown-linux-gnu`.
 */
export async function baseProblem(path: string, target: string): Promise<string | null> {
  const wanted = systemOfTarget(target);
  using file = await Deno.open(path).catch(() => null);
  if (file === null) return `cannot read ${path}`;
  const head = new Uint8Array(HEAD_BYTES);
  const found = systemOf(head.subarray(0, await file.read(head) ?? 0));
  if (found === null) return `${path} is no executable of a known format`;
  if (found !== wanted) return `${path} is for ${found}, not for ${wanted}`;
  return await contains(file, COMMAND_LINE_MARK) ? `${path} is "deno" itself, not "denort"` : null;
}

function systemOfTarget(target: string): string {
  const system = ["linux", "apple", "windows"].find((each) => target.includes(each));
  return `${target.split("-")[0]} ${system}`;
}

async function contains(file: Deno.FsFile, mark: Uint8Array): Promise<boolean> {
  await file.seek(0, Deno.SeekMode.Start);
  const decoder = new TextDecoder("latin1");
  const text = decoder.decode(mark);
  const chunk = new Uint8Array(CHUNK_BYTES);
  for (let rest = "", count; (count = await file.read(chunk)) !== null;) {
    const read = rest + decoder.decode(chunk.subarray(0, count));
    if (read.includes(text)) return true;
    rest = read.slice(-text.length);
  }
  return false;
}
