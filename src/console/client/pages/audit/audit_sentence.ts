import { dollars } from "../../format.ts";
import type { AuditEntry } from "../../shapes.ts";
import { TEXTS } from "../../texts.ts";

const ROOT = "/admin/v1/";

/** What an entry of the audit log says that its actor did: `set the budget of the key key_1 to $1.00 per day`. */
export function auditSentence(entry: Pick<AuditEntry, "method" | "path" | "before" | "after">): string {
  const { method, path } = entry;
  const [pathname = ""] = path.split("?");
  if (!pathname.startsWith(ROOT)) return TEXTS.audit.sentences.changedConfiguration(path, method);
  const parts = pathname.slice(ROOT.length).split("/").map(decoded);
  return sentenceOf(method, parts, entry) ?? `${method} ${path}`;
}

type Values = Pick<AuditEntry, "before" | "after">;

function sentenceOf(method: string, parts: readonly string[], values: Values): string | null {
  const [area = "", id = "", part = "", ...rest] = parts;
  const { sentences } = TEXTS.audit;
  if (area === "config") return configSentence(method, parts.slice(1));
  if (area === "accounts" && part === "keys") return keySentence(method, id, rest, values);
  if (area === "accounts" && part === "") {
    if (method === "POST") return sentences.created(TEXTS.audit.things.account(textOf(values.after?.id)));
    return changeOf(TEXTS.audit.things.account(id), values);
  }
  const named = Object.entries(sentences.by).find(([name]) => name === `${method} ${area}${part && `/${part}`}`);
  return named?.[1](id || textOf(values.after?.name)) ?? null;
}

function keySentence(method: string, account: string, [key = "", action = ""]: readonly string[], values: Values) {
  const { sentences, things } = TEXTS.audit;
  if (key === "") return sentences.created(things.keyOf(textOf(values.after?.name ?? values.after?.id), account));
  if (action === "rotate") return sentences.rotated(things.keyOf(key, account));
  if (method === "DELETE") return sentences.revoked(things.keyOf(key, account));
  return changeOf(things.keyOf(key, account), values);
}

function configSentence(method: string, [first = "", ...rest]: readonly string[]): string {
  const { sentences } = TEXTS.audit;
  if (first === "reload") return sentences.reloaded;
  if (first === "versions") return sentences.rolledBack(rest[0] ?? "");
  if (first === "") return sentences.replacedSettings;
  const name = [first, ...rest].join(".");
  return method === "DELETE" ? sentences.removedSetting(name) : sentences.wroteSetting(name);
}

/** The fields that were set, or the names of the fields if there are many. */
function changeOf(thing: string, { before, after }: Values): string {
  const { sentences } = TEXTS.audit;
  const fields = Object.entries(after ?? {}).filter(([name, value]) =>
    JSON.stringify(value) !== JSON.stringify(before?.[name] ?? null)
  );
  const [only] = fields;
  if (only === undefined) return sentences.changed(thing);
  if (fields.length > 1) return sentences.changedFields(fields.map(([name]) => name).join(", "), thing);
  const [name, value] = only;
  return value === null ? sentences.cleared(name, thing) : sentences.set(name, thing, shownValue(value));
}

function shownValue(value: unknown): string {
  if (typeof value === "object" && value !== null && "amount" in value && "per" in value) {
    return TEXTS.accounts.budgetText(dollars(String(value.amount)), String(value.per));
  }
  return typeof value === "string" ? value : JSON.stringify(value);
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
