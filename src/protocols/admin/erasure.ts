import type { DeclaredAccounts } from "../../money/billing/declared/declared_accounts.ts";
import { type Handler, pathParam } from "../../platform/http/request/inbound.ts";
import { secondsOf } from "../../platform/lib/basics/clock.ts";
import { answerJson } from "./shared/answer.ts";

/** What an erasure removed: numbers. */
export interface Erasure {
  /** When everything was removed for the first time, in Unix milliseconds. */
  readonly erasedAt: number;
  /** Rows of the request log, with their captured bodies; null if there is no request log. */
  readonly requests: number | null;
  /** Video tasks and batches. */
  readonly tasks: number;
  /** Copies of results, media of requests for videos, and files that callers stored. */
  readonly files: number;
  readonly deliveries: number;
  readonly cachedContents: number;
  /** Values of `Idempotency-Key`. */
  readonly idempotencyKeys: number;
  /** Items and reasoning of replies in memory. */
  readonly keptReplies: number;
  /** All keys of the account, which are revoked now and have no name and no metadata. */
  readonly keys: number;
  /** Entries of the audit log whose values were removed. */
  readonly auditEntries: number;
  /** Versions of the settings whose differences had values of the account. */
  readonly configVersions: number;
}

/** Removes everything that identifies an account. @throws {GatewayError} `not_found`; `conflict` with what to do. */
export type EraseAccount = (account: string) => Promise<Erasure>;

/** `POST /admin/v1/accounts/:account/erase`: `{id, status, erased_at, removed}` with numbers, never with values. */
export function eraseHandler(erase: EraseAccount, declared: Pick<DeclaredAccounts, "refuseErasure">): Handler {
  return async ({ params, request }) => {
    await request.body?.cancel();
    const id = pathParam(params, "account");
    declared.refuseErasure(id);
    const { erasedAt, requests, tasks, files, deliveries, cachedContents, ...others } = await erase(id);
    return answerJson({
      id,
      status: "erased",
      erased_at: secondsOf(erasedAt),
      removed: {
        requests,
        tasks,
        files,
        deliveries,
        cached_contents: cachedContents,
        idempotency_keys: others.idempotencyKeys,
        kept_replies: others.keptReplies,
        keys: others.keys,
        audit_entries: others.auditEntries,
        config_versions: others.configVersions,
      },
    });
  };
}
