/**
 * Writes the members of usage in the types of the newest official clients: `deno task usage`. Needs npm and a package
 * registry. The test beside it then fails for each new member that its table lacks.
 */
import ts from "typescript";

/** The types of usage by the client's package: the module, and the path of the type in it. */
const ROOTS: Readonly<Record<string, readonly (readonly [module: string, type: string])[]>> = {
  "openai": [
    ["openai/resources/completions", "CompletionUsage"],
    ["openai/resources/responses/responses", "ResponseUsage"],
  ],
  "@anthropic-ai/sdk": [
    ["@anthropic-ai/sdk/resources/messages", "Usage"],
    ["@anthropic-ai/sdk/resources/beta/messages/messages", "BetaUsage"],
  ],
  "@google/genai": [["@google/genai", "GenerateContentResponseUsageMetadata"]],
  "cohere-ai": [["cohere-ai", "Cohere.Usage"]],
  "@mistralai/mistralai": [["@mistralai/mistralai/models/components", "UsageInfo"]],
};
const MAX_DEPTH = 4;

const folder = await Deno.makeTempDir();
await Deno.writeTextFile(`${folder}/package.json`, "{}");
const install = ["install", "--ignore-scripts", "--no-audit", "--no-fund"];
const packages = Object.keys(ROOTS).map((name) => `${name}@latest`);
const { success } = await new Deno.Command("npm", { args: [...install, ...packages], cwd: folder }).spawn().status;
if (!success) throw new Error("Cannot install the clients");
const roots = Object.entries(ROOTS).flatMap(([name, types]) => types.map(([module, type]) => ({ name, module, type })));
const imports = roots.map(({ module, type }, index) =>
  `import type * as M${index} from "${module}"; export declare const root${index}: M${index}.${type};`
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
const source = program.getSourceFile(`${folder}/roots.ts`);
const members: Record<string, { version: string; members: string[] }> = {};
for (const statement of source?.statements ?? []) {
  if (!ts.isVariableStatement(statement)) continue;
  for (const declaration of statement.declarationList.declarations) {
    const root = roots[Number(declaration.name.getText().slice(4))];
    if (root === undefined) continue;
    const manifest = JSON.parse(await Deno.readTextFile(`${folder}/node_modules/${root.name}/package.json`));
    const found = [...new Set(membersOf(checker.getTypeAtLocation(declaration), ""))].sort();
    members[`${root.name} ${root.type}`] = { version: manifest.version, members: found };
    if (found.length === 0) throw new Error(`Cannot find the members of ${root.name} ${root.type}`);
  }
}
await Deno.remove(folder, { recursive: true });
await Deno.writeTextFile(
  new URL("members.json", import.meta.url),
  `${JSON.stringify(members, null, 2)}\n`,
);

function membersOf(type: ts.Type, before: string, depth = 0): string[] {
  return checker.getNonNullableType(type).getProperties().flatMap((property) => {
    const path = `${before}${property.name}`;
    const own = checker.getNonNullableType(checker.getTypeOfSymbol(property));
    const parts = (own.isUnion() ? own.types : [own]).flatMap((each) => partsOf(each));
    if (parts.length === 0 || depth >= MAX_DEPTH) return [path];
    return [path, ...parts.flatMap((part) => membersOf(part.type, `${path}${part.suffix}.`, depth + 1))];
  });
}

/** The object types of a member: itself, or the items of a list. */
function partsOf(type: ts.Type): { readonly type: ts.Type; readonly suffix: string }[] {
  const element = checker.isArrayType(type) ? checker.getTypeArguments(type as ts.TypeReference)[0] : undefined;
  if (element !== undefined) {
    const items = element.isUnion() ? element.types : [element];
    return items.flatMap((each) => partsOf(each)).map((part) => ({ ...part, suffix: "[]" }));
  }
  const isObject = (type.flags & ts.TypeFlags.Object) !== 0 && type.getProperties().length > 0 &&
    type.getCallSignatures().length === 0;
  return isObject ? [{ type, suffix: "" }] : [];
}
