import { claudeCode } from "./claude_code.ts";
import { codex } from "./codex.ts";
import type { ClientProgram } from "./program.ts";

/** Every program, in the order of the table. */
export const PROGRAMS: readonly ClientProgram[] = [
  claudeCode,
  codex,
];
