import { parse } from "yaml";
import { ConfigError } from "../../../config/tree/config_error.ts";
import { type AnsweredDiff, diffSentences } from "../../../config/diff/diff_sentences.ts";
import { loadConfig } from "../../../config/load_config.ts";
import { syntaxProblemOf } from "../../../config/tree/syntax_problem.ts";
import { CONFIG_ENDPOINTS } from "../../../platform/endpoints/operators.ts";
import { type AdminResponse, openAdminApi, type SendAdminCall } from "./admin_api.ts";
import { type AdminArguments, readAdminArguments } from "./admin_arguments.ts";
import { environmentOf } from "../environment.ts";
import { isConfigNamed } from "../find/find_gateway.ts";
import { print, printError } from "../print.ts";
import { UsageError } from "../usage_error.ts";
import { errorName } from "../../../platform/lib/basics/log.ts";
import { ownValue } from "../../../platform/lib/collections/own_value.ts";

const ROOT = CONFIG_ENDPOINTS.readConfig.path;

/** Every subcommand, with the calls that it makes. The arguments are read first. */
const COMMANDS: Readonly<Record<string, (args: AdminArguments) => (send: SendAdminCall) => Promise<AdminResponse>>> = {
  show: () => (send) => send({ method: "GET", path: ROOT }),
  reload: () => (send) => send({ method: "POST", path: `${ROOT}/reload` }),
  apply: (args) => applying(args.word("configuration file"), ""),
  diff: (args) => applying(args.word("configuration file"), "?dry_run=true"),
  versions: (args) => {
    const path = `${ROOT}/versions${args.query("limit", "after")}`;
    return (send) => send({ method: "GET", path });
  },
  restore: (args) => {
    const path = `${ROOT}/versions/${encodeURIComponent(args.word("version"))}/restore`;
    return (send) => send({ method: "POST", path });
  },
};

/** Subcommands whose answer is a difference, which is printed in sentences, or with `--json` as it is. */
const CHANGES: ReadonlySet<string> = new Set(["reload", "apply", "diff", "restore"]);

/**
 * Runs `config show`, `reload`, `apply FILE`, `diff FILE`, `versions` and `restore N`: the configuration of the running
 * gateway.
 *
 * @returns The exit code: 2 if the configuration is not valid.
 */
export async function configCommand(args: readonly string[]): Promise<number> {
  const { config: path, gateway, subcommand, rest } = readAdminArguments("config", args);
  if (!Object.hasOwn(COMMANDS, subcommand)) {
    const known = ["check", "schema", ...Object.keys(COMMANDS)].join(", ");
    throw new UsageError(`switchyard config: expected one of the subcommands ${known}`);
  }
  const call = ownValue(COMMANDS, subcommand)?.(rest);
  const isJson = !CHANGES.has(subcommand) || rest.flag("json");
  rest.end();
  const config = loadConfig({ path, env: environmentOf(path) });
  const needsRunning = "only a running gateway has an active configuration";
  const selection = { gateway, isConfigNamed: isConfigNamed(path) };
  const send = await openAdminApi(config, selection, { method: "GET", path: ROOT, needsRunning }, printError);
  const answer = await call?.(send);
  if (answer === undefined) return 1;
  if (isJson || answer.status >= 400) return printAnswer(answer);
  for (const sentence of diffSentences(answer.body as AnsweredDiff, subcommand !== "diff")) print(sentence);
  return 0;
}

/** The gateway reads its own file again. Any other file becomes the settings in the store. */
function applying(file: string, query: string): (send: SendAdminCall) => Promise<AdminResponse> {
  return async (send) => {
    const shown = await send({ method: "GET", path: ROOT });
    if (shown.status >= 400) return shown;
    const { file: own } = shown.body as { file?: string | null };
    if (own && await isSameFile(own, file)) return await send({ method: "POST", path: `${ROOT}/reload${query}` });
    return await send({ method: "PUT", path: ROOT + query, body: await sectionsIn(file) });
  };
}

async function isSameFile(one: string, other: string): Promise<boolean> {
  const paths = await Promise.all([one, other].map((path) => Deno.realPath(path).catch(() => path)));
  return paths[0] === paths[1];
}

/** @throws {UsageError} If the file cannot be read as a map of sections. */
async function sectionsIn(file: string): Promise<Record<string, unknown>> {
  const text = await Deno.readTextFile(file).catch((error: unknown) => {
    const kind = errorName(error);
    throw new UsageError(`switchyard config: expected a readable configuration file at ${file}, got ${kind}`);
  });
  let sections: unknown;
  try {
    sections = parse(text);
  } catch (error) {
    // The parser's message quotes the file.
    throw new ConfigError([syntaxProblemOf(error, file, text) ?? `${file}: expected valid YAML`]);
  }
  if (typeof sections === "object" && sections !== null && !Array.isArray(sections)) return { ...sections };
  throw new UsageError(`switchyard config: expected a map of sections in ${file}`);
}

function printAnswer({ status, body }: AdminResponse): number {
  if (status < 400) {
    print(JSON.stringify(body, null, 2));
    return 0;
  }
  const { error } = (body ?? {}) as { error?: { message?: string; problems?: readonly string[] } };
  printError(error?.problems?.join("\n") ?? error?.message ?? `The admin API answered with status ${status}`);
  return error?.problems === undefined ? 1 : 2;
}
