import { join } from "node:path";
import { agentScenarios, expectThoughts, jsonLines } from "./agent_scenarios.ts";
import { npmBin } from "./install.ts";
import { type ClientProgram, expect, expectText } from "./program.ts";
import type { ProgramOutput, Session } from "./session.ts";

const VERSION = "3.0.65";

/** Cline's command line program, without a terminal, with each of its providers that accept an address. */
export const cline: readonly ClientProgram[] = [
  program("openai-compatible", "/v1"),
  program("anthropic", "/msgcompat/v1"),
  program("gemini", "/gencompat/v1beta"),
];

function program(provider: string, path: string): ClientProgram {
  const run = (session: Session, prompt: string, args: readonly string[] = []) =>
    clineRun(session, { provider, path }, [...args, prompt]);
  return {
    name: `Cline, ${provider}`,
    version: VERSION,
    fast: false,
    install: (cache) => cache.npm("cline", [`cline@${VERSION}`]),
    scenarios: {
      ...agentScenarios({
        run,
        shell: (command) => `[[tool run_commands ${JSON.stringify({ commands: [command] })}]]`,
      }),
      async stream(session) {
        const { stdout } = await run(session, "[[words 30]]", ["--json"]);
        const pieces = jsonLines(stdout).filter(({ event }) => event?.type === "content_start");
        expect(pieces.length > 1, `${pieces.length} pieces of the answer`);
        expectText(stdout, "word29 word30");
      },
      structured: "no such option",
      async reasoning(session) {
        const prompt = '[[tool run_commands {"commands":["echo made by the tool"]}]]';
        const { stdout } = await run(session, prompt, ["--json", "--thinking", "high"]);
        const isRefused = session.exchanges.some(({ status }) => status === 400);
        expect(!isRefused, "the program does not send reasoning back, which this vendor requires during tool use");
        expectText(stdout, "The tool run_commands answered", "the stream");
        expectThoughts(stdout.includes("Let me think about"), session);
      },
    },
  };
}

interface Target {
  readonly provider: string;
  readonly path: string;
}

async function clineRun(session: Session, { provider, path }: Target, args: readonly string[]): Promise<ProgramOutput> {
  const { address, key, model, cache, home } = session;
  const settings = { provider, apiKey: key, model, baseUrl: `${address}${path}` };
  const providers = {
    version: 1,
    lastUsedProvider: provider,
    modes: {},
    providers: { [provider]: { settings, updatedAt: new Date().toISOString(), tokenSource: "manual" } },
  };
  // `cline auth` writes the same, but accepts an address for openai-compatible only.
  await session.write(join(home, ".cline", "data", "settings", "providers.json"), JSON.stringify(providers));
  return await session.run(["cline", ...args], { path: [npmBin(cache, "cline")] });
}
