import type { Authenticate } from "../../money/billing/authenticate.ts";
import type { UsageReports } from "../../money/billing/usage/usage_report.ts";
import { CALLER_ENDPOINTS as ENDPOINTS } from "../../platform/endpoints/callers.ts";
import type { Route } from "../../platform/http/request/inbound.ts";
import { invalidField } from "../../platform/lib/basics/gateway_error.ts";
import { routesAt } from "../route_at.ts";
import { usageAnswer } from "../usage_answer.ts";
import { readUsageRequest } from "../usage_query.ts";

/** The dependencies of the usage endpoint. */
export interface UsageRouteParts {
  readonly authenticate: Authenticate;
  readonly usage: UsageReports;
}

const ACCESS = {
  dimensions: ["model", "provider", "kind", "day"],
  filters: ["model", "provider", "kind"],
  others: ["scope"],
} as const;

/**
 * `GET /v1/usage`: what the caller's key has used or, with `scope=account`, what all keys of its account have used
 * together. No other key is named. Source: docs/api/money.md#usage.
 */
export function usageRoutes({ authenticate, usage }: UsageRouteParts): Route[] {
  const handler: Route["handler"] = async (inbound) => {
    const { accountId: account, keyId: key } = await authenticate(inbound);
    const request = readUsageRequest(inbound.query, ACCESS);
    const scope = new URLSearchParams(inbound.query).get("scope") ?? "key";
    if (scope !== "key" && scope !== "account") throw invalidField("scope", "expected key or account");
    const only = { ...request.query.only, account, ...(scope === "key" && { key }) };
    return usageAnswer(request, await usage.report({ ...request.query, only }));
  };
  return routesAt(ENDPOINTS.readOwnUsage, handler);
}
