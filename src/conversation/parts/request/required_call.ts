import type { ToolChoice } from "../../neutral/conversation.ts";

/** Whether the caller requires a tool call. */
export function requiresCall(choice: ToolChoice | null): boolean {
  return choice?.kind === "required" || choice?.kind === "tool" ||
    (choice?.kind === "allowed" && choice.mode === "required");
}
