import { isDeepStrictEqual } from "node:util";
import { AuditLog } from "../../../observers/audit/audit_log.ts";
import { foreignKeysOf, revokeDroppedKeys } from "../../../money/billing/declared/dropped_keys.ts";
import type { Config, LoadedConfig } from "../../../config/config.ts";
import type { StoredConfig } from "../../../config/tree/plain_tree.ts";
import { type ConfigDiff, diffOf, isEmptyDiff } from "../../../config/diff/config_diff.ts";
import { ConfigError } from "../../../config/tree/config_error.ts";
import type { Section } from "../../../config/tree/section.ts";
import { camelCase } from "../../../platform/lib/settings/camel_case.ts";
import { summaryOf } from "../../../config/diff/diff_summary.ts";
import { recordSettings } from "../../../config/diff/recorded_settings.ts";
import {
  addStoredVersion,
  listStoredVersions,
  readCurrentVersion,
  readStoredConfig,
  readStoredVersion,
  type StoredVersion,
} from "../../../config/diff/stored_config.ts";
import { GatewayError } from "../../../platform/lib/basics/gateway_error.ts";
import { errorName, type Log } from "../../../platform/lib/basics/log.ts";
import type { MaybePromise } from "../../../platform/lib/basics/maybe_promise.ts";
import type { Store } from "../../../platform/store/store.ts";
import type { KeyRing } from "../../../money/billing/keys/key_ring.ts";
import { ensureAuditedAccounts } from "../opening/audited_accounts.ts";
import { auditedChange, beginConfigChange, type ChangeOrigin } from "../opening/audited_config.ts";
import { type StartedConfig, withDatedHalts } from "../opening/start_config.ts";

/** The result of a change. */
export interface AppliedChange {
  readonly diff: ConfigDiff;
  /** The version of the settings in the store; 0 if there are none. */
  readonly version: number;
  /** The public ids of the keys that the file no longer declares. They are revoked. */
  readonly revokedKeys: readonly string[];
}

/** Gives the new settings of the store for those before. */
export type StoredChange = (content: StoredConfig, inForce: LoadedConfig) => StoredConfig;

/** Options of a change. */
export interface ChangeOptions {
  /** Who makes the change: the name of an admin key, or `SIGHUP`. */
  readonly by: string;
  /** Whether only the difference is returned. Default: false. */
  readonly isDryRun?: boolean;
  /** Records the change in the audit log. Default: a request of the admin API makes it, which has an entry. */
  readonly origin?: ChangeOrigin;
}

/** The parts of the gateway whose configuration changes. */
export interface ChangedGateway {
  readonly services: {
    readonly store: Store;
    readonly keys: KeyRing;
    readonly log: Log;
    /** The configuration in force. */
    readonly config: Pick<Config, "providers">;
  };
  /** Replaces the configuration in force, see `LiveGateway.replace`. */
  replace(config: Config, beforeSwap: () => Promise<void>): Promise<void>;
}

/** The changes of the configuration of a running gateway, one after the other. */
export class ConfigChanges {
  readonly #started: StartedConfig;
  readonly #gateway: ChangedGateway;
  #inForce: LoadedConfig;
  #version: number;
  #last: Promise<unknown> = Promise.resolve();

  constructor(gateway: ChangedGateway, started: StartedConfig) {
    this.#gateway = gateway;
    this.#started = started;
    this.#inForce = started.loaded;
    this.#version = started.version;
  }

  /** The configuration in force. */
  get inForce(): LoadedConfig {
    return this.#inForce;
  }

  /** The version of the settings in the store that is in force; 0 for none. */
  get version(): number {
    return this.#version;
  }

  /** The absolute path of the configuration file; null without one. */
  get path(): string | null {
    return this.#started.source.path;
  }

  /**
   * Reads the file and the settings of the store again, and puts them in force.
   *
   * @throws {ConfigError} With all problems. The configuration in force stays.
   */
  reload(options: ChangeOptions): Promise<AppliedChange> {
    return this.#inTurn(async () => {
      const { version, content } = await readStoredConfig(this.#store);
      return await this.#apply(await this.#load(content), version, options);
    }, options);
  }

  /**
   * Reads the settings of the store again, and puts them in force if another gateway has changed them.
   *
   * @throws {ConfigError} As {@linkcode ConfigChanges.reload}.
   */
  async follow(): Promise<void> {
    await this.#last;
    if (await readCurrentVersion(this.#store) === this.#version) return;
    await this.reload({ by: "another gateway", origin: "FOLLOW" });
  }

  /**
   * Changes the settings in the store and puts them in force, as a new version.
   *
   * @throws {ConfigError} With all problems. Neither the store nor the configuration in force has changed then.
   * @throws {GatewayError} What `change` throws; `invalid_request` if the settings exceed the store's limit; `conflict`
   * if another node changed them meanwhile.
   */
  change(change: StoredChange, { by, isDryRun = false }: ChangeOptions): Promise<AppliedChange> {
    return this.#inTurn(async () => {
      const before = await readStoredConfig(this.#store);
      const content = change(before.content, this.#inForce);
      return await this.#apply(await this.#load(content), before.version + 1, { by, isDryRun, content });
    }, { by, isDryRun });
  }

  /** Lists versions of the settings in the store, newest first. */
  versions(page: { readonly limit: number; readonly before?: number }): Promise<StoredVersion[]> {
    return listStoredVersions(this.#store, page);
  }

  /** A version; null if it does not exist or is no longer kept. */
  find(version: number): Promise<StoredVersion | null> {
    return readStoredVersion(this.#store, version);
  }

  get #store() {
    return this.#gateway.services.store;
  }

  #load(content: StoredConfig): MaybePromise<LoadedConfig> {
    return this.#started.source.load(content);
  }

  async #apply(
    loaded: LoadedConfig,
    version: number,
    { by, isDryRun, origin, content }: ChangeOptions & { readonly content?: StoredConfig },
  ): Promise<AppliedChange> {
    const before = this.#inForce;
    const diff = diffOf(before.tree, loaded.tree, this.#started.loaded.tree);
    await this.#refuseForeignKeys(loaded);
    if (isDryRun === true) return { diff, version, revokedKeys: [] };
    const live = keepRestartSettings(loaded, this.#started.loaded.config);
    const config = withDatedHalts(live, this.#gateway.services.config, this.#store.now());
    const audit = new AuditLog(this.#store, config.retention.auditMs);
    const entry = origin === undefined || !await this.#needsEntry(origin, version, diff)
      ? null
      : await beginConfigChange(audit, origin);
    let revokedKeys: readonly string[] = [];
    await this.#gateway.replace(config, async () => {
      if (content !== undefined) await this.#keep({ version, at: this.#store.now(), by, diff, content });
      const { store, keys } = this.#gateway.services;
      await ensureAuditedAccounts({ store, audit, accounts: config.accounts });
      revokedKeys = await revokeDroppedKeys(keys, store, {
        before: before.config.accounts,
        after: config.accounts,
      });
      for (const { id } of config.accounts) keys.evictAccount(id);
    }).catch(async (error) => {
      await entry?.refused();
      throw error;
    });
    this.#inForce = { ...loaded, config };
    this.#version = version;
    this.#started.setLogLevel(config.logs.level);
    await entry?.done(auditedChange({ file: this.path, version, diff, revokedKeys }));
    await (await recordSettings(this.#store, loaded.tree, this.#started.loaded.tree)).save();
    return { diff, version, revokedKeys };
  }

  /** What another gateway stored has an entry of that gateway's admin API, unless the file here changed too. */
  async #needsEntry(origin: ChangeOrigin, version: number, diff: ConfigDiff): Promise<boolean> {
    if (isEmptyDiff(diff)) return false;
    if (origin !== "FOLLOW") return true;
    const stored = (await readStoredVersion(this.#store, version))?.diff ?? null;
    return stored === null || !isDeepStrictEqual({ ...stored, restart: [] }, { ...diff, restart: [] });
  }

  async #keep(version: StoredVersion): Promise<void> {
    const { maxValueBytes } = this.#store.limits;
    try {
      if (await addStoredVersion(this.#store, version)) return;
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      throw new GatewayError(
        "invalid_request",
        `The settings in the store and the difference exceed ${maxValueBytes} bytes: declare models in the file`,
      );
    }
    throw new GatewayError("conflict", "Another change of the configuration was stored first: repeat the request");
  }

  /** @throws {ConfigError} If a configured key belongs to another account. */
  async #refuseForeignKeys({ config, tree }: LoadedConfig): Promise<void> {
    const foreign = await foreignKeysOf(this.#store, config.accounts);
    if (foreign.length === 0) return;
    throw new ConfigError(
      foreign.map(({ account, key, owner }) =>
        `${tree.source}: accounts[${account}].keys[${key}]: expected a key of no other account, got one of "${owner}"`
      ),
    );
  }

  /** Runs changes one after the other, and logs how they ended. */
  #inTurn(work: () => Promise<AppliedChange>, { by, isDryRun }: ChangeOptions): Promise<AppliedChange> {
    const done = this.#last.then(work, work);
    const { log } = this.#gateway.services;
    this.#last = isDryRun === true ? done.catch(() => {}) : done.then(
      ({ diff }) => log.info("config_changed", { reason: `${summaryOf(diff)}, by ${by}` }),
      (error) => {
        const problems = error instanceof ConfigError ? error.problems : [reasonOf(error)];
        for (const reason of problems) log.error("config_rejected", { reason });
      },
    );
    return done;
  }
}

/** The configuration at the start with the new settings that take effect without a restart. */
function keepRestartSettings({ config, tree }: LoadedConfig, started: Config): Config {
  const [next, first] = [new Map(Object.entries(config)), new Map(Object.entries(started))];
  const live = [...tree.live].map(([section, names]) => {
    const name = camelCase(section);
    const changed: Section = next.get(name);
    return [name, names === null ? changed : { ...first.get(name), ...picked(changed, names.values()) }];
  });
  const { modelPatterns, builtInIds } = config;
  return { ...started, ...Object.fromEntries(live), modelPatterns, builtInIds };
}

function picked(section: Section, names: Iterable<string>): Section {
  return Object.fromEntries([...names].map((name) => [name, section[name]]));
}

function reasonOf(error: unknown): string {
  if (error instanceof GatewayError) return error.message;
  return errorName(error);
}
