import { join } from "node:path";
import { itemAt } from "../support/items.ts";
import { agentScenarios, jsonLines } from "./agent_scenarios.ts";
import { npmBin } from "./install.ts";
import { type ClientProgram, expect, expectText } from "./program.ts";
import type { ProgramOutput, Session } from "./session.ts";

const VERSION = "0.61.0";

/** Gemini CLI, without a terminal (`gemini -p`). */
export const geminiCli: ClientProgram = {
  name: "Gemini CLI",
  version: VERSION,
  fast: true,
  install: (cache) => cache.npm("gemini-cli", [`@google/gemini-cli@${VERSION}`]),
  scenarios: {
    ...agentScenarios({
      run: gemini,
      shell: (command) => `[[tool run_shell_command ${JSON.stringify({ command })}]]`,
    }),
    async stream(session) {
      const { stdout } = await gemini(session, "[[words 30]]", ["--output-format", "stream-json"]);
      const messages = jsonLines(stdout).filter(({ type, role }) => type === "message" && role === "assistant");
      expect(messages.length > 1, `${messages.length} pieces of the answer`);
      expectText(messages.map(({ content }) => content).join(""), "word29 word30", "the answer");
    },
    structured: "no such option",
    async reasoning(session) {
      const { stdout } = await gemini(session, '[[tool run_shell_command {"command":"echo made by the tool"}]]');
      expectText(stdout, "made by the tool");
      const first = itemAt(session.exchanges.filter(({ path }) => path.includes("streamGenerateContent")), 0);
      expectText(first.requestBody, '"includeThoughts":true', "the first request");
      expectText(first.responseBody, '"thought":true', "the first answer");
    },
  },
};

async function gemini(session: Session, prompt: string, args: readonly string[] = []): Promise<ProgramOutput> {
  const { address, key, model, cache, home } = session;
  const settings = {
    security: { auth: { selectedType: "gemini-api-key" } },
    privacy: { usageStatisticsEnabled: false },
    general: { disableAutoUpdate: true },
  };
  await session.write(join(home, ".gemini", "settings.json"), JSON.stringify(settings));
  return await session.run(["gemini", "-p", prompt, "-m", model, "--yolo", "--skip-trust", ...args], {
    path: [npmBin(cache, "gemini-cli")],
    env: { GEMINI_API_KEY: key, GOOGLE_GEMINI_BASE_URL: `${address}/gencompat` },
  });
}
