import { join } from "node:path";
import { agentScenarios, expectThoughts, jsonLines } from "./agent_scenarios.ts";
import { npmBin } from "./install.ts";
import { type ClientProgram, expectText } from "./program.ts";
import type { ProgramOutput, Session } from "./session.ts";

const VERSION = "1.18.33";

/** opencode with each of the packages that connect it to a gateway. */
export const opencode: readonly ClientProgram[] = [
  program("@ai-sdk/openai-compatible", "/v1", { reasoningEffort: "high" }),
  program("@ai-sdk/openai", "/v1", { reasoningEffort: "high", reasoningSummary: "auto" }),
  program("@ai-sdk/anthropic", "/msgcompat/v1", { thinking: { type: "enabled", budgetTokens: 4000 } }),
  program("@ai-sdk/google", "/gencompat/v1beta", {}),
];

function program(npm: string, path: string, thinks: Record<string, unknown>): ClientProgram {
  const run = (session: Session, prompt: string, args: readonly string[] = []) =>
    opencodeRun(session, { npm, path, thinks, input: prompt }, args);
  return {
    name: `opencode, ${npm}`,
    version: VERSION,
    fast: npm === "@ai-sdk/openai-compatible",
    install: (cache) => cache.npm("opencode", [`opencode-ai@${VERSION}`]),
    scenarios: {
      ...agentScenarios({
        run,
        shell: (command) => `[[tool bash ${JSON.stringify({ command, description: "Says it" })}]]`,
      }),
      stream: "`opencode run` shows whole messages only; all its requests are streams",
      structured: "no such option",
      async reasoning(session) {
        const prompt = '[[tool bash {"command":"echo made by the tool","description":"Says it"}]]';
        const { stdout } = await run(session, prompt, ["--thinking", "--format", "json"]);
        const events = jsonLines(stdout);
        const answer = events.flatMap(({ type, part }) => type === "text" ? [part.text] : []).join("");
        expectText(answer, "made by the tool", "the answer");
        expectThoughts(events.some(({ type }) => type === "reasoning"), session);
      },
    },
  };
}

interface Target {
  readonly npm: string;
  readonly path: string;
  /** Options that make the model think. */
  readonly thinks: Readonly<Record<string, unknown>>;
  /** The prompt, which its command line would put in quotes. */
  readonly input: string;
}

async function opencodeRun(
  session: Session,
  { npm, path, thinks, input }: Target,
  args: readonly string[],
): Promise<ProgramOutput> {
  const { address, key, model, cache, home } = session;
  const config = {
    $schema: "https://opencode.ai/config.json",
    autoupdate: false,
    share: "disabled",
    provider: {
      switchyard: {
        npm,
        name: "Switchyard",
        options: { baseURL: `${address}${path}`, apiKey: "{env:SWITCHYARD_KEY}" },
        models: { [model]: { name: model, reasoning: true, options: thinks } },
      },
    },
  };
  await session.write(join(home, ".config", "opencode", "opencode.json"), JSON.stringify(config));
  return await session.run(["opencode", "run", "-m", `switchyard/${model}`, ...args], {
    input,
    path: [npmBin(cache, "opencode")],
    env: { SWITCHYARD_KEY: key, OPENCODE_DISABLE_MODELS_FETCH: "1", OPENCODE_DISABLE_AUTOUPDATE: "1" },
  });
}
