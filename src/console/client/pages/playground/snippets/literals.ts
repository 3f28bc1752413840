import type { JsonObject } from "../../../json.ts";

/** JSON as a literal of Python. Strings of JSON are strings of Python as well. */
export function pythonLiteral(value: unknown): string {
  if (value === true) return "True";
  if (value === false) return "False";
  if (value === null || value === undefined) return "None";
  if (typeof value !== "object") return JSON.stringify(value);
  return Array.isArray(value)
    ? bracketed("[", value.map(pythonLiteral), "]")
    : bracketed("{", entriesOf(value).map(([name, each]) => `${JSON.stringify(name)}: ${pythonLiteral(each)}`), "}");
}

/** The members of an object as arguments of a call in Python, one on a line. */
export function pythonArguments(body: JsonObject): string {
  return bracketed("(", entriesOf(body).map(([name, value]) => `${name}=${pythonLiteral(value)}`), ")");
}

/** JSON as a literal of TypeScript, with names without quotes where possible. */
export function typescriptLiteral(value: unknown): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "undefined";
  return Array.isArray(value)
    ? bracketed("[", value.map(typescriptLiteral), "]")
    : bracketed("{", entriesOf(value).map(([name, each]) => `${nameOf(name)}: ${typescriptLiteral(each)}`), "}");
}

/** An object as a literal of TypeScript, with members that the types of its receiver lack. */
export function typescriptObject(known: JsonObject, untyped: JsonObject): string {
  const members = entriesOf(known).map(([name, value]) => `${nameOf(name)}: ${typescriptLiteral(value)}`);
  // Members of a spread object are not compared with the type.
  const spread = entriesOf(untyped).map(([name, value]) => `...${typescriptLiteral({ [name]: value })}`);
  return bracketed("{", [...members, ...spread], "}");
}

function nameOf(name: string): string {
  // In a literal, this name sets the prototype.
  if (name === "__proto__") return '["__proto__"]';
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
}

function entriesOf(value: object): [string, unknown][] {
  return Object.entries(value).filter(([, each]) => each !== undefined);
}

/** What fits into a line is in one. */
const MAX_LINE = 60;

function bracketed(open: string, items: readonly string[], close: string): string {
  const line = `${open}${items.join(", ")}${close}`;
  if (items.length === 0 || (open !== "(" && line.length <= MAX_LINE && !line.includes("\n"))) return line;
  return `${open}\n${items.map((item) => `    ${item.replaceAll("\n", "\n    ")},\n`).join("")}${close}`;
}
