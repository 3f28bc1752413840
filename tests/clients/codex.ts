import { join } from "node:path";
import { npmBin } from "./install.ts";
import { type ClientProgram, expect, expectText } from "./program.ts";
import type { Ran, Session } from "./session.ts";

const VERSION = "0.169.0";

/** Codex CLI, without a terminal (`codex exec`). */
export const codex: ClientProgram = {
  name: "Codex CLI",
  version: VERSION,
  fast: true,
  install: (cache) => cache.npm("codex", [`@openai/codex@${VERSION}`]),
  scenarios: {
    async plain(session) {
      const { code, stdout } = await codexExec(session, "[[say Hello from the model]]");
      expectText(stdout, "Hello from the model");
      expect(code === 0, `exit code ${code}`);
    },
    stream: "`codex exec` shows whole messages; all its requests are streams",
    async tools(session) {
      const { stdout } = await codexExec(session, '[[tool exec_command {"cmd":"echo made by the tool"}]]');
      expectText(stdout, "The tool exec_command answered");
      expectText(stdout, "made by the tool");
    },
    async "parallel tools"(session) {
      const prompt = ["first", "second"].map((word) => `[[tool exec_command {"cmd":"echo the ${word} call"}]]`);
      const { stdout } = await codexExec(session, prompt.join(" "));
      expectText(stdout, "the first call");
      expectText(stdout, "the second call");
    },
    async structured(session) {
      const schema = {
        type: "object",
        properties: { city: { type: "string" } },
        required: ["city"],
        additionalProperties: false,
      };
      await session.write(join(session.work, "schema.json"), JSON.stringify(schema));
      const { stdout } = await codexExec(session, "Name a city", ["--output-schema", "schema.json"]);
      expectText(stdout, '{"city":');
    },
    async reasoning(session) {
      const { stdout, stderr } = await codexExec(session, '[[tool exec_command {"cmd":"echo made by the tool"}]]', [
        "-c",
        "model_reasoning_effort=high",
        "-c",
        "model_reasoning_summary=detailed",
        "-c",
        "model_supports_reasoning_summaries=true",
      ]);
      expectText(stderr, "Let me think about this", "the log");
      expectText(stdout, "made by the tool");
    },
    async error(session) {
      const { code, stderr } = await codexExec(session, "[[fail 400 The vendor does not like this]]");
      expectText(stderr, "The vendor does not like this", "the log");
      expect(code !== 0, "exit code 0");
    },
  },
};

async function codexExec(session: Session, prompt: string, args: readonly string[] = []): Promise<Ran> {
  const { address, key, model, cache, home } = session;
  await session.write(
    join(home, ".codex", "config.toml"),
    `model = "${model}"
model_provider = "switchyard"

[model_providers.switchyard]
name = "Switchyard"
base_url = "${address}/v1"
env_key = "SWITCHYARD_API_KEY"
wire_api = "responses"
`,
  );
  return await session.run(["codex", "exec", "--sandbox", "danger-full-access", ...args, prompt], {
    path: [npmBin(cache, "codex")],
    env: { SWITCHYARD_API_KEY: key },
  });
}
