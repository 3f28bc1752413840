import type { AdminAnswer } from "./admin_api.ts";
import type { AdminCall } from "./admin_call.ts";

/** What each call answers. */
interface PartAnswer {
  readonly redelivered: number;
  readonly next: string | null;
}

/**
 * Redelivers a whole range, of which each call does a part.
 *
 * @param call With `goesOn`.
 * @param complain Is told how to go on, when one of the calls failed behind others that did not.
 * @returns The last answer, with what all the calls did; that of the call that failed as it is.
 */
export async function redeliverRange(
  call: AdminCall,
  ask: (call: AdminCall) => Promise<AdminAnswer>,
  complain: (message: string) => void,
): Promise<AdminAnswer> {
  let redelivered = 0;
  let after = call.body?.after;
  let isUnfinished = false;
  try {
    for (;;) {
      const answer = await ask({ ...call, body: { ...call.body, after } });
      if (answer.status >= 400) return answer;
      const part = answer.body as PartAnswer;
      redelivered += part.redelivered;
      isUnfinished = part.next !== null;
      if (!isUnfinished) return { ...answer, body: { ...part, redelivered } };
      after = part.next;
    }
  } finally {
    if (isUnfinished) {
      complain(`${redelivered} deliveries began anew; the same command with --after ${after} goes on behind them`);
    }
  }
}
