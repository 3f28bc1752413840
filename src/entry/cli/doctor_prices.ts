import { openStore } from "../app/opening/store.ts";
import type { Config } from "../../config/config.ts";
import type { SourceState } from "../doctor/price_checks.ts";
import { OPERATOR_ENDPOINTS } from "../../platform/endpoints/operators.ts";
import { systemClock } from "../../platform/lib/basics/clock.ts";
import { silentLog } from "../../platform/lib/basics/log.ts";
import { readPriceLists, readPriceState } from "../../vendors/prices/records.ts";
import { findGateway, type GatewaySelection } from "./find/find_gateway.ts";
import { gatewayFetch } from "./find/gateway_fetch.ts";

/** The state of the price source, and the models that it has prices of. */
export interface DoctorPrices {
  /** Null if it cannot be read. */
  readonly state: SourceState | null;
  /** By vendor and its name of the model: `openai/gpt-6-sol`. */
  readonly models: ReadonlySet<string>;
}

const UNKNOWN: DoctorPrices = { state: null, models: new Set() };
const MAX_PAGES = 100;

/** Reads the state of the price source: from a running gateway, as it has its store locked, else from the store. */
export async function readDoctorPrices(config: Config, selection: GatewaySelection): Promise<DoctorPrices> {
  if (config.prices.isBuiltIn) return UNKNOWN;
  try {
    const gateway = await findGateway(config, selection);
    if (gateway === null) return await fromStore(config);
    return gateway.adminKey === null ? UNKNOWN : await fromGateway(gateway.address, gateway.adminKey);
  } catch {
    return UNKNOWN; // The check of the store has the reason.
  }
}

async function fromGateway(address: string, adminKey: string): Promise<DoctorPrices> {
  const read = async (path: string) => {
    const headers = { authorization: `Bearer ${adminKey}` };
    return await (await gatewayFetch(address + OPERATOR_ENDPOINTS.readPrices.path + path, { headers })).json();
  };
  const { read_at: readAt, failure, pending } = await read("");
  const models = new Set<string>();
  let after = "";
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    const { data, next } = await read(`/models?limit=100${after}`);
    for (const { model } of data) models.add(model);
    if (next === null) break;
    after = `&after=${next}`;
  }
  const names = pending.map(({ model }: { readonly model: string }) => model);
  const state = { readAt: readAt === null ? null : readAt * 1_000, failure: failure?.reason ?? null, pending: names };
  return { state, models };
}

async function fromStore(config: Config): Promise<DoctorPrices> {
  const store = await openStore(config, { clock: systemClock, log: silentLog, mustExist: true });
  try {
    const stored = (await readPriceState(store))?.state ?? null;
    if (stored === null || stored.source !== config.prices.source) {
      return { state: { readAt: null, failure: null, pending: [] }, models: new Set() };
    }
    const lists = await readPriceLists(store, stored);
    const pending = (lists?.pending ?? []).map(({ model }) => model);
    const state = { readAt: stored.readAt, failure: stored.failure?.reason ?? null, pending };
    return { state, models: new Set(Object.keys(lists?.book ?? {})) };
  } finally {
    await store.close();
  }
}
