import type { JsonObject } from "../lib/json_object.ts";
import { camelCaseOf, walkRequest } from "./request_walk.ts";
import type { Form } from "./seal.ts";
import { isAbsent, isObject, objectsOf, textOf } from "./wire_value.ts";

/** A tool that a vendor runs itself and bills beside the tokens. */
export interface HostedTool {
  /** Without version and date: `web_search`, `file_search`, `code_interpreter`, `mcp`. */
  readonly name: string;
  /** Where it stands, in the caller's spelling: `tools[1]`. */
  readonly field: string;
}

/**
 * The hosted tools that a request offers, at any depth, in the order in which they stand. Tools that the caller runs are
 * not among them, and neither are those that vendors bill by tokens alone. A kind that is not known counts as hosted.
 * Source: the vendors' price lists of 2026-11.
 *
 * @param body The parsed request, checked or not.
 */
export function hostedToolsIn(form: Form, body: JsonObject): readonly HostedTool[] {
  const found: HostedTool[] = [];
  walkRequest(form, body, (member) => {
    const { name, value, depth } = member;
    if (depth > 0 && name !== "tools" || isAbsent(value)) return;
    if (name === "tools") {
      const tools = isObject(value) ? [value] : objectsOf(value);
      tools.forEach((tool, index) => {
        const field = Array.isArray(value) ? `${member.path()}[${index}]` : member.path();
        for (const hosted of namesOf(form, tool)) found.push({ name: hosted, field });
      });
    } else if (depth === 0) {
      for (const hosted of settingNames(name, value)) found.push({ name: hosted, field: member.path() });
    }
  });
  return found;
}

/** Kinds of tools that the caller runs, or that cost their tokens alone. */
const CALLER_RUN: Readonly<Record<Exclude<Form, "content">, RegExp>> = {
  chat: /^(function|custom)$/,
  responses:
    /^(function|custom|namespace|local_shell|apply_patch|computer(_use)?(_preview)?|tool_search|programmatic_tool_calling)$/,
  messages: /^(custom|(bash|text_editor|computer|memory|tool_search_tool_\w+|web_fetch|advisor)_\d+)$/,
};

/** The same of the content format, where a tool's kind is its key. */
const CALLER_RUN_KEYS: ReadonlySet<string> = new Set([
  "functionDeclarations",
  "computerUse",
  "codeExecution",
  "urlContext",
]);

const KEY_NAMES: Readonly<Record<string, string>> = {
  googleSearch: "web_search",
  googleSearchRetrieval: "web_search",
  enterpriseWebSearch: "web_search",
  mcpServers: "mcp",
};

function namesOf(form: Form, tool: JsonObject): readonly string[] {
  if (form === "content") {
    const keys = Object.keys(tool).filter((key) => !isAbsent(tool[key])).map(camelCaseOf);
    return keys.filter((key) => !CALLER_RUN_KEYS.has(key)).map((key) => KEY_NAMES[key] ?? snakeCaseOf(key));
  }
  const kind = isAbsent(tool.type) ? (form === "messages" ? "custom" : "function") : textOf(tool.type);
  if (CALLER_RUN[form].test(kind)) return [];
  if (kind === "shell" && !isHostedShell(tool)) return [];
  return [nameOf(kind, tool)];
}

/** A shell runs with the caller unless an environment of the vendor is named. */
function isHostedShell({ environment }: JsonObject): boolean {
  return isObject(environment) ? environment.type !== "local" : !isAbsent(environment);
}

function nameOf(kind: string, tool: JsonObject): string {
  if (kind === "builtin_function" && isObject(tool.function)) return nameOf(textOf(tool.function.name), {});
  if (kind === "mcp_toolset") return "mcp";
  if (kind === "live_search") return "web_search";
  const plain = kind.toLowerCase().replace(/^\$/, "").replace(/_\d{4}_?\d{2}_?\d{2}$/, "").replace(/_preview$/, "");
  return /^[a-z0-9_.-]{1,64}$/.test(plain) ? plain : "unknown_tool";
}

function snakeCaseOf(key: string): string {
  return nameOf(key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), {});
}

/** Hosted tools that are switched on by a member of the request itself. */
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
