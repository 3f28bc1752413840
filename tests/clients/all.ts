import { aider } from "./aider.ts";
import { claudeAgentSdk } from "./claude_agent_sdk.ts";
import { claudeCode } from "./claude_code.ts";
import { cline } from "./cline.ts";
import { codex } from "./codex.ts";
import { compiledClients } from "./compiled_clients.ts";
import { geminiCli } from "./gemini_cli.ts";
import { llm } from "./llm.ts";
import { nodeClients } from "./node_clients.ts";
import { openWebui } from "./open_webui.ts";
import { opencode } from "./opencode.ts";
import type { ClientProgram } from "./program.ts";
import { pythonClients } from "./python_clients.ts";
import { qwenCode } from "./qwen_code.ts";

/** Every program, in the order of the table. */
export const PROGRAMS: readonly ClientProgram[] = [
  claudeCode,
  claudeAgentSdk,
  ...codex,
  geminiCli,
  ...opencode,
  ...qwenCode,
  ...cline,
  ...aider,
  ...llm,
  openWebui,
  ...pythonClients,
  ...nodeClients,
  ...compiledClients,
];
