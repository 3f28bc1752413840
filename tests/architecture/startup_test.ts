import { assert, assertEquals } from "@std/assert";
import { dirname, join, relative } from "node:path";
import { present } from "../support/items.ts";
import { ROOT, sourceFiles } from "./source_files.ts";

/** What a gateway with one provider of kind openai evaluates at its start. Other modules are loaded when used. */
const ENTRIES = [
  "main.ts",
  "src/entry/cli/serve.ts",
  "src/entry/cli/process/gateway_process.ts",
  "src/entry/cli/process/process_output.ts",
  "src/vendors/upstreams/openai/mod.ts",
];

/** What must not be among it, as it takes memory in every gateway: files, and packages by their name in deno.json. */
const LAZY: readonly RegExp[] = [
  // The configuration is read in a thread: see docs/decisions/0146-idle-memory.md.
  /^zod$/,
  /^yaml$/,
  /^src\/config\/(?:config|sections\/\w+_section)\.ts$/,
  /^src\/vendors\/catalog\/built_in\.json$/,
  // A protocol is loaded by its first request, or by a vendor that speaks it.
  /^src\/conversation\/codecs\/(?:messages|content)\/mod\.ts$/,
  /^src\/protocols\/(?:message\/messages|content\/generate)\.ts$/,
  /^gpt-tokenizer$/,
  /^music-metadata$/,
  /^strtok3$/,
  /^pngjs$/,
  /^file-type$/,
  /^src\/sandbox\//,
  /^src\/entry\/cli\/(?:dev|admin\/admin|check|webhooks)\.ts$/,
  /^src\/vendors\/upstreams\/(?!openai\/|contract\/|call\/|shared\/|settings\/|opening\/)[^/]+\//,
  /^src\/services\/images\//,
  /^src\/entry\/app\/operators\/admin\.ts$/,
  /^src\/console\/(?!security_headers)/,
  /^src\/observers\/tracing\//,
  /^src\/platform\/workers\/media_job\.ts$/,
  /^src\/entry\/app\/threads\/serving_thread\.ts$/,
];

/**
 * The most modules that such a gateway may evaluate at its start. Each takes about 30 KB. Before this is raised, look
 * for what can be loaded when it is used.
 */
const MAX_MODULES = 797;

/** Imports that load a module, without those of types, which the compiler removes. */
const LOADING = /^(?:import|export)\s+(?!type\b)(?:([^"'`;]*?)\s+from\s+)?"([^"]+)"/gm;
const IN_BRACES = /\{([^}]*)\}/;

function isOfTypesOnly(names: string): boolean {
  if (!names.startsWith("{")) return false;
  const each = present(IN_BRACES.exec(names)?.[1], "names of the import").split(",").map((name) => name.trim());
  return each.every((name) => name === "" || name.startsWith("type "));
}

/** The modules that a text loads when it is evaluated. */
function loadedBy(text: string): string[] {
  return [...text.matchAll(LOADING)].flatMap(([, names = "", target = ""]) => isOfTypesOnly(names) ? [] : [target]);
}

/** The files and packages that are evaluated with a file. */
async function reachedFrom(entries: readonly string[]): Promise<ReadonlySet<string>> {
  const reached = new Set(entries);
  for (const file of reached) {
    if (!file.endsWith(".ts")) continue;
    for (const target of loadedBy(await Deno.readTextFile(join(ROOT, file)))) {
      reached.add(target.startsWith(".") ? relative(ROOT, join(ROOT, dirname(file), target)) : target);
    }
  }
  return reached;
}

Deno.test("start: the gateway evaluates no command, vendor or package that it does not use", async () => {
  const reached = await reachedFrom(ENTRIES);
  assert(reached.has("src/entry/app/app.ts") && reached.has("ipaddr.js"), "the gateway itself is found");
  assertEquals([...reached].filter((each) => LAZY.some((pattern) => pattern.test(each))), []);
});

Deno.test("start: the gateway evaluates a limited number of modules", async () => {
  const modules = [...await reachedFrom(ENTRIES)].filter((each) => each.endsWith(".ts"));
  assert(modules.length <= MAX_MODULES, `${modules.length} modules, more than ${MAX_MODULES}`);
});

Deno.test("start: everything that must be loaded later exists", async () => {
  const all = await reachedFrom(await sourceFiles("src"));
  const texts = await Promise.all((await sourceFiles("src")).map((file) => Deno.readTextFile(join(ROOT, file))));
  const dynamic = texts.flatMap((text) => [...text.matchAll(/\bimport\("([a-z][^"]*)"\)/g)].map(([, name]) => name));
  const known = [...all, ...dynamic];
  assertEquals(LAZY.filter((pattern) => !known.some((each) => each !== undefined && pattern.test(each))), []);
});

Deno.test("start: the search for evaluated modules leaves out types and what is loaded later", () => {
  const text = [
    'import type { A } from "./a.ts";',
    'import { type B, type C } from "./b.ts";',
    'import { type D, e } from "./e.ts";',
    'import * as f from "f";',
    'import "./g.ts";',
    'export { h } from "./h.ts";',
    'export type { I } from "./i.ts";',
    'const j = await import("./j.ts");',
  ].join("\n");
  assertEquals(loadedBy(text), ["./e.ts", "f", "./g.ts", "./h.ts"]);
});
