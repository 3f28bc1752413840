import * as z from "zod";
import { OPERATOR_ENDPOINTS } from "../../platform/endpoints/operators.ts";
import type { Handler, Inbound } from "../../platform/http/request/inbound.ts";
import { GatewayError, invalidField } from "../../platform/lib/basics/gateway_error.ts";
import { MAX_INVOICE_CHARACTERS } from "../../vendors/reconciliation/invoice.ts";
import { MAX_DAYS, type Reconciler, type ReconciliationQuery } from "../../vendors/reconciliation/reconcile.ts";
import { readDay } from "../usage_query.ts";
import type { ReadJson } from "./accounts.ts";
import { type AdminRoute, adminRoute } from "./shared/admin_route.ts";
import { readFields } from "./shared/fields.ts";
import { reconciliationAnswer } from "./shared/reconcile_answer.ts";

const DAY = "a UTC day such as 2026-11-01";
const FORMATS = ["json", "csv"] as const;

/** What is reconciled: the body of a POST, and the query of a GET but for `invoice`. */
export const ReconciledBill = z.strictObject({
  provider: z.string("the name of a provider").min(1, "the name of a provider").max(64, "the name of a provider"),
  from: z.string(DAY),
  to: z.string(`${DAY}, the last one`),
  format: z.enum(FORMATS, "json or csv").optional(),
  invoice: z.string("the vendor's invoice as CSV text").max(
    MAX_INVOICE_CHARACTERS,
    `CSV text of at most ${MAX_INVOICE_CHARACTERS} characters`,
  ).optional(),
});

/** The dependencies of the endpoint. */
export interface AdminReconcileOptions {
  /** Null for a gateway that does not run. */
  readonly reconciler: Pick<Reconciler, "run"> | null;
  /** Reads a body with an invoice. */
  readonly readJson: ReadJson;
}

/** The vendor's bill next to the ledger. Source: docs/api/admin.md#bills-of-vendors. */
export function adminReconcileRoutes({ reconciler, readJson }: AdminReconcileOptions): AdminRoute[] {
  const answer = async (bill: z.infer<typeof ReconciledBill>): Promise<Response> => {
    if (reconciler === null) {
      throw new GatewayError("conflict", "Cannot reconcile: only a running gateway reads the bills of vendors");
    }
    const { format = "json", invoice = null } = bill;
    return await reconciliationAnswer(await reconciler.run({ ...queryOf(bill), invoice }), format);
  };
  const read: Handler = ({ query }: Inbound) =>
    answer(readFields(ReconciledBill, Object.fromEntries(new URLSearchParams(query))));
  const compare: Handler = async (inbound) => answer(readFields(ReconciledBill, await readJson(inbound)));
  return [
    adminRoute(OPERATOR_ENDPOINTS.reconcile, read, { parameters: ["provider", "from", "to", "format"] }),
    // Nothing is changed: only the invoice does not fit into an address.
    adminRoute(OPERATOR_ENDPOINTS.reconcileInvoice, compare, { role: "read", isAudited: false }),
  ];
}

function queryOf({ provider, from, to }: z.infer<typeof ReconciledBill>): Omit<ReconciliationQuery, "invoice"> {
  const [fromDay, lastDay] = [readDay("from", from), readDay("to", to)];
  if (lastDay < fromDay) throw invalidField("to", "expected a day that is not before from");
  if (lastDay - fromDay >= MAX_DAYS) throw invalidField("to", `expected at most ${MAX_DAYS} days`);
  return { provider, fromDay, toDay: lastDay + 1 };
}
