import type { JsonObject } from "../../platform/lib/json/json_object.ts";
import type { RequestGrammar } from "./request_grammar.ts";
import type { RequestMember } from "./request_walk.ts";
import { isAbsent, isObject, objectsOf, textOf } from "../neutral/wire_value.ts";

/** A tool that a vendor runs itself and bills in addition to tokens. */
export interface HostedTool {
  /** Without version and date: `web_search`, `file_search`, `code_interpreter`, `mcp`. */
  readonly name: string;
  /** Its path in the request, in the caller's spelling: `tools[1]`. */
  readonly field: string;
}

/**
 * Adds the hosted tools that one member of a request offers. Excludes tools that the caller runs and tools that vendors
 * bill by tokens only. An unknown kind of tool counts as hosted.
 * Source: the vendors' price lists of 2026-11.
 */
export function noteHostedTools(grammar: RequestGrammar, member: RequestMember, found: HostedTool[]): void {
  const { name, value, depth } = member;
  if (depth > 0 && name !== "tools" || isAbsent(value)) return;
  if (name === "tools") {
    const tools = isObject(value) ? [value] : objectsOf(value);
    tools.forEach((tool, index) => {
      const field = Array.isArray(value) ? `${member.path()}[${index}]` : member.path();
      for (const hosted of grammar.hostedToolNames(tool)) found.push({ name: hosted, field });
    });
  } else if (depth === 0) {
    for (const hosted of settingNames(name, value)) found.push({ name: hosted, field: member.path() });
  }
}

/**
 * The names of a tool with its kind in `type`, as the formats of OpenAI and Anthropic have it; empty when the caller
 * runs it.
 *
 * @param defaultKind The kind of a tool without `type`.
 * @param callerRun Kinds that the caller runs, or that are billed by tokens only.
 */
export function hostedNamesByType(tool: JsonObject, defaultKind: string, callerRun: RegExp): readonly string[] {
  const kind = isAbsent(tool.type) ? defaultKind : textOf(tool.type);
  if (callerRun.test(kind)) return [];
  if (kind === "shell" && !isHostedShell(tool)) return [];
  return [hostedToolName(kind, tool)];
}

/** A shell runs on the caller's side unless the request names an environment of the vendor. */
function isHostedShell({ environment }: JsonObject): boolean {
  return isObject(environment) ? environment.type !== "local" : !isAbsent(environment);
}

/** Whether a kind of tool names the vendor that runs it, as OpenRouter's do: `openrouter:web_search`. */
export function isPrefixedTool(kind: string): boolean {
  return /^[a-z]+:/.test(kind);
}

/** The name of a kind of tool in permissions and prices: without version and date. */
export function hostedToolName(kind: string, tool: JsonObject = {}): string {
  if (kind === "builtin_function" && isObject(tool.function)) return hostedToolName(textOf(tool.function.name));
  if (kind === "mcp_toolset") return "mcp";
  if (kind === "live_search") return "web_search";
  const plain = kind.toLowerCase().replace(/^\$/, "").replace(/_\d{4}_?\d{2}_?\d{2}$/, "").replace(/_preview$/, "");
  return /^[a-z0-9_.-]{1,64}$/.test(plain) ? plain : "unknown_tool";
}

/** Hosted tools that a top-level member of the request enables. */
function settingNames(name: string, value: unknown): readonly string[] {
  switch (name) {
    case "webSearchOptions":
      return ["web_search"];
    case "searchParameters":
      return isObject(value) && value.mode === "off" ? [] : ["web_search"];
    case "enableSearch":
      return value === false ? [] : ["web_search"];
    case "mcpServers":
      return Array.isArray(value) && value.length === 0 ? [] : ["mcp"];
    case "plugins":
      return Array.isArray(value) && value.length === 0 ? [] : ["plugins"];
    default:
      return [];
  }
}
