import { counted } from "../../platform/lib/text/counted.ts";
import { SERVICE_ENDPOINTS } from "../../platform/endpoints/service.ts";
import { appendAll } from "../../platform/lib/collections/append_all.ts";
import { openConfiguredParts } from "../app/opening/configured_parts.ts";
import { openStore } from "../app/opening/store.ts";
import { shownStore, storeAddressOf } from "../../config/tree/store_address.ts";
import type { Config } from "../../config/config.ts";
import { checkConfig } from "../../config/load_config.ts";
import { commandKeyOf } from "../../config/sections/admin_keys.ts";
import { createCatalog } from "../../vendors/catalog/catalog.ts";
import { checkFacts } from "../doctor/fact_checks.ts";
import { checkListedModels, checkPrices, checkUnpricedModels } from "../doctor/catalog_checks.ts";
import { checkExpirations, checkPriceSource } from "../doctor/price_checks.ts";
import { type Finding, ok, problem, warning, writeFinding } from "../doctor/finding.ts";
import {
  checkDescriptors,
  checkDisk,
  checkFiles,
  checkFilesBucket,
  checkRequestLog,
  checkVersion,
} from "../doctor/host_checks.ts";
import { checkClock, checkHosts } from "../doctor/network_checks.ts";
import { providerFinding } from "../doctor/provider_checks.ts";
import { systemClock } from "../../platform/lib/basics/clock.ts";
import { listedFactsKey } from "../../conversation/models/known_models.ts";
import type { ListedFacts } from "../../conversation/facts/model_facts.ts";
import type { ModelFacts } from "../../conversation/facts/model_facts.ts";
import { silentLog } from "../../platform/lib/basics/log.ts";
import { ownValue } from "../../platform/lib/collections/own_value.ts";
import { clockDifference } from "../../platform/store/clock_difference.ts";
import { StoreMissingError } from "../../platform/store/kv/database_file.ts";
import { StoreInUseError } from "../../platform/store/kv/process_lock.ts";
import { StoreUnusableError } from "../../platform/store/store_unusable_error.ts";
import { idOf } from "../../vendors/upstreams/contract/provider.ts";
import { checkProvider } from "../../vendors/upstreams/opening/provider_check.ts";
import { readDoctorPrices } from "./doctor_prices.ts";
import { environmentOf } from "./environment.ts";
import { findGateway, isConfigNamed, pathOf } from "./find/find_gateway.ts";
import { gatewayFetch } from "./find/gateway_fetch.ts";
import { print } from "./print.ts";
import { runningDevConfig } from "./find/running_dev.ts";
import { VERSION } from "./version.ts";
import { parseOptions } from "./command_options.ts";

interface DoctorOptions {
  readonly config: string | undefined;
  readonly isOffline: boolean;
  readonly isJson: boolean;
}

/**
 * Runs `doctor [--config FILE] [--offline] [--json]`: checks the configuration, the machine, the store and the
 * providers, and prints a line for each, with what to do. Nothing is changed, and no request has a cost.
 *
 * @returns The exit code: 1 if there is a problem, else 0.
 */
export async function doctor(args: readonly string[]): Promise<number> {
  const options = readOptions(args);
  const findings: Finding[] = [];
  const report = (...found: readonly Finding[]) => {
    appendAll(findings, found);
    if (!options.isJson) { for (const finding of found) print(writeFinding(finding)); }
  };
  report(checkVersion(VERSION));
  const { source, problems, config: own } = checkConfig({ path: options.config, env: environmentOf(options.config) });
  const dev = own === null || isGiven(own, options) ? null : await runningDevConfig(own);
  const config = dev ?? own;
  if (config === null) {
    report(
      ...problems.map((text) =>
        problem("configuration", text, "correct it; docs/configuration-reference.md has every setting")
      ),
    );
    report(await checkDescriptors());
  } else {
    const text = dev === null
      ? `${source} is valid`
      : 'that of "dev", which runs in this folder with simulated vendors';
    report(ok("configuration", text), checkAdmin(config));
    report(await checkDescriptors(), await checkDisk(config), await checkFiles(config), await checkRequestLog(config));
    report(await checkStore(config));
    const now = systemClock.now();
    const prices = await readDoctorPrices(config, THIS_GATEWAY);
    report(checkPriceSource(config.prices, prices.state, now), checkPrices(config, now));
    report(checkExpirations(config.models, now));
    const readsLists = !options.isOffline && config.modelPatterns.length > 0;
    if (!readsLists) report(checkFacts(config));
    if (!options.isOffline) report(...await checkFilesBucket(config));
    const vendors = { sourced: prices.models, isSimulated: dev !== null };
    if (!options.isOffline) await checkVendors(config, vendors, report);
  }
  if (options.isJson) print(JSON.stringify(findings, null, 2));
  return findings.some(({ level }) => level === "problem") ? 1 : 0;
}

/** Whether there is a configuration to check. Without one, `doctor` checks the gateway of `dev`, if one runs. */
function isGiven({ providers, models, modelPatterns }: Config, { config }: DoctorOptions): boolean {
  const isEmpty = Object.keys(providers).length + models.length + modelPatterns.length === 0;
  return !isEmpty || isConfigNamed(config);
}

/** The gateway of the configuration that is checked; the one of `dev` has another. */
const THIS_GATEWAY = { gateway: undefined, isConfigNamed: true } as const;

function readOptions(args: readonly string[]): DoctorOptions {
  const options = { config: { type: "string" }, offline: { type: "boolean" }, json: { type: "boolean" } } as const;
  const { values } = parseOptions("doctor", args, { options });
  return { config: values.config, isOffline: values.offline ?? false, isJson: values.json ?? false };
}

function checkAdmin({ server, models, modelPatterns, providers, accounts }: Config): Finding {
  const names = Object.keys(providers);
  if (models.length === 0 && names.length === 0) {
    return problem("catalog", "there are no models", "set a vendor's key in the environment, or providers and models");
  }
  if (models.length === 0 && modelPatterns.length === 0) {
    const advice = "add models with their prices to the configuration; switchyard init asks for them";
    return problem("catalog", `there are no models: none are built in for ${names.join(" and ")}`, advice);
  }
  if (commandKeyOf(server) === null) {
    const advice = "set server.admin_key or SWITCHYARD_ADMIN_KEY; without it there are no metrics and no admin API";
    return warning("admin API", "there is no admin key", advice);
  }
  return ok(
    "admin API",
    `on, with ${counted(accounts.length, "account")} and ${counted(models.length, "model")} in the configuration`,
  );
}

/** The store of a running gateway is locked, so the gateway is asked. */
async function checkStore(config: Config): Promise<Finding> {
  const { engine } = storeAddressOf(config.store);
  const file = engine === "postgres" ? shownStore(config.store) : pathOf(config.store);
  if (file === null) return warning("store", "it is in memory, and lost at the end", 'set "store" to kv:PATH');
  try {
    const gateway = await findGateway(config, THIS_GATEWAY);
    if (gateway !== null) return await checkRunning(gateway.address);
    const store = await openStore(config, { clock: systemClock, log: silentLog, mustExist: true });
    try {
      const difference = clockDifference(store);
      if (await store.isReady()) {
        const text = `${file} can be read; no gateway runs`;
        return difference === null ? ok("store", text) : warning("store", `${text}; ${difference}`, CLOCK_ADVICE);
      }
      return problem("store", `${file} cannot be read or written`, store.writeGuard.failure ?? "check the disk");
    } finally {
      await store.close();
    }
  } catch (error) {
    if (error instanceof StoreMissingError) return ok("store", `${file} does not exist yet; the start creates it`);
    const reason = error instanceof Error ? error.message : String(error);
    const advice = error instanceof StoreUnusableError
      ? "check the address and the server"
      : error instanceof StoreInUseError
      ? "another process uses it: stop it, or wait until it has started"
      : "check the path and its permissions; restore a backup if the file is damaged";
    return problem("store", reason, advice);
  }
}

const CLOCK_ADVICE = "synchronize the clocks of both machines, such as by NTP";

async function checkRunning(address: string): Promise<Finding> {
  const response = await gatewayFetch(address + SERVICE_ENDPOINTS.readReadiness.path).catch(() => null);
  if (response === null) return problem("store", `the gateway at ${address} does not answer`, "look at its log");
  const text = (await response.text()).trim();
  const [, difference] = /^warning: (.*)$/m.exec(text) ?? [];
  if (response.ok && difference !== undefined) {
    return warning("store", `in use by the gateway at ${address}, which is ready; ${difference}`, CLOCK_ADVICE);
  }
  if (response.ok) return ok("store", `in use by the gateway at ${address}, which is ready`);
  return problem("store", `the gateway at ${address} is ${text}`, "look at its log");
}

/** What is known of the vendors of a configuration. */
interface Vendors {
  /** The models with a price of the price source. */
  readonly sourced: ReadonlySet<string>;
  /** Whether they are simulated: their lists name few models, and they serve any. */
  readonly isSimulated: boolean;
}

async function checkVendors(
  config: Config,
  { sourced, isSimulated }: Vendors,
  report: (...found: readonly Finding[]) => void,
): Promise<void> {
  const hosts = await checkHosts(config);
  report(...hosts.map(({ finding }) => finding), checkClock(hosts));
  const { providers, openedProviders } = await openConfiguredParts(config, { clock: systemClock, ownAddresses: [] });
  try {
    // The first of several credentials is there twice: by its id and by the provider's name.
    const checked = await Promise.all([...new Set(providers.values())].map(async (provider) => {
      const settings = ownValue(config.providers, provider.name)!;
      const test = await checkProvider(provider, settings, systemClock);
      const { models, facts = new Map() } = test;
      return { name: provider.name, finding: providerFinding(idOf(provider), test), models, facts };
    }));
    report(...checked.map(({ finding }) => finding));
    if (config.modelPatterns.length > 0) report(checkFacts(config, listedFactsOf(config, checked)));
    const lists = checked.flatMap(({ name, models }) => models === null ? [] : [[name, new Set(models)] as const]);
    const { models } = createCatalog(config.models).at(systemClock.now());
    report(isSimulated ? ANY_MODEL : checkListedModels(models, new Map(lists)));
    report(checkUnpricedModels(config, new Map(lists), sourced));
  } finally {
    openedProviders.close();
  }
}

const ANY_MODEL = ok("models", "simulated vendors serve every model");

/** The facts of lists that the gateway reads: those of providers with an entry such as "anthropic/*". */
function listedFactsOf(
  { modelPatterns }: Config,
  checked: readonly { readonly name: string; readonly facts: ReadonlyMap<string, Partial<ModelFacts>> }[],
): ListedFacts {
  const read = checked.filter(({ name }) => modelPatterns.some(({ provider }) => provider === name));
  return Object.fromEntries(
    read.flatMap(({ name, facts }) => [...facts].map(([model, stated]) => [listedFactsKey(name, model), stated])),
  );
}
