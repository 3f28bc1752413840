import { join } from "node:path";
import { expectThoughts } from "./agent_scenarios.ts";
import { pythonBin } from "./install.ts";
import { type ClientProgram, expect, expectText, type Scenario, type ScenarioName } from "./program.ts";
import type { ProgramOutput, RunOptions, Session } from "./session.ts";

const VERSION = "0.36";
const ANTHROPIC_VERSION = "0.30";

/** A way to connect `llm` to the gateway. */
interface Way {
  readonly name: string;
  readonly version: string;
  /** Options that make a model think. */
  readonly thinks: readonly string[];
  /** Configures the gateway and its models in the program. */
  prepare(session: Session): Promise<RunOptions>;
}

const FUNCTIONS = `
def weather(city: str) -> str:
    "The weather in a city"
    return f"It rains in {city.upper()}"
`;

/** `llm` with models of its own file, for chat completions or responses, and with the plugin for messages. */
export const llm: readonly ClientProgram[] = [
  program({
    name: "llm, chat completions",
    version: VERSION,
    thinks: ["-o", "reasoning_effort", "high"],
    prepare: (session) => prepareOpenai(session, ""),
  }),
  program({
    name: "llm, responses",
    version: VERSION,
    thinks: ["-o", "reasoning_effort", "high"],
    prepare: (session) => prepareOpenai(session, "  responses: true\n"),
  }),
  program({
    name: "llm, llm-anthropic",
    version: ANTHROPIC_VERSION,
    thinks: ["-o", "thinking_effort", "high"],
    prepare: prepareAnthropic,
  }),
];

function program(way: Way): ClientProgram {
  return {
    name: way.name,
    version: way.version,
    fast: way.name.includes("chat"),
    install: (cache) => cache.python("llm", [`llm==${VERSION}`, `llm-anthropic==${ANTHROPIC_VERSION}`]),
    scenarios: scenariosOf((session, args, options) => llmRun(session, way, args, options)),
  };

  function scenariosOf(
    run: (session: Session, args: readonly string[], options?: RunOptions) => Promise<ProgramOutput>,
  ): Record<ScenarioName, Scenario> {
    return {
      async plain(session) {
        const { code, stdout } = await run(session, ["--no-stream", "[[say Hello from the model]]"]);
        expectText(stdout, "Hello from the model");
        expect(code === 0, `exit code ${code}`);
      },
      async stream(session) {
        const pieces: string[] = [];
        const onOutput = (piece: string) => void pieces.push(piece);
        await run(session, ["[[gap 20]] [[words 30]]"], { onOutput });
        expectText(pieces.join(""), "word29 word30", "the answer");
        expect(pieces.length > 1, `${pieces.length} pieces of the answer`);
      },
      async tools(session) {
        const { stdout } = await run(session, ["--functions", FUNCTIONS, '[[tool weather {"city":"Oslo"}]]']);
        expectText(stdout, "The tool weather answered: It rains in OSLO");
      },
      async "parallel tools"(session) {
        const prompt = '[[tool weather {"city":"Oslo"}]] [[tool weather {"city":"Rome"}]]';
        const { stdout } = await run(session, ["--functions", FUNCTIONS, prompt]);
        expectText(stdout, "It rains in OSLO");
        expectText(stdout, "It rains in ROME");
      },
      async structured(session) {
        const { stdout } = await run(session, ["--schema", "city, population int", "Invent a city"]);
        expect(Number.isInteger(JSON.parse(stdout).population), `the answer is ${stdout.trim()}`);
      },
      async reasoning(session) {
        const prompt = '[[tool weather {"city":"Oslo"}]]';
        const { stdout, stderr } = await run(session, ["--functions", FUNCTIONS, ...way.thinks, prompt]);
        expectText(stdout, "It rains in OSLO");
        expectThoughts((stderr + stdout).includes("Let me think about this"), session);
      },
      async error(session) {
        const { code, stderr } = await run(session, ["[[fail 400 The vendor does not like this]]"]);
        expectText(stderr, "The vendor does not like this", "the log");
        expect(code !== 0, "exit code 0");
      },
    };
  }
}

async function llmRun(
  session: Session,
  way: Way,
  args: readonly string[],
  options: RunOptions = {},
): Promise<ProgramOutput> {
  const prepared = await way.prepare(session);
  return await session.run(["llm", "-m", session.model, ...args], {
    ...prepared,
    ...options,
    path: [pythonBin(session.cache, "llm")],
  });
}

async function prepareOpenai(session: Session, more: string): Promise<RunOptions> {
  const { home, address, key, model } = session;
  await session.write(
    join(home, ".config", "io.datasette.llm", "extra-openai-models.yaml"),
    `- model_id: ${model}
  model_name: ${model}
  api_base: ${address}/v1
  api_key_name: switchyard
  supports_tools: true
  supports_schema: true
  reasoning: true
${more}`,
  );
  await session.write(join(home, ".config", "io.datasette.llm", "keys.json"), JSON.stringify({ switchyard: key }));
  return {};
}

async function prepareAnthropic(session: Session): Promise<RunOptions> {
  const { address, key, cache } = session;
  const env = { ANTHROPIC_BASE_URL: `${address}/msgcompat`, ANTHROPIC_API_KEY: key };
  await session.run(["llm", "anthropic", "refresh"], { env, path: [pythonBin(cache, "llm")] });
  return { env };
}
