import type { Limits } from "../../shapes.ts";

/** The lists among the limits. */
const LIST_FIELDS = ["models", "endpoints", "providers", "ip_allow"] as const;
/** The whole numbers among the limits. */
const NUMBER_FIELDS = ["rpm", "tpm", "concurrency"] as const;

/** The settings of a key or an account as texts, by the names of their fields. */
export type LimitTexts = Readonly<Record<string, string>>;

/** The settings that a form starts with. */
export type KnownSettings = Limits & {
  /** USD; of accounts. */
  readonly overdraft?: string;
  /** Whether nothing limits the balance; of accounts. */
  readonly unlimited?: boolean;
  /** Of accounts. */
  readonly notification_url?: string | null;
  /** Of accounts. */
  readonly webhook_format?: string;
};

const MS = 1_000;

/** The texts with which a form shows settings; empty ones without a setting. */
export function textsOf(settings: KnownSettings): LimitTexts {
  const { name, budget, capture, expires_at, metadata, overdraft, unlimited, notification_url, webhook_format } =
    settings;
  return {
    name: name ?? "",
    ...Object.fromEntries(LIST_FIELDS.map((field) => [field, settings[field]?.join(", ") ?? ""])),
    ...Object.fromEntries(NUMBER_FIELDS.map((field) => [field, String(settings[field] ?? "")])),
    budget: budget === null ? "" : plainAmount(budget.amount),
    per: budget?.per ?? "day",
    capture: capture ?? "",
    expires_at: expires_at ? new Date(expires_at * MS).toISOString().replace(".000Z", "Z") : "",
    metadata: Object.entries(metadata).map(([key, value]) => `${key}=${value}`).join("\n"),
    ...unlimited !== undefined && { balance: unlimited ? "unlimited" : "prepaid" },
    overdraft: overdraft === undefined || Number(overdraft) === 0 ? "" : plainAmount(overdraft),
    notification_url: notification_url ?? "",
    ...webhook_format !== undefined && { webhook_format },
  };
}

/** An amount without zeros at its end: `20.5`. */
function plainAmount(amount: string): string {
  return amount.replace(/\.?0+$/, "");
}

/**
 * The fields of a change, as the API reads them: those whose text differs from the one before. An empty text removes a
 * setting. What is not valid is left to the API, which names the field.
 */
export function changedFields(before: LimitTexts, after: LimitTexts): Record<string, unknown> {
  const changes: Record<string, unknown> = {};
  const textOf = (field: string) => (after[field] ?? before[field] ?? "").trim();
  const isChanged = (field: string) => textOf(field) !== (before[field] ?? "");
  const set = (field: string, value: (text: string) => unknown) => {
    if (isChanged(field)) changes[field] = textOf(field) === "" ? null : value(textOf(field));
  };
  set("name", (text) => text);
  for (const field of LIST_FIELDS) set(field, listIn);
  for (const field of NUMBER_FIELDS) set(field, (text) => /^\d+$/.test(text) ? Number(text) : text);
  set("capture", (text) => text);
  set("expires_at", (text) => text);
  set("metadata", (text) => Object.fromEntries(text.split("\n").filter((line) => line.trim() !== "").map(pairIn)));
  set("balance", (text) => text);
  set("overdraft", (text) => text);
  set("notification_url", (text) => text);
  set("webhook_format", (text) => text);
  if (isChanged("budget") || isChanged("per") && textOf("budget") !== "") {
    changes.budget = textOf("budget") === "" ? null : { amount: textOf("budget"), per: textOf("per") };
  }
  return changes;
}

/** The fields of a new key: without those that are empty. */
export function newFields(texts: LimitTexts): Record<string, unknown> {
  return changedFields(textsOf(NO_SETTINGS), texts);
}

const NO_SETTINGS: KnownSettings = {
  name: null,
  models: null,
  endpoints: null,
  providers: null,
  ip_allow: null,
  rpm: null,
  tpm: null,
  concurrency: null,
  budget: null,
  capture: null,
  expires_at: null,
  metadata: {},
};

/** The texts of a form that was sent. */
export function textsIn(fields: FormData): LimitTexts {
  return Object.fromEntries([...fields].map(([name, value]) => [name, String(value)]));
}

function listIn(text: string): string[] {
  return text.split(/[\s,]+/).filter((item) => item !== "");
}

function pairIn(line: string): [string, string] {
  const at = line.indexOf("=");
  return at === -1 ? [line.trim(), ""] : [line.slice(0, at).trim(), line.slice(at + 1).trim()];
}
