import type { Foundation } from "./services.ts";
import { readJsonObject } from "../http/json_body.ts";
import type { Route } from "../http/inbound.ts";
import type { ReadJson } from "../protocols/admin/accounts.ts";
import { adminDeliveryRoutes } from "../protocols/admin/deliveries.ts";
import { adminEventRoutes } from "../protocols/admin/events.ts";
import { adminProviderRoutes } from "../protocols/admin/providers.ts";
import { adminRoutes } from "../protocols/admin/routes.ts";
import { adminSigningKeyRoutes } from "../protocols/admin/signing_keys.ts";
import { adminTaskRoutes } from "../protocols/admin/tasks.ts";
import type { SigningKeyRing } from "../videos/results/signing_keys.ts";
import { openTaskAdmin } from "../videos/tasks/task_admin.ts";
import type { Webhooks } from "../webhooks/webhooks.ts";

/** What the administration shares with the rest of an app. */
export interface OperatorRouteParts {
  readonly webhooks: Pick<Webhooks, "desk" | "feed">;
  readonly signingKeys: SigningKeyRing;
  /** The gateway's own address, without a final slash. */
  readonly baseUrl: () => string;
}

/** Every address of the administration: none without an admin key. */
export function operatorRoutes(foundation: Foundation, parts: OperatorRouteParts): Route[] {
  const { webhooks: { desk, feed }, signingKeys, baseUrl } = parts;
  const { config, store, keys, meter, breaker, clock } = foundation;
  const adminKey = config.server.adminKey ?? "";
  const limits = { capBytes: config.limits.otherBodyBytes, idleMs: config.limits.bodyIdleMs };
  const readJson: ReadJson = async (inbound) => (await readJsonObject(inbound, limits)).body;
  const providers = Object.entries(config.providers).map(([name, { kind }]) => ({ name, kind }));
  return [
    ...adminRoutes({ adminKey, store, keys, meter, readJson }),
    ...adminDeliveryRoutes({ adminKey, desk, readJson }),
    ...adminEventRoutes({ adminKey, feed, readJson, baseUrl, now: () => clock.now() }),
    ...adminTaskRoutes({ adminKey, desk: openTaskAdmin(store) }),
    ...adminProviderRoutes({ adminKey, providers, breaker, startedAt: clock.now() }),
    ...adminSigningKeyRoutes({ adminKey, signingKeys }),
  ];
}
