import { expectThoughts } from "./agent_scenarios.ts";
import { npmBin } from "./install.ts";
import { type ClientProgram, expect, expectText } from "./program.ts";
import type { ProgramOutput, Session } from "./session.ts";

const VERSION = "2.1.330";

/** Claude Code, without a terminal (`claude -p`). */
export const claudeCode: ClientProgram = {
  name: "Claude Code",
  version: VERSION,
  fast: true,
  install: (cache) => cache.npm("claude-code", [`@anthropic-ai/claude-code@${VERSION}`]),
  scenarios: {
    async plain(session) {
      const { code, stdout } = await claude(session, "[[say Hello from the model]]");
      expectText(stdout, "Hello from the model");
      expect(code === 0, `exit code ${code}`);
    },
    async stream(session) {
      const events = eventsIn(await claude(session, "[[words 30]]", STREAM));
      const deltas = events.filter(({ event }) => event?.delta?.type === "text_delta");
      expect(deltas.length > 1, `${deltas.length} deltas of text`);
      const text = deltas.map(({ event }) => event?.delta?.text).join("");
      expectText(text, "word29 word30", "the text of the deltas");
      expect(events.at(-1)?.is_error === false, "the result is an error");
    },
    async tools(session) {
      const prompt = '[[tool Bash {"command":"echo made by the tool","description":"Says it"}]]';
      const { stdout } = await claude(session, prompt, ["--allowedTools", "Bash"]);
      expectText(stdout, "The tool Bash answered: made by the tool");
      // Most of its tools are declared only after the model has searched for them.
      const search = await claude(session, '[[tool ToolSearch {"query":"select:WebFetch","max_results":1}]]');
      expectText(search.stdout, "The tool ToolSearch answered: WebFetch");
      expect(session.exchanges.every(({ status }) => status === 200), "a request with tools was refused");
    },
    async "parallel tools"(session) {
      const prompt = ["first", "second"].map((word) =>
        `[[tool Bash {"command":"echo the ${word} call","description":"Says it"}]]`
      ).join(" ");
      const { stdout } = await claude(session, prompt, ["--allowedTools", "Bash"]);
      expectText(stdout, "The tool Bash answered: the first call");
      expectText(stdout, "The tool Bash answered: the second call");
    },
    async structured(session) {
      const schema = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
      const prompt = '[[tool StructuredOutput {"city":"Paris"}]]';
      const { stdout } = await claude(session, prompt, [
        "--output-format",
        "json",
        "--json-schema",
        JSON.stringify(schema),
      ]);
      const { structured_output } = parsed(stdout);
      expect(structured_output?.city === "Paris", `structured output ${JSON.stringify(structured_output)}`);
    },
    async reasoning(session) {
      const prompt = '[[tool Bash {"command":"echo made by the tool","description":"Says it"}]]';
      const events = eventsIn(
        await claude(session, prompt, [...STREAM, "--allowedTools", "Bash", "--effort", "high"], {
          MAX_THINKING_TOKENS: "4000",
        }),
      );
      const deltas = events.filter(({ event }) => event?.delta?.type === "thinking_delta");
      expectText(String(events.at(-1)?.result), "The tool Bash answered: made by the tool", "the result");
      expectThoughts(deltas.length > 0, session);
    },
    async error(session) {
      const { code, stdout } = await claude(session, "[[fail 400 The vendor does not like this]]");
      expectText(stdout, "The vendor does not like this");
      expect(code !== 0, "exit code 0");
    },
  },
};

const STREAM = ["--output-format", "stream-json", "--include-partial-messages", "--verbose"];

function claude(session: Session, prompt: string, args: readonly string[] = [], env = {}): Promise<ProgramOutput> {
  const { address, key, model, cache } = session;
  return session.run(["claude", "-p", prompt, ...args], {
    path: [npmBin(cache, "claude-code")],
    env: {
      ANTHROPIC_BASE_URL: `${address}/msgcompat`,
      ANTHROPIC_AUTH_TOKEN: key,
      ANTHROPIC_MODEL: model,
      ANTHROPIC_DEFAULT_HAIKU_MODEL: model,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      ...env,
    },
  });
}

/** The fields that are read of the lines of `stream-json`. */
interface ClaudeEvent {
  readonly event?: { readonly delta?: { readonly type: string; readonly text?: string } };
  readonly is_error?: boolean;
  readonly result?: string;
}

function eventsIn({ stdout }: ProgramOutput): ClaudeEvent[] {
  return stdout.trim().split("\n").map((line) => parsed(line));
}

// deno-lint-ignore no-explicit-any
function parsed(text: string): any {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`the output is no JSON: ${text.slice(0, 120)}`);
  }
}
