/** The types of the newest official clients as plain tables. Needs npm and a package registry. */
import ts from "typescript";
import type { CallerFormatName } from "../../src/conversation/neutral/reasoning_signature.ts";
import { valueAt } from "../support/items.ts";
import type { Parameters, TypeRef } from "./parameters.ts";
import { TypeTable } from "./type_table.ts";

/** An exported type: its module and its name. */
type TypeName = readonly [module: string, type: string];

/** What a format's client sends and receives. */
interface ClientTypes {
  readonly package: string;
  /** The request type. Members of later types are added. */
  readonly requests: readonly TypeName[];
  /** The whole reply, then the event or chunk of a stream. */
  readonly replies: readonly TypeName[];
}

const OPENAI_CHAT = "openai/resources/chat/completions";
const OPENAI_RESPONSES = "openai/resources/responses/responses";
const BETA_MESSAGES = "@anthropic-ai/sdk/resources/beta/messages/messages";

const CLIENTS: Readonly<Record<CallerFormatName, ClientTypes>> = {
  chat: {
    package: "openai",
    requests: [[OPENAI_CHAT, "ChatCompletionCreateParamsBase"]],
    replies: [[OPENAI_CHAT, "ChatCompletion"], [OPENAI_CHAT, "ChatCompletionChunk"]],
  },
  responses: {
    package: "openai",
    requests: [[OPENAI_RESPONSES, "ResponseCreateParamsBase"]],
    replies: [[OPENAI_RESPONSES, "Response"], [OPENAI_RESPONSES, "ResponseStreamEvent"]],
  },
  messages: {
    package: "@anthropic-ai/sdk",
    requests: [[BETA_MESSAGES, "MessageCreateParamsBase"], [
      "@anthropic-ai/sdk/resources/messages",
      "MessageCreateParamsBase",
    ]],
    replies: [[BETA_MESSAGES, "BetaMessage"], [BETA_MESSAGES, "BetaRawMessageStreamEvent"]],
  },
  content: {
    package: "@google/genai",
    requests: [["@google/genai", "GenerateContentParameters"]],
    replies: [["@google/genai", "GenerateContentResponse"]],
  },
};

/** The formats of callers, each with an official client. */
export const CLIENT_FORMATS: readonly CallerFormatName[] = ["chat", "responses", "messages", "content"];

/** Members of the content client's `config` that are outside of `generationConfig` on the wire. */
const BESIDE_GENERATION_CONFIG = new Set([
  ...["systemInstruction", "safetySettings", "tools", "toolConfig", "labels", "cachedContent", "serviceTier"],
  ...["modelArmorConfig"],
]);

/** What the client of one format sends and receives. `Request` and `Reply` are the roots of the tables. */
export interface ClientTables {
  readonly requests: Parameters;
  readonly replies: Parameters;
}

/**
 * Installs the newest release of every client and reads its types.
 *
 * @throws {Error} If npm or the registry cannot be used.
 */
export async function newestTables(): Promise<Readonly<Record<CallerFormatName, ClientTables>>> {
  const folder = await Deno.makeTempDir();
  try {
    await install(folder);
    const { checker, roots } = await programIn(folder);
    const read = async (format: CallerFormatName): Promise<ClientTables> => {
      const client = CLIENTS[format];
      const version = await versionOf(client.package, folder);
      const parameters = (types: Parameters["types"]): Parameters => ({ package: client.package, version, types });
      return {
        requests: parameters(requestTypes(format, checker, roots)),
        replies: parameters(replyTypes(format, checker, roots)),
      };
    };
    const [chat, responses, messages, content] = await Promise.all([
      ...[read("chat"), read("responses"), read("messages"), read("content")],
    ]);
    if (!chat || !responses || !messages || !content) throw new Error("a client has no types");
    return { chat, responses, messages, content };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function install(folder: string): Promise<void> {
  await Deno.writeTextFile(`${folder}/package.json`, "{}");
  const packages = [...new Set(Object.values(CLIENTS).map((client) => `${client.package}@latest`))];
  const args = ["install", "--ignore-scripts", "--no-audit", "--no-fund", ...packages];
  const { success } = await new Deno.Command("npm", { args, cwd: folder }).output();
  if (!success) throw new Error(`Cannot run npm ${args.join(" ")}`);
}

interface Program {
  readonly checker: ts.TypeChecker;
  /** By the names of {@linkcode declarations}. */
  readonly roots: ReadonlyMap<string, ts.Type>;
}

async function programIn(folder: string): Promise<Program> {
  const path = `${folder}/roots.ts`;
  await Deno.writeTextFile(path, CLIENT_FORMATS.flatMap(declarations).join("\n"));
  const program = ts.createProgram([path], {
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    target: ts.ScriptTarget.ESNext,
    strict: true,
    skipLibCheck: true,
    noEmit: true,
  });
  const checker = program.getTypeChecker();
  const roots = new Map<string, ts.Type>();
  for (const statement of program.getSourceFile(path)?.statements ?? []) {
    if (!ts.isVariableStatement(statement)) continue;
    for (const each of statement.declarationList.declarations) {
      roots.set(each.name.getText(), checker.getTypeAtLocation(each));
    }
  }
  return { checker, roots };
}

/** Declares `<format>_<index>` of each request type, and `<format>_replies` with a member for each reply type. */
function declarations(format: CallerFormatName): string[] {
  const { requests, replies } = CLIENTS[format];
  const imported = ([module, type]: TypeName, name: string) => `import type { ${type} as ${name} } from "${module}";`;
  const members = replies.map((_, index) => `part${index}: R_${format}_${index}`);
  return [
    ...requests.map((each, index) =>
      `${imported(each, `T_${format}_${index}`)} export declare const ${format}_${index}: T_${format}_${index};`
    ),
    ...replies.map((each, index) => imported(each, `R_${format}_${index}`)),
    `export declare const ${format}_replies: { ${members.join("; ")} };`,
  ];
}

function requestTypes(
  format: CallerFormatName,
  checker: ts.TypeChecker,
  roots: Program["roots"],
): Parameters["types"] {
  const table = new TypeTable(checker);
  const members = CLIENTS[format].requests.map((_, index) => table.membersOf(rootOf(roots, `${format}_${index}`)));
  const root = Object.assign({}, ...members.toReversed()) as Record<string, TypeRef>;
  table.types.Request = format === "content" ? wireRequest(root, table) : root;
  return reachable(table.types, "Request");
}

function replyTypes(format: CallerFormatName, checker: ts.TypeChecker, roots: Program["roots"]): Parameters["types"] {
  const table = new TypeTable(checker);
  table.types.Reply = table.membersOf(rootOf(roots, `${format}_replies`));
  return reachable(table.types, "Reply");
}

function rootOf(roots: Program["roots"], name: string): ts.Type {
  const type = roots.get(name);
  if (type === undefined) throw new Error(`the client has no type for ${name}`);
  return type;
}

/** The types that a root consists of. */
function reachable(types: Parameters["types"], root: string): Parameters["types"] {
  const reached = new Set<string>([root]);
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

async function versionOf(name: string, folder: string): Promise<string> {
  return JSON.parse(await Deno.readTextFile(`${folder}/node_modules/${name}/package.json`)).version;
}
