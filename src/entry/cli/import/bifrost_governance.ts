import { isAccountId } from "../../../money/billing/accounts/account_id.ts";
import { accessOf } from "./bifrost_access.ts";
import { budgetOf, type CarriedLimit, ratesOf } from "./bifrost_limits.ts";
import type { CarriedProvider } from "./bifrost_provider.ts";
import type { ImportedConfig, Written } from "./imported_config.ts";
import { idIn, listIn, mapIn, type SourceMap, textIn } from "../../../vendors/prices/source_values.ts";

const MIN_KEY = 16;

/** What virtual keys are read with. */
export interface GovernanceContext {
  readonly config: ImportedConfig;
  /** The carried providers by their names in the source. */
  readonly providers: ReadonlyMap<string, CarriedProvider>;
  /** Whether an empty list stands for all. */
  readonly emptyAllowsAll: boolean;
}

interface Governance extends GovernanceContext {
  /** All budgets, each with the id of its owner, or named by its owner. */
  readonly budgets: readonly SourceMap[];
  readonly rates: readonly SourceMap[];
  readonly owners: ReadonlyMap<string, SourceMap>;
  /** The ids of virtual keys with limits of single models. */
  readonly modelLimited: ReadonlySet<string>;
}

/**
 * A virtual key becomes a key: of an account of its own, or of the account of its team or customer. A key whose limits
 * cannot be carried, or that may use nothing that is carried, is left out, because it would be wider than before.
 */
export function readGovernance(context: GovernanceContext, source: SourceMap): void {
  const { config } = context;
  const maps = (section: string) => listIn(source[section]).map(mapIn);
  const governance: Governance = {
    ...context,
    budgets: maps("budgets"),
    rates: maps("rate_limits"),
    owners: new Map(
      (["team", "customer"] as const).flatMap((kind) =>
        maps(`${kind}s`).map((owner): [string, SourceMap] => [`${kind} ${idIn(owner.id)}`, owner])
      ),
    ),
    modelLimited: new Set(
      maps("model_configs").flatMap((each) => each.scope === "virtual_key" ? idIn(each.scope_id) ?? [] : []),
    ),
  };
  const accounts = new Map<string, Account>();
  for (const [index, entry] of maps("virtual_keys").entries()) {
    readKey(governance, accounts, entry, `governance.virtual_keys[${index}]`);
  }
  for (const { id, place, settings, keys } of accounts.values()) {
    config.account({ id, ...(keys.length > 0 && { keys }), ...settings });
    config.drop(place, `the balance of the account "${id}" is 0: add to it by "switchyard accounts credit ${id} USD"`);
  }
  const read = ["virtual_keys", "budgets", "rate_limits", "teams", "customers"];
  for (const section of Object.keys(source)) {
    const count = listIn(source[section]).length + Object.keys(mapIn(source[section])).length;
    if (!read.includes(section) && count > 0) config.drop(`governance.${section}`, "it has no counterpart");
  }
}

interface Account extends Owner {
  /** Of its first key. */
  readonly place: string;
  readonly keys: Written[];
}

const READ = ["id", "name", "description", "value", "is_active", "expires_at", "calendar_aligned"];
const LIMITS = ["budget_id", "budget", "budgets", "rate_limit_id", "rate_limit", "team_id", "customer_id"];

function readKey(governance: Governance, accounts: Map<string, Account>, entry: SourceMap, place: string): void {
  const { config } = governance;
  const leaveOut = (why: string) => config.drop(place, `${why}; the key is left out`);
  const name = accountIdOf(textIn(entry.name) ?? idIn(entry.id));
  const value = textIn(entry.value);
  if (!isAccountId(name)) return leaveOut("it has no name");
  if (entry.is_active === false) return leaveOut("it is not active");
  if (value === null) return leaveOut("it has no value");
  if (config.variableIn(value) === null && value.length < MIN_KEY) {
    return leaveOut(`it is shorter than ${MIN_KEY} characters`);
  }
  if (entry.access_profile_id !== undefined) return leaveOut("its access profile is not in the file");
  if (governance.modelLimited.has(idIn(entry.id) ?? "")) {
    return leaveOut("limits of single models have no counterpart");
  }
  const expiry = expiryOf(entry.expires_at);
  if (expiry === undefined) return leaveOut("its expires_at is no time");
  const access = accessOf(governance, entry, place);
  if (access === null) return leaveOut("it may use nothing that is carried");
  const owner = ownerOf(governance, entry);
  if (typeof owner === "string") return leaveOut(owner);
  const limits = keyLimits(governance, entry, owner === null);
  if ("refused" in limits) return leaveOut(limits.refused);
  const account: Owner = owner ?? { id: name, source: place, settings: limits.account, narrowed: [] };
  const existing = accounts.get(account.id);
  if (existing !== undefined && existing.source !== account.source) {
    return leaveOut(`another account has the name "${account.id}"`);
  }
  for (const narrowed of [...account.narrowed, ...limits.narrowed]) config.drop(place, `narrower: ${narrowed}`);
  for (const field of Object.keys(entry)) {
    const isRead = [...READ, ...LIMITS, "provider_configs", "allow_all_providers"].includes(field);
    if (!isRead) config.drop(`${place}.${field}`, "it has no counterpart");
  }
  const key = {
    key: config.secret(value, `${name}_KEY`),
    name: name.slice(0, 60),
    ...(expiry !== null && { expires_at: expiry }),
    ...access,
    ...limits.key,
  };
  if (existing === undefined) {
    accounts.set(account.id, { ...account, place, keys: [key] });
  } else existing.keys.push(key);
}

function accountIdOf(name: string | null): string {
  return (name ?? "").replaceAll(/[^A-Za-z0-9._-]+/g, "-").slice(0, 64);
}

/** In Unix seconds; null for a key without an end, undefined for what is no time. */
function expiryOf(value: unknown): number | null | undefined {
  if (value === undefined || value === null || value === "") return null;
  const time = typeof value === "string" ? Date.parse(value) : Number.NaN;
  return Number.isNaN(time) || time <= 0 ? undefined : Math.floor(time / 1000);
}

/** Whose account it is: that of a team, of a customer or of one key. */
interface Owner {
  readonly id: string;
  /** Tells owners with the same name apart. */
  readonly source: string;
  readonly settings: Record<string, Written>;
  readonly narrowed: readonly string[];
}

/**
 * The account of the team or the customer of a key, with its limits; null for a key without one. A text says why it
 * cannot be carried.
 */
function ownerOf(governance: Governance, entry: SourceMap): Owner | string | null {
  const [kind, id] = idIn(entry.team_id) !== null
    ? ["team", idIn(entry.team_id)] as const
    : ["customer", idIn(entry.customer_id)] as const;
  if (id === null) return null;
  const owner = governance.owners.get(`${kind} ${id}`);
  if (owner === undefined) return `its ${kind} is not in the file`;
  const above = idIn(owner.customer_id);
  const customer = governance.owners.get(`customer ${above}`);
  if (above !== null && (customer === undefined || limitsOf(governance, customer, "customer").length > 0)) {
    return "the limits of the customer of its team have no counterpart";
  }
  if (owner.business_unit_id !== undefined) return "the business unit of its team has no counterpart";
  const account = accountIdOf(textIn(owner.name) ?? id);
  if (!isAccountId(account)) return `its ${kind} has no name`;
  const limits = limitsOf(governance, owner, kind);
  if (limits.filter((limit) => "fields" in limit && "budget" in limit.fields).length > 1) {
    return `its ${kind} has several budgets`;
  }
  const merged = mergedLimits(limits);
  return "refused" in merged
    ? `of its ${kind}, ${merged.refused}`
    : { id: account, source: `${kind} ${id}`, ...merged };
}

/** The budgets and rates of a key, a team or a customer. */
function limitsOf({ budgets, rates }: Governance, owner: SourceMap, kind: string): readonly CarriedLimit[] {
  const [id, budgetId, rateId] = [owner.id, owner.budget_id, owner.rate_limit_id].map(idIn);
  const own = owner.budget === undefined ? [] : [mapIn(owner.budget)];
  const owned = budgets.filter((budget) =>
    (budgetId !== null && idIn(budget.id) === budgetId) || (id !== null && idIn(budget[`${kind}_id`]) === id)
  );
  const rate = rateId === null ? mapIn(owner.rate_limit) : rates.find((each) => idIn(each.id) === rateId);
  return [
    ...(budgetId !== null && owned.length === 0 ? [{ refused: "its budget is not in the file" }] : []),
    ...[...owned, ...own, ...listIn(owner.budgets).map(mapIn)].map(budgetOf),
    ...(rate === undefined ? [{ refused: "its rate limit is not in the file" }] : [ratesOf(rate)]),
  ].filter((limit) => "refused" in limit || Object.keys(limit.fields).length > 0);
}

type MergedLimits =
  | { readonly settings: Record<string, Written>; readonly narrowed: readonly string[] }
  | { readonly refused: string };

function mergedLimits(limits: readonly CarriedLimit[]): MergedLimits {
  let settings: Record<string, Written> = {};
  const narrowed: string[] = [];
  for (const limit of limits) {
    if ("refused" in limit) return limit;
    settings = { ...settings, ...limit.fields };
    if (limit.narrowed !== null) narrowed.push(limit.narrowed);
  }
  return { settings, narrowed };
}

/** The limits of a key. A second budget is that of its account, if it has one for itself. */
function keyLimits(governance: Governance, entry: SourceMap, hasOwnAccount: boolean) {
  const limits = limitsOf(governance, entry, "virtual_key");
  const budgets = limits.filter((limit) => "fields" in limit && "budget" in limit.fields);
  if (budgets.length > (hasOwnAccount ? 2 : 1)) return { refused: "it has several budgets" };
  const second = budgets[1];
  const key = mergedLimits(limits.filter((limit) => limit !== second));
  const account = mergedLimits(second === undefined ? [] : [second]);
  if ("refused" in key) return key;
  if ("refused" in account) return account;
  return { key: key.settings, account: account.settings, narrowed: [...key.narrowed, ...account.narrowed] };
}
