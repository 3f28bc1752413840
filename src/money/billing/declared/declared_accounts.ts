import { GatewayError } from "../../../platform/lib/basics/gateway_error.ts";
import type { Store } from "../../../platform/store/store.ts";
import { hashOfKey } from "../keys/api_key.ts";
import type { ConfiguredAccount, ConfiguredKey } from "./configured_accounts.ts";
import type { AccountChanges } from "../accounts/key_settings.ts";
import { keyKey, type KeyRecord } from "../accounts/records.ts";
import { PREPAID, UNLIMITED } from "../accounts/unlimited_balance.ts";

/** Fields of an account or a key, by the names that operators use. Undefined ones are not given. */
export type GivenFields = Readonly<Record<string, unknown>>;

/**
 * What a configuration file declares of accounts and keys, which only the file changes. An opening balance and an
 * opening webhook secret are not among it, as the file sets them once. Source: docs/decisions/0074-owned-fields.md.
 */
export class DeclaredAccounts {
  readonly #accounts: ReadonlyMap<string, ConfiguredAccount>;

  /** @param accounts Those without `declaredAt` are in no file, and declare nothing. */
  constructor(accounts: readonly ConfiguredAccount[], private readonly store: Pick<Store, "get">) {
    this.#accounts = new Map(accounts.map((account) => [account.id, account]));
  }

  /**
   * Refuses the change of fields of an account.
   *
   * @throws {GatewayError} `conflict`, with the file and the path of the first declared field.
   */
  refuseAccountFields(id: string, given: GivenFields): void {
    const account = this.#accounts.get(id);
    if (account?.declaredAt === undefined) return;
    const { declaredAt, allowBuckets, settings = {} } = account;
    refuseFields(withReplaced(given, settings), { ...settings, allow_buckets: allowBuckets }, declaredAt);
  }

  /**
   * Refuses the change of fields of a key.
   *
   * @throws {GatewayError} `conflict`, with the file and the path of the first declared field.
   */
  async refuseKeyFields(account: string, id: string, given: GivenFields): Promise<void> {
    const declared = await this.#keyOf(account, id);
    if (declared !== null) refuseFields(given, { ...declared.settings }, declared.declaredAt);
  }

  /**
   * Refuses the revocation of a key. The file would still declare it.
   *
   * @throws {GatewayError} `conflict`, with the file and the path of the key.
   */
  async refuseRevocation(account: string, id: string): Promise<void> {
    const declared = await this.#keyOf(account, id);
    if (declared === null) return;
    throw new GatewayError(
      "conflict",
      `Cannot revoke the key, which the configuration file declares (${declared.declaredAt}): remove it there and ` +
        "reload the configuration",
    );
  }

  /**
   * Refuses the erasure of an account that the file declares.
   *
   * @throws {GatewayError} `conflict`, with the file and the path of the account.
   */
  refuseErasure(id: string): void {
    const declaredAt = this.#accounts.get(id)?.declaredAt;
    if (declaredAt === undefined) return;
    throw new GatewayError(
      "conflict",
      `Cannot erase the account, which the configuration file declares (${declaredAt}): remove it there and reload ` +
        "the configuration",
    );
  }

  async #keyOf(account: string, id: string): Promise<Pick<ConfiguredKey, "settings"> & { declaredAt: string } | null> {
    const { declaredAt, keys = [] } = this.#accounts.get(account) ?? {};
    if (declaredAt === undefined || keys.length === 0) return null;
    const [entry] = await this.store.get<KeyRecord>([keyKey(account, id)]);
    if (!entry) return null;
    const index = keys.findIndex((key) => hashOfKey(typeof key === "string" ? key : key.secret) === entry.value.hash);
    const key = keys[index];
    if (key === undefined) return null;
    return { settings: typeof key === "string" ? {} : key.settings, declaredAt: `${declaredAt}.keys[${index}]` };
  }
}

/** An overdraft ends a balance without a limit, and such a balance ends an overdraft. */
function withReplaced(given: GivenFields, declared: AccountChanges): GivenFields {
  if (given.balance === UNLIMITED) return { overdraft: UNLIMITED, ...given };
  return declared.balance === UNLIMITED && given.overdraft !== undefined ? { balance: PREPAID, ...given } : given;
}

function refuseFields(given: GivenFields, declared: GivenFields, declaredAt: string): void {
  const field = Object.keys(given).find((name) => given[name] !== undefined && declared[name] !== undefined);
  if (field === undefined) return;
  throw new GatewayError(
    "conflict",
    `Cannot change "${field}", which the configuration file declares (${declaredAt}.${field}): change it there and ` +
      "reload the configuration",
    { field },
  );
}
