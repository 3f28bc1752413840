import { assert, assertEquals } from "@std/assert";
import { join } from "node:path";
import { ADMIN_COMMANDS, adminCallFor } from "../../src/entry/cli/admin/admin_call.ts";
import { readAdminArguments } from "../../src/entry/cli/admin/admin_arguments.ts";
import { COMMANDS } from "../../src/entry/cli/help/help.ts";
import { type GatewayProcess, startGatewayProcess } from "../support/gateway_process.ts";
import { atLeast } from "../support/items.ts";
import { closedOrigin } from "../support/video_gateway.ts";

/** What follows every message of an invalid command line. */
const ADVICE = 'Try "switchyard';
/** The gateway runs, or waits for something: the arguments were accepted. */
const ACCEPTED = /is ready at|^! /m;
const AT_ONCE = 4;

/** Files and variables that the examples name, so that their commands come as far as possible. */
const FILES: Readonly<Record<string, string>> = {
  "openai.key": "key-of-a-vendor-1234\n",
  "config.yaml":
    "model_list: [{ model_name: m, litellm_params: { model: openai/gpt-5-mini, api_key: os.environ/K } }]\n",
  "config.json": '{"providers":{"openai":{"keys":[{"value":"env.K","models":["gpt-5-mini"],"weight":1}]}}}',
  "invoice.csv": "date,model,cost\n2026-11-03,llama-4,1.25\n",
  "model_prices.json": '{"gpt-x":{"litellm_provider":"openai","mode":"chat","input_cost_per_token":1e-6}}',
};
const CONFIG = "server: { isolates: 1 }\nproviders: {}\nmodels: []\n";
const ENV = {
  PORT: new URL(closedOrigin()).port,
  SWITCHYARD_ADMIN_KEY: "admin-key-of-a-test-0123456789",
  OPENAI_API_KEY: "key-of-a-vendor-1234",
  ANTHROPIC_API_KEY: "key-of-a-vendor-1234",
  GROQ_API_KEY: "key-of-a-vendor-1234",
};

/** The words of an example, without a redirection of its output. */
function wordsOf(example: string): string[] {
  const words = example.replace(/ > \S+$/, "").match(/"[^"]*"|\S+/g) ?? [];
  return words.map((word) => word.replaceAll('"', ""));
}

/** Runs an example until it ends or its arguments are accepted. Returns its error output. */
async function complaintOf(example: string): Promise<string> {
  const folder = await Deno.makeTempDir();
  try {
    const written = { "switchyard.yaml": CONFIG, "new.yaml": CONFIG };
    const files = /^(?:init|import)/.test(example) ? FILES : { ...FILES, ...written };
    for (const [name, text] of Object.entries(files)) await Deno.writeTextFile(join(folder, name), text);
    if (example.startsWith("restore")) await Deno.writeTextFile(join(folder, "switchyard.backup"), "no backup");
    // A role alone needs a database, which does not answer here.
    const env = example.includes("--roles") ? { ...ENV, SWITCHYARD_STORE: `postgres://127.0.0.1:${ENV.PORT}/s` } : ENV;
    const command = startGatewayProcess({ args: wordsOf(example), folder, env });
    await Promise.race([command.ended, command.until(ACCEPTED).catch(() => {})]);
    await end(command);
    return command.log();
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function end(command: GatewayProcess): Promise<void> {
  try {
    command.kill("SIGTERM");
  } catch {
    // it has ended
  }
  await command.ended;
}

const isAdmin = (words: string) => ADMIN_COMMANDS.has(words.split(" ", 1)[0] ?? "") && words !== "ledger verify";

Deno.test("help: every example of an admin command is accepted", () => {
  for (const { words, examples } of COMMANDS) {
    if (!isAdmin(words)) continue;
    for (const example of examples) {
      const [command, ...args] = atLeast(wordsOf(example), 1);
      const { subcommand, rest } = readAdminArguments(command, args);
      assertEquals(`${command} ${subcommand}`, words);
      adminCallFor(command, subcommand, rest);
    }
  }
});

Deno.test("help: every example of any other command is accepted", async () => {
  const examples = COMMANDS.filter(({ words }) => !isAdmin(words)).flatMap((each) => each.examples);
  assert(examples.length > 30);
  const refused: string[] = [];
  const next = examples.values();
  await Promise.all(Array.from({ length: AT_ONCE }, async () => {
    for (const example of next) {
      const complaint = await complaintOf(example);
      if (complaint.includes(ADVICE)) refused.push(`${example}: ${complaint}`);
    }
  }));
  assertEquals(refused, []);
  assert((await complaintOf("serve --confg x")).includes(ADVICE));
});
