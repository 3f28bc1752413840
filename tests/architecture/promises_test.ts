import { longTest } from "../support/long_test.ts";
import { assertEquals } from "@std/assert";
import { join } from "node:path";
import ts from "typescript";
import { type Declarations, loosePromises } from "./promises.ts";
import { ROOT, sourceFiles } from "./source_files.ts";

const read = (path: string): string | undefined => ts.sys.readFile(path);

/** The types of Deno, and those that packages bring. */
async function declarations(): Promise<Declarations> {
  const { stdout } = await new Deno.Command(Deno.execPath(), { args: ["types"], env: { NO_COLOR: "1" } }).output();
  return { globals: new Map([["/deno.d.ts", new TextDecoder().decode(stdout)]]), fileOf };
}

function fileOf(specifier: string): string | null {
  if (specifier.startsWith("node:")) return null;
  const resolved = resolvedOrNull(specifier);
  if (!resolved?.startsWith("file:")) return null;
  const { pathname } = new URL(resolved);
  if (/\.tsx?$/.test(pathname)) return pathname;
  const declared = pathname.replace(/\.(c|m)?js$/, ".d.ts");
  return read(declared) === undefined ? null : declared;
}

/** Null for what only a package imports. */
function resolvedOrNull(specifier: string): string | null {
  try {
    return import.meta.resolve(specifier);
  } catch {
    return null;
  }
}

/** The loose promises of a source text, by their lines. */
function looseIn(text: string, types: Declarations): number[] {
  const path = "/source.ts";
  const found = loosePromises([path], (name) => name === path ? text : read(name), types);
  return found.map((each) => Number(each.split(":")[1]));
}

const TYPES = await declarations();

/** Each line with a comment `loose` holds a promise that nothing handles. */
const EXAMPLES = `
declare function work(): Promise<number>;
declare function later(callback: () => void): void;
declare function hold(work: PromiseLike<unknown>): void;
declare const maybe: Promise<number> | null;
export async function statements() {
  work(); // loose
  void work(); // loose
  void maybe?.then(() => 1); // loose
  work().then(() => 1); // loose
  work().finally(() => {}); // loose
  maybe ?? work(); // loose
  work().catch(() => 1);
  work().then(() => 1, () => 2);
  work().then(() => 1).catch(() => 2).finally(() => {});
  hold(work());
  await work();
  return work();
}
export function callbacks() {
  later(() => work()); // loose
  later(work); // loose
  later(async () => { // loose
    await work();
  });
  later(() => void work()); // loose
  later(() => hold(work()));
  new Promise<void>((resolve) => later(resolve)).catch(() => {});
}
export async function variables() {
  const late = work(); // loose
  await Promise.resolve();
  await late;
  const unused = work(); // loose
  const soon = work();
  await soon;
  const together = work();
  await Promise.all([together, work()]);
}
export class Fields {
  #kept: Promise<number> | null = null;
  #lost: Promise<number> | null = null;
  async start() {
    this.#kept = work();
    this.#lost = work(); // loose
    if (this.#lost !== null) await this.#kept;
  }
}
`;

Deno.test("loosePromises() finds promises that nothing handles: statements, callbacks, late variables and unread fields", () => {
  const expected = EXAMPLES.split("\n").flatMap((line, n) => line.includes("// loose") ? [n + 1] : []);
  assertEquals(looseIn(EXAMPLES, TYPES), expected);
});

longTest("source tree: every promise is awaited, returned, or has a failure handler", async () => {
  const files = ["main.ts", ...await sourceFiles("src")]
    .filter((file) => !file.startsWith("src/console/client/"))
    .map((file) => join(ROOT, file));
  const loose = loosePromises(files, read, TYPES).map((each) => each.replace(ROOT, ""));
  assertEquals(loose, []);
});
