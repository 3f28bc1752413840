import { join } from "node:path";
import { agentScenarios, expectThoughts, jsonLines } from "./agent_scenarios.ts";
import { npmBin } from "./install.ts";
import { type ClientProgram, expect, expectText } from "./program.ts";
import type { ProgramOutput, Session } from "./session.ts";

const VERSION = "0.24.4";

interface Way {
  /** The provider's id in `modelProviders`, which is a wire format. */
  readonly provider: "openai" | "anthropic" | "gemini";
  /** One of OpenAI's two wire formats. */
  readonly wireApi?: "responses";
  /** The path after the gateway's address. */
  readonly path: string;
  /** The profile that makes the model think. */
  readonly profile: string;
}

/** Qwen Code, without a terminal, with each of its connections that accept an address. */
export const qwenCode: readonly ClientProgram[] = [
  program({ provider: "openai", path: "/v1", profile: "openai-effort" }),
  program({ provider: "openai", wireApi: "responses", path: "/v1", profile: "openai-reasoning" }),
  program({ provider: "anthropic", path: "/msgcompat", profile: "anthropic-manual" }),
  program({ provider: "gemini", path: "/gencompat", profile: "gemini" }),
];

function program(way: Way): ClientProgram {
  const run = (session: Session, prompt: string, args: readonly string[] = []) => qwen(session, way, [...args, prompt]);
  return {
    name: `Qwen Code, ${way.provider}${way.wireApi ? ` (${way.wireApi})` : ""}`,
    version: VERSION,
    fast: false,
    install: (cache) => cache.npm("qwen-code", [`@qwen-code/qwen-code@${VERSION}`]),
    scenarios: {
      ...agentScenarios({
        run,
        shell: (command) => `[[tool run_shell_command ${JSON.stringify({ command, is_background: false })}]]`,
      }),
      async stream(session) {
        const args = ["--output-format", "stream-json", "--include-partial-messages"];
        const { stdout } = await run(session, "[[words 30]]", args);
        const deltas = jsonLines(stdout).flatMap(({ event }) => event?.delta?.text ?? []);
        expect(deltas.length > 1, `${deltas.length} pieces of the answer`);
        expectText(deltas.join(""), "word29 word30", "the answer");
      },
      async structured(session) {
        const schema = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
        const prompt = '[[tool structured_output {"city":"Paris"}]]';
        const { stdout } = await run(session, prompt, ["--json-schema", JSON.stringify(schema)]);
        expectText(stdout, '"city":"Paris"');
      },
      async reasoning(session) {
        const prompt = '[[tool run_shell_command {"command":"echo made by the tool","is_background":false}]]';
        const { stdout } = await run(session, prompt, ["--output-format", "stream-json"]);
        expectText(stdout, "answered: ", "the stream");
        expectThoughts(stdout.includes('"type":"thinking"'), session);
      },
    },
  };
}

async function qwen(session: Session, way: Way, args: readonly string[]): Promise<ProgramOutput> {
  const { address, key, model, cache, home } = session;
  const { provider, wireApi, path, profile } = way;
  const route = {
    id: model,
    name: model,
    envKey: "SWITCHYARD_KEY",
    baseUrl: `${address}${path}`,
    ...(wireApi && { wireApi }),
    capabilities: { reasoning: { profile, efforts: ["low", "medium", "high"], defaultEffort: "high" } },
  };
  const settings = {
    modelProviders: { [provider]: [route] },
    security: { auth: { selectedType: provider } },
    model: { name: model },
    privacy: { usageStatisticsEnabled: false },
    general: { enableAutoUpdate: false },
  };
  await session.write(join(home, ".qwen", "settings.json"), JSON.stringify(settings));
  return await session.run(["qwen", "--yolo", ...args], {
    path: [npmBin(cache, "qwen-code")],
    env: { SWITCHYARD_KEY: key },
  });
}
