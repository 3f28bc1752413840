import { USAGE_DIMENSIONS } from "../../money/billing/usage/usage_group.ts";
import type { UsageReports } from "../../money/billing/usage/usage_report.ts";
import { OPERATOR_ENDPOINTS } from "../../platform/endpoints/operators.ts";
import type { Route } from "../../platform/http/request/inbound.ts";
import { usageAnswer } from "../usage_answer.ts";
import { readUsageRequest } from "../usage_query.ts";
import { type AdminRoute, adminRoute } from "./shared/admin_route.ts";

/** The dependencies of the usage endpoint. */
export interface AdminUsageOptions {
  readonly usage: UsageReports;
}

const ACCESS = {
  dimensions: USAGE_DIMENSIONS,
  filters: ["account", "key", "model", "provider", "kind"],
  others: [],
} as const;

/**
 * `GET /admin/v1/usage?group_by&from&to&account&key&model&provider&kind&format&limit&after&top`: the sums of charges
 * and captures.
 */
export function adminUsageRoutes({ usage }: AdminUsageOptions): AdminRoute[] {
  const handler: Route["handler"] = async ({ query }) => {
    const request = readUsageRequest(query, ACCESS);
    return usageAnswer(request, await usage.report(request.query));
  };
  return [adminRoute(OPERATOR_ENDPOINTS.readUsage, handler, { parameters: null })];
}
