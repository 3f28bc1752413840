import { createFeatures, createLastingFeatures, type GatewayState } from "../../src/entry/app/features/features.ts";
import { own } from "../../src/entry/app/opening/own.ts";
import { createGatewayRouters } from "../../src/entry/app/routes/routes.ts";
import { openServices } from "../../src/entry/app/opening/services.ts";
import { readConfig } from "../../src/config/config.ts";
import type { Route } from "../../src/platform/http/request/inbound.ts";
import { systemClock } from "../../src/platform/lib/basics/clock.ts";
import { silentLog } from "../../src/platform/lib/basics/log.ts";

const TREE = {
  server: { port: 0, admin_key: "0123456789abcdef0123456789abcdef" },
  store: "kv::memory:",
  accounts: [],
  providers: {},
  models: [],
};

/** All routes of a gateway with everything switched on. It serves no request. */
export async function gatewayRoutes(): Promise<readonly Pick<Route, "method" | "path">[]> {
  const config = readConfig(JSON.stringify(TREE), "test.json", () => undefined);
  const opened = await openServices({ config, log: silentLog, clock: systemClock, random: () => 0.5 });
  try {
    const services = await own(opened);
    const state: GatewayState = { isDraining: false, baseUrl: "", peerUrl: null };
    const features = createFeatures(services, createLastingFeatures(services, state, () => null));
    const configChanges = () => Promise.reject(new Error("The configuration is not changed here"));
    const { main } = createGatewayRouters(services, features, { state, configChanges, prices: () => null });
    const { routes } = main;
    await features.large.close();
    await features.console.close();
    return routes;
  } finally {
    await opened.close();
  }
}
