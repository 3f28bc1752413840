import { callerOf } from "../../support/gateway_call.ts";
import { REPLY_COST } from "./held_streams.ts";
import { stateOf } from "../../support/patience.ts";

/** A gateway with its admin key. */
interface Operated {
  readonly address: string;
  readonly adminKey: string;
}

/** The ids of charged requests in the ledger, with repetitions. */
export async function chargedRequests({ address, adminKey }: Operated): Promise<string[]> {
  const call = callerOf(address, { authorization: `Bearer ${adminKey}` });
  const ids: string[] = [];
  for (let after = "";;) {
    const { json } = await call("GET", `/admin/v1/accounts/demo/ledger?limit=100${after}`);
    for (const { requests = [] } of json.data) {
      ids.push(...requests.map(({ request_id }: { request_id: string }) => request_id));
    }
    if (json.next === null) return ids;
    after = `&after=${json.next}`;
  }
}

/** Waits until the balance is what so many replies leave. */
export async function untilCharged({ address, adminKey }: Operated, replies: number): Promise<void> {
  const call = callerOf(address, { authorization: `Bearer ${adminKey}` });
  const balance = Number((25 - replies * REPLY_COST).toFixed(10));
  const read = () => call("GET", "/admin/v1/accounts/demo");
  await stateOf(`the balance is ${balance}`, read, ({ json }) => Number(json?.balance) === balance);
}
