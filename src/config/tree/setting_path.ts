import { isAliasName } from "../../vendors/catalog/alias_name.ts";

/** The path of a value: `["providers", "openai", "api_key"]`. */
export type Path = readonly PropertyKey[];

/** Fields whose values are never printed, wherever they are. */
export const SECRET_FIELDS: ReadonlySet<PropertyKey> = new Set<PropertyKey>([
  "api_key",
  "secret_key",
  "report_key",
  "client_secret",
  "secret",
  "service_account",
  "session_token",
  "keys",
  "admin_key",
  "key",
  "webhook_secret",
  "headers",
]);

/**
 * Whether values at a path are never shown: a known secret, or a field whose name says that it is one. A list of keys
 * can contain keys with settings; of these, only the field `key` is secret.
 */
export function isSecretPath(path: Path): boolean {
  return path.some((part, index) => {
    if (/(^|_)keys$/.test(String(part))) return typeof path[index + 1] !== "number" || index + 2 >= path.length;
    return SECRET_FIELDS.has(part) || /(^|_)(key|secret|token|password)$/.test(String(part));
  });
}

/** A path in the usual notation: `accounts[0].keys[1]`. A part that could be a misplaced secret is hidden. */
export function pathText(path: Path): string {
  let text = "";
  for (const [index, part] of path.entries()) {
    if (typeof part === "number") text += `[${part}]`;
    else {
      const isShown = canBeShown(String(part)) || (index === 1 && path[0] === "aliases" && isModelName(String(part)));
      const name = isShown ? String(part) : "(hidden)";
      text += text === "" ? name : `.${name}`;
    }
  }
  return text;
}

/** A text in quotes if it can be shown, else its length. */
export function shownText(value: string): string {
  return canBeShown(value) ? `"${value}"` : `text of ${value.length} characters`;
}

/** Whether a text is short and consists of ordinary words. Text that resembles a key or a password is not printed. */
function canBeShown(value: string): boolean {
  if (value.length > 48 || !/^[\w .:/,+${}*-]*$/.test(value) || value.includes("sk-")) return false;
  return !(value.match(/[\w-]{16,}/g) ?? []).some((run) => run.length >= 24 || /\d/.test(run));
}

/**
 * Whether a text has the form of a model name. Such names contain dates and can be long, but consist of short words:
 * `claude-sonnet-5-20260630`.
 */
function isModelName(value: string): boolean {
  return isAliasName(value) && !value.includes("sk-") && !/[A-Za-z0-9]{16,}/.test(value);
}
