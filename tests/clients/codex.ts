import { join } from "node:path";
import { sanitizeName } from "../../src/conversation/parts/request/sanitized_name.ts";
import { expectThoughts } from "./agent_scenarios.ts";
import { aliasOf } from "./gateway.ts";
import { npmBin } from "./install.ts";
import { type ClientProgram, expect, expectText, type Scenario } from "./program.ts";
import type { ProgramOutput, Session } from "./session.ts";

const VERSION = "0.169.0";

interface Way {
  readonly name: string;
  modelOf(session: Session): string;
  /** A directive that makes the model run this command. */
  shell(command: string): string;
  /** Why one response has no two calls; null where it has. */
  readonly oneCall: string | null;
}

/** Codex CLI, without a terminal (`codex exec`): with an unknown model, and with one of a known name. */
export const codex: readonly ClientProgram[] = [
  program({
    name: "Codex CLI",
    modelOf: ({ model }) => model,
    shell: (cmd) => `[[tool exec_command ${JSON.stringify({ cmd })}]]`,
    oneCall: null,
  }),
  program({
    name: "Codex CLI, gpt-6-sol by alias",
    modelOf: ({ family }) => aliasOf("gpt-6-sol", family),
    shell: programDirective,
    oneCall: "requests one call at a time (`parallel_tool_calls: false`)",
  }),
];

/**
 * Codex offers known models one tool that accepts a program as free text, in a namespace. Vendors other than OpenAI get
 * it as a function with a text argument, under a name that they allow.
 */
function programDirective(cmd: string): string {
  const code = `text((await tools.exec_command(${JSON.stringify({ cmd })})).output)`;
  const name = "functions/exec";
  const call = `tool ${sanitizeName(name, 64)} ${JSON.stringify({ input: code })}`;
  return `[[openai: tool ${name} ${code}]] [[anthropic: ${call}]] [[google: ${call}]]`;
}

function program({ name, modelOf, shell, oneCall }: Way): ClientProgram {
  const run = (session: Session, prompt: string, args: readonly string[] = []) =>
    codexExec(session, modelOf(session), [...args, prompt]);
  const parallel: Scenario = async (session) => {
    const { stdout } = await run(session, `${shell("echo the first call")} ${shell("echo the second call")}`);
    expectText(stdout, "the first call");
    expectText(stdout, "the second call");
  };
  return {
    name,
    version: VERSION,
    fast: true,
    install: (cache) => cache.npm("codex", [`@openai/codex@${VERSION}`]),
    scenarios: {
      async plain(session) {
        const { code, stdout } = await run(session, "[[say Hello from the model]]");
        expectText(stdout, "Hello from the model");
        expect(code === 0, `exit code ${code}`);
      },
      stream: "`codex exec` shows whole messages only; all its requests are streams",
      async tools(session) {
        const { stdout } = await run(session, shell("echo made by the tool | tr a-z A-Z"));
        expectText(stdout, " answered: ");
        expectText(stdout, "MADE BY THE TOOL");
      },
      "parallel tools": oneCall ?? parallel,
      async structured(session) {
        const schema = {
          type: "object",
          properties: { city: { type: "string" } },
          required: ["city"],
          additionalProperties: false,
        };
        await session.write(join(session.work, "schema.json"), JSON.stringify(schema));
        const { stdout } = await run(session, "Name a city", ["--output-schema", "schema.json"]);
        expectText(stdout, '{"city":');
      },
      async reasoning(session) {
        const { stdout, stderr } = await run(session, shell("echo made by the tool | tr a-z A-Z"), THINKS);
        expectText(stdout, "MADE BY THE TOOL");
        expectThoughts(stderr.includes("Let me think about this"), session);
      },
      async error(session) {
        const { code, stderr } = await run(session, "[[fail 400 The vendor does not like this]]");
        expectText(stderr, "The vendor does not like this", "the log");
        expect(code !== 0, "exit code 0");
      },
    },
  };
}

const THINKS = [
  "model_reasoning_effort=high",
  "model_reasoning_summary=detailed",
  "model_supports_reasoning_summaries=true",
].flatMap((setting) => ["-c", setting]);

async function codexExec(session: Session, model: string, args: readonly string[]): Promise<ProgramOutput> {
  const { address, key, cache, home } = session;
  await session.write(
    join(home, ".codex", "config.toml"),
    `model = "${model}"
model_provider = "switchyard"

[model_providers.switchyard]
name = "Switchyard"
base_url = "${address}/v1"
env_key = "SWITCHYARD_KEY"
wire_api = "responses"
`,
  );
  return await session.run(["codex", "exec", "--sandbox", "danger-full-access", ...args], {
    path: [npmBin(cache, "codex")],
    env: { SWITCHYARD_KEY: key },
  });
}
