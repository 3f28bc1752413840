import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expectThoughts, jsonLines } from "./agent_scenarios.ts";
import { npmBin } from "./install.ts";
import { type ClientProgram, expect, expectText } from "./program.ts";
import type { Session } from "./session.ts";

const VERSION = "0.3.332";
const NAME = "claude_agent_sdk";
const FILE = `${NAME}.mjs`;
const FOLDER = fileURLToPath(new URL("./node/", import.meta.url));

/** The name by which the model calls a tool of the program: the SDK serves it as the MCP server `places`. */
const TOOL = "mcp__places__weather";

/** Anthropic's Claude Agent SDK, which runs Claude Code, with a tool of the program. */
export const claudeAgentSdk: ClientProgram = {
  name: "Claude Agent SDK",
  version: VERSION,
  fast: true,
  async install(cache) {
    await cache.npm(NAME, [`@anthropic-ai/claude-agent-sdk@${VERSION}`, "zod@4.6.7"]);
    await Deno.copyFile(join(FOLDER, FILE), join(npmBin(cache, NAME), "..", "..", FILE));
  },
  scenarios: {
    async plain(session) {
      const { result, code } = await asked(session, "[[say Hello from the model]]");
      expectText(String(result?.result), "Hello from the model", "the result");
      expect(code === 0, `exit code ${code}`);
    },
    async stream(session) {
      const { messages, result } = await asked(session, "[[words 30]]", { includePartialMessages: true });
      const deltas = messages.filter(({ event }) => event?.delta?.type === "text_delta");
      expect(deltas.length > 1, `${deltas.length} deltas of text`);
      const text = deltas.map(({ event }) => event?.delta?.text).join("");
      expectText(text, "word29 word30", "the text of the deltas");
      expect(result?.is_error === false, "the result is an error");
    },
    async tools(session) {
      await toolTurn(session, ['Zürich "West"']);
    },
    async "parallel tools"(session) {
      await toolTurn(session, ["Bern", "Oslo"]);
    },
    async structured(session) {
      const schema = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
      const { result } = await asked(session, '[[tool StructuredOutput {"city":"Paris"}]]', {
        outputFormat: { type: "json_schema", schema },
      });
      const value = JSON.stringify(result?.structured_output);
      expect(value === '{"city":"Paris"}', `structured output ${value}`);
    },
    async reasoning(session) {
      const options = { includePartialMessages: true, maxThinkingTokens: 4_000, effort: "high" };
      const messages = await toolTurn(session, ["Bern"], options);
      expectThoughts(messages.some(({ event }) => event?.delta?.type === "thinking_delta"), session);
    },
    async error(session) {
      const { result, stdout } = await asked(session, "[[fail 400 The vendor does not like this]]");
      expectText(stdout, "The vendor does not like this");
      expect(result?.is_error !== false, "the result is no error");
    },
  },
};

/** The fields that are read of the SDK's messages, and the calls of the tool. */
interface SdkMessage {
  readonly type: string;
  readonly city?: string;
  readonly event?: { readonly delta?: { readonly type: string; readonly text?: string } };
  readonly is_error?: boolean;
  readonly result?: string;
  readonly structured_output?: unknown;
}

/** Lets the model call the tool for these cities. Returns the messages. */
async function toolTurn(session: Session, cities: readonly string[], options = {}): Promise<readonly SdkMessage[]> {
  const orders = cities.map((city) => `[[tool ${TOOL} ${JSON.stringify({ city })}]]`);
  const { messages, result } = await asked(session, `${orders.join(" ")} How is the weather?`, options);
  const called = messages.filter(({ type }) => type === "weather").map(({ city }) => city);
  expect(JSON.stringify(called.toSorted()) === JSON.stringify(cities), `cities asked for: ${JSON.stringify(called)}`);
  for (const city of cities) expectText(String(result?.result), `sunny in ${city}`, "the result");
  return messages;
}

async function asked(session: Session, prompt: string, options = {}) {
  const { address, key, model, cache } = session;
  const request = JSON.stringify({ prompt, options: { model, ...options } });
  const { code, stdout } = await session.run(["node", join(npmBin(cache, NAME), "..", "..", FILE), request], {
    env: {
      ANTHROPIC_BASE_URL: `${address}/msgcompat`,
      ANTHROPIC_AUTH_TOKEN: key,
      ANTHROPIC_DEFAULT_HAIKU_MODEL: model,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    },
  });
  const messages: readonly SdkMessage[] = jsonLines(stdout);
  return { code, stdout, messages, result: messages.find(({ type }) => type === "result") };
}
