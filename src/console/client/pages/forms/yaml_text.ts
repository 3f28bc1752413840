import { isJsonObject } from "../configuration/merge_patch.ts";

const INDENT = "  ";
/** Texts that YAML reads as themselves. Source: YAML 1.2.2, "Plain Style" and "Core Schema". */
const PLAIN = /^(?!(?:true|false|null|yes|no|on|off)$)(?:[a-z_][\w./:@+-]*|\$\{\w+\})$/i;

/** JSON as YAML, for a part of a configuration file. It ends with a line end. */
export function yamlText(value: unknown): string {
  return `${linesOf(value).join("\n")}\n`;
}

function linesOf(value: unknown): string[] {
  if (Array.isArray(value) && value.length > 0 && value.some((each) => isJsonObject(each))) {
    return value.flatMap((each) => linesOf(each).map((line, place) => `${place === 0 ? "- " : INDENT}${line}`));
  }
  if (!isJsonObject(value) || Object.keys(value).length === 0) return [scalarOf(value)];
  return Object.entries(value).flatMap(([name, each]) => {
    const lines = linesOf(each);
    const key = scalarOf(name);
    return isBlock(each) ? [`${key}:`, ...lines.map((line) => INDENT + line)] : [`${key}: ${lines.join("")}`];
  });
}

function isBlock(value: unknown): boolean {
  if (Array.isArray(value)) return value.some((each) => isJsonObject(each));
  return isJsonObject(value) && Object.keys(value).length > 0;
}

function scalarOf(value: unknown): string {
  if (typeof value === "string") return PLAIN.test(value) && !value.endsWith(":") ? value : JSON.stringify(value);
  return Array.isArray(value) ? `[${value.map(scalarOf).join(", ")}]` : JSON.stringify(value);
}
