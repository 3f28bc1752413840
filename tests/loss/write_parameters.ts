/**
 * Writes the tables of request parameters from the types of the newest official clients: `deno task parameters`. Needs
 * npm and a package registry. The loss test then fails for each new parameter that is neither sent nor reported.
 */
import ts from "typescript";
import type { CallerFormatName } from "../../src/conversation/reasoning_signature.ts";
import { valueAt } from "../support/items.ts";
import { type Parameters, tableOf, type TypeRef } from "./parameters.ts";
import { TypeTable } from "./type_table.ts";

/** The request type of each format: exported types by module. Members of later types are added. */
const ROOTS: Readonly<
  Record<string, { readonly package: string; readonly types: readonly (readonly [string, string])[] }>
> = {
  chat: { package: "openai", types: [["openai/resources/chat/completions", "ChatCompletionCreateParamsBase"]] },
  responses: { package: "openai", types: [["openai/resources/responses/responses", "ResponseCreateParamsBase"]] },
  messages: {
    package: "@anthropic-ai/sdk",
    types: [
      ["@anthropic-ai/sdk/resources/beta/messages/messages", "MessageCreateParamsBase"],
      ["@anthropic-ai/sdk/resources/messages", "MessageCreateParamsBase"],
    ],
  },
  content: { package: "@google/genai", types: [["@google/genai", "GenerateContentParameters"]] },
};

/** Members of the content client's `config` that are outside of `generationConfig` on the wire. */
const BESIDE_GENERATION_CONFIG = new Set([
  ...["systemInstruction", "safetySettings", "tools", "toolConfig", "labels", "cachedContent", "serviceTier"],
  ...["modelArmorConfig"],
]);

const folder = await Deno.makeTempDir();
const packages = [...new Set(Object.values(ROOTS).map((root) => root.package))];
await Deno.writeTextFile(`${folder}/package.json`, "{}");
await run("npm", [
  "install",
  "--ignore-scripts",
  "--no-audit",
  "--no-fund",
  ...packages.map((each) => `${each}@latest`),
]);
const imports = Object.entries(ROOTS).flatMap(([format, { types }]) =>
  types.map(([module, type], index) =>
    `import type { ${type} as T_${format}_${index} } from "${module}"; export declare const ${format}_${index}: T_${format}_${index};`
  )
);
await Deno.writeTextFile(`${folder}/roots.ts`, imports.join("\n"));
const program = ts.createProgram([`${folder}/roots.ts`], {
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  target: ts.ScriptTarget.ESNext,
  strict: true,
  skipLibCheck: true,
  noEmit: true,
});
const checker = program.getTypeChecker();
const roots = new Map<string, ts.Type>();
for (const statement of program.getSourceFile(`${folder}/roots.ts`)!.statements) {
  if (!ts.isVariableStatement(statement)) continue;
  for (const each of statement.declarationList.declarations) {
    roots.set(each.name.getText(), checker.getTypeAtLocation(each));
  }
}
for (const [format, { package: name, types }] of Object.entries(ROOTS)) {
  const table = new TypeTable(checker);
  const members = types.map((_, index) => table.membersOf(roots.get(`${format}_${index}`)!));
  const root = Object.assign({}, ...members.toReversed()) as Record<string, TypeRef>;
  table.types.Request = format === "content" ? wireRequest(root, table) : root;
  const parameters: Parameters = { package: name, version: await versionOf(name), types: reachable(table.types) };
  await Deno.writeTextFile(tableOf(format as CallerFormatName), `${JSON.stringify(parameters, null, 2)}\n`);
}
await Deno.remove(folder, { recursive: true });

/** The types that a request consists of. */
function reachable(types: Parameters["types"]): Parameters["types"] {
  const reached = new Set<string>(["Request"]);
  const visit = (ref: TypeRef): void => {
    if (typeof ref === "string" || "words" in ref) return;
    if ("list" in ref) return visit(ref.list);
    if ("union" in ref) return ref.union.forEach(visit);
    reached.add(ref.type);
  };
  // The set grows during the iteration.
  for (const name of reached) Object.values(valueAt(types, name)).forEach(visit);
  return Object.fromEntries([...reached].sort().map((name) => [name, valueAt(types, name)]));
}

/**
 * The content client has a separate `config`; on the wire its members are in the request and in `generationConfig`.
 */
function wireRequest({ contents: _, ...root }: Record<string, TypeRef>, table: TypeTable): Record<string, TypeRef> {
  const { type } = root["config?"] as { type: string };
  const config = Object.entries(valueAt(table.types, type));
  const isBeside = ([name]: readonly [string, TypeRef]) => BESIDE_GENERATION_CONFIG.has(name.replace("?", ""));
  table.types.GenerationConfig = Object.fromEntries(config.filter((member) => !isBeside(member)));
  const beside = Object.fromEntries(config.filter(isBeside));
  return {
    contents: { list: { type: "Content" } },
    ...beside,
    "systemInstruction?": { type: "Content" },
    "generationConfig?": { type: "GenerationConfig" },
  };
}

async function run(command: string, args: readonly string[]): Promise<void> {
  const { success } = await new Deno.Command(command, { args: [...args], cwd: folder }).output();
  if (!success) throw new Error(`Cannot run ${command} ${args.join(" ")}`);
}

async function versionOf(name: string): Promise<string> {
  return JSON.parse(await Deno.readTextFile(`${folder}/node_modules/${name}/package.json`)).version;
}
