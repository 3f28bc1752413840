import { Badge } from "../../components/badge.tsx";
import type { Account } from "../../shapes.ts";
import { TEXTS } from "../../texts.ts";

/** The status of an account. */
export function AccountStatus({ status }: Pick<Account, "status">) {
  return <Badge tone={status === "active" ? "good" : "warn"}>{TEXTS.accounts.statuses[status]}</Badge>;
}
