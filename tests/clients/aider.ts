import { join } from "node:path";
import { expectThoughts } from "./agent_scenarios.ts";
import { pythonBin } from "./install.ts";
import { type ClientProgram, expect, expectText } from "./program.ts";
import type { ProgramOutput, RunOptions, Session } from "./session.ts";

const VERSION = "0.86.2";

interface Way {
  /** The prefix that selects a wire format in LiteLLM, the library by which aider calls vendors. */
  readonly prefix: string;
  /** Options that make a model think which aider does not know. */
  readonly thinks: readonly string[];
  env(session: Session): Record<string, string>;
}

/** aider, without a terminal (`aider --message`), with each wire format that accepts an address. */
export const aider: readonly ClientProgram[] = [
  program({
    prefix: "openai",
    thinks: ["--reasoning-effort", "high"],
    env: ({ address, key }) => ({ OPENAI_API_BASE: `${address}/v1`, OPENAI_API_KEY: key }),
  }),
  program({
    prefix: "anthropic",
    thinks: ["--thinking-tokens", "2048"],
    env: ({ address, key }) => ({ ANTHROPIC_API_BASE: `${address}/msgcompat`, ANTHROPIC_API_KEY: key }),
  }),
  program({
    prefix: "gemini",
    thinks: ["--thinking-tokens", "2048"],
    env: ({ address, key }) => ({ GEMINI_API_BASE: `${address}/gencompat/v1beta`, GEMINI_API_KEY: key }),
  }),
];

/** The reply that the model is directed to give: an edit in aider's own format. */
const EDIT = `Here it is.

hello.txt
\`\`\`
<<<<<<< SEARCH
=======
Hello from the model
>>>>>>> REPLACE
\`\`\``;

function program(way: Way): ClientProgram {
  const run = (session: Session, prompt: string, args: readonly string[] = [], options: RunOptions = {}) =>
    aiderRun(session, way, ["--message", prompt, ...args], options);
  return {
    name: `aider, ${way.prefix}/`,
    version: VERSION,
    fast: false,
    install: (cache) => cache.python("aider", [`aider-chat==${VERSION}`]),
    scenarios: {
      async plain(session) {
        const { code, stdout } = await run(session, `[[say ${EDIT}]]`, ["--no-stream", "--edit-format", "diff"]);
        expect(code === 0, `exit code ${code}`);
        const written = await Deno.readTextFile(join(session.work, "hello.txt")).catch(() => `no file: ${stdout}`);
        expectText(written, "Hello from the model", "the edited file");
      },
      async stream(session) {
        const pieces: string[] = [];
        const onOutput = (piece: string) => void pieces.push(piece);
        await run(session, "[[gap 20]] [[words 30]]", ["--stream", "--edit-format", "ask"], { onOutput });
        expectText(pieces.join(""), "word29 word30", "the answer");
        expect(pieces.some((piece) => /word\d/.test(piece) && !/word1 .*word30/s.test(piece)), "one piece of answer");
      },
      tools: "no tools; edits are text",
      "parallel tools": "no tools; edits are text",
      structured: "no such option",
      async reasoning(session) {
        const args = ["--no-stream", "--no-check-model-accepts-settings", ...way.thinks];
        const { stdout } = await run(session, "Say hello", args);
        expectThoughts(stdout.includes("Let me think about this"), session);
      },
      async error(session) {
        const { stdout, stderr } = await run(session, "[[fail 400 The vendor does not like this]]", ["--no-stream"]);
        expectText(stdout + stderr, "The vendor does not like this");
      },
    },
  };
}

async function aiderRun(
  session: Session,
  way: Way,
  args: readonly string[],
  options: RunOptions,
): Promise<ProgramOutput> {
  const { cache, model } = session;
  const quiet = ["--yes-always", "--no-pretty", "--analytics-disable", "--no-check-update", "--no-show-model-warnings"];
  return await session.run(["aider", "--model", `${way.prefix}/${model}`, ...quiet, ...args], {
    ...options,
    path: [pythonBin(cache, "aider")],
    env: { ...way.env(session), LITELLM_LOCAL_MODEL_COST_MAP: "True" },
  });
}
