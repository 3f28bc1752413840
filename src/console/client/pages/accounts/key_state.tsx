import { Badge } from "../../components/badge.tsx";
import type { AccountKey } from "../../shapes.ts";
import { TEXTS } from "../../texts.ts";

/** Whether a key is valid. */
export function KeyState({ of: { revoked_at, expires_at } }: {
  readonly of: Pick<AccountKey, "revoked_at" | "expires_at">;
}) {
  if (revoked_at !== null) return <Badge tone="plain">{TEXTS.accounts.revoked}</Badge>;
  if (expires_at !== null && expires_at * 1_000 <= Date.now()) {
    return <Badge tone="warn">{TEXTS.accounts.expired}</Badge>;
  }
  return <Badge tone="good">{TEXTS.accounts.valid}</Badge>;
}
