import { readAccount } from "../../money/billing/accounts/account.ts";
import type { ChargeRow } from "../../money/billing/ledger/charge.ts";
import { type AccountLedgerEntry, listLedgerEntries } from "../../money/billing/ledger/ledger.ts";
import { type Handler, pathParam } from "../../platform/http/request/inbound.ts";
import { secondsOf } from "../../platform/lib/basics/clock.ts";
import type { JsonObject } from "../../platform/lib/json/json_object.ts";
import { writeMoney } from "../../platform/lib/basics/money.ts";
import type { Store } from "../../platform/store/store.ts";
import { answerJson } from "./shared/answer.ts";
import { readPage } from "./shared/query.ts";
import { readsNewestFirst } from "./shared/time_page.ts";

/**
 * `GET /admin/v1/accounts/:account/ledger?limit&after&order`: `{data, next}`, oldest first unless `order=desc`. Amounts
 * are signed decimal strings: the changes of the balance and of the held amount. A charge lists its requests.
 */
export function ledgerHandler(store: Store): Handler {
  return async ({ params, query }) => {
    const { id } = await readAccount(store, pathParam(params, "account"));
    const page = { ...readPage(query), reverse: readsNewestFirst(query, "asc") };
    const { lines, next } = await listLedgerEntries(store, id, page);
    return answerJson({ data: lines.map(writeLine), next });
  };
}

function writeLine({ id, at, operation, reference, available, held, rows, detail }: AccountLedgerEntry): JsonObject {
  return {
    id,
    created_at: secondsOf(at),
    operation,
    reference,
    balance: writeMoney(available),
    held: writeMoney(held),
    ...operation === "charge" ? { requests: rows.map(writeRow) } : {},
    ...detail === undefined ? {} : { detail: writeDetail(detail) },
  };
}

function writeRow({ requestId, keyId, at, kind, model, provider, amount, usage }: ChargeRow): JsonObject {
  return {
    request_id: requestId,
    created_at: secondsOf(at),
    key: keyId,
    kind,
    model,
    provider,
    cost: writeMoney(amount),
    usage: Object.fromEntries(Object.entries(usage ?? {}).map(([counter, count]) => [snakeCase(counter), count])),
  };
}

/** The counters' names in the code, in snake case. */
function snakeCase(name: string): string {
  return name.replace(/[A-Z0-9]+[a-z]?/g, (part) => `_${part.toLowerCase()}`);
}

/** Amounts in details are bigints. */
function writeDetail(detail: unknown): unknown {
  return JSON.parse(JSON.stringify(detail, (_, value) => typeof value === "bigint" ? writeMoney(value) : value));
}
