import { TEXTS } from "../../texts.ts";
import { isJsonObject } from "../configuration/merge_patch.ts";

/** A setting of a new key. */
export interface KeyLine {
  readonly title: string;
  readonly text: string;
}

const { accounts } = TEXTS;

/** The titles of settings by the names of the API. */
const TITLES: Readonly<Record<string, string>> = {
  name: accounts.name,
  budget: accounts.budget,
  rpm: accounts.rpm,
  tpm: accounts.tpm,
  concurrency: accounts.concurrency,
  models: accounts.models,
  endpoints: accounts.endpoints,
  providers: accounts.providers,
  ip_allow: accounts.ipAllow,
  capture: accounts.capture,
  expires_at: accounts.expiresAt,
  metadata: accounts.metadataTitle,
};

/** The settings of a new key as lines, each with its title and its value. */
export function keyLines(fields: Readonly<Record<string, unknown>>): KeyLine[] {
  return Object.entries(fields).map(([name, value]) => ({ title: TITLES[name] ?? name, text: textOf(name, value) }));
}

function textOf(name: string, value: unknown): string {
  if (name === "budget" && isJsonObject(value)) return accounts.budgetText(`${value.amount} USD`, String(value.per));
  if (name === "capture") {
    const captures: Readonly<Record<string, string>> = accounts.captures;
    return captures[String(value)] ?? String(value);
  }
  if (Array.isArray(value)) return value.join(", ");
  if (isJsonObject(value)) return Object.entries(value).map(([key, each]) => `${key}=${each}`).join(", ");
  return String(value);
}
