/**
 * `deno task start-modules`: writes `src/cli/start_modules.ts`, which imports the modules of a gateway's start, each
 * after those that it imports.
 *
 * Deno reads the source map of a module that imports another one before it was loaded, and holds it as long as the
 * process runs: 5 MiB for a gateway. Loaded in this order, every module finds what it imports.
 */
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../", import.meta.url));

/** The list, relative to the repository. */
export const START_MODULES = "src/cli/start_modules.ts";

/** What `switchyard serve` loads in any case, beside the modules that the command line has loaded before. */
export const START_ENTRIES: readonly string[] = ["src/cli/gateway_process.ts", "src/cli/process_output.ts"];

/** Imports that load a module, without those of types, which the compiler removes. */
const LOADING = /^(?:import|export)\s+(?!type\b)(?:([^"'`;]*?)\s+from\s+)?"([^"]+)"/gm;
const IN_BRACES = /\{([^}]*)\}/;

function isOfTypesOnly(names: string): boolean {
  if (!names.startsWith("{")) return false;
  const each = (IN_BRACES.exec(names)?.[1] ?? "").split(",").map((name) => name.trim());
  return each.every((name) => name === "" || name.startsWith("type "));
}

/** The modules that a text loads when it is evaluated. */
export function loadedBy(text: string): string[] {
  return [...text.matchAll(LOADING)].flatMap(([, names = "", target = ""]) => isOfTypesOnly(names) ? [] : [target]);
}

/** The files and packages that are evaluated with some files, each after those that it imports. */
export async function reachedFrom(entries: readonly string[]): Promise<ReadonlySet<string>> {
  const begun = new Set<string>();
  const reached = new Set<string>();
  const visit = async (file: string): Promise<void> => {
    if (begun.has(file)) return;
    begun.add(file);
    const text = file.endsWith(".ts") ? await Deno.readTextFile(join(ROOT, file)) : "";
    for (const target of loadedBy(text)) {
      await visit(target.startsWith(".") ? relative(ROOT, join(ROOT, dirname(file), target)) : target);
    }
    reached.add(file);
  };
  for (const entry of entries) await visit(entry);
  return reached;
}

/** The text of the list, as `deno fmt` leaves it. */
export async function writeStartModules(): Promise<string> {
  const files = [...await reachedFrom(START_ENTRIES)].filter((file) => file.startsWith("src/") && file.endsWith(".ts"));
  const folder = dirname(START_MODULES);
  const lines = files.map((file) => {
    const path = relative(folder, file);
    return `import "${path.startsWith(".") ? path : `./${path}`}";\n`;
  });
  return `// Written by \`deno task start-modules\`: see scripts/start_modules.ts.\n${lines.join("")}`;
}

if (import.meta.main) await Deno.writeTextFile(join(ROOT, START_MODULES), await writeStartModules());
