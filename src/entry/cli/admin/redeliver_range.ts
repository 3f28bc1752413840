import type { AdminResponse, SendAdminCall } from "./admin_api.ts";
import type { AdminCall } from "./admin_call.ts";

/** The response to one call. */
interface PartResponse {
  readonly redelivered: number;
  /** Null at the end of the range. */
  readonly next: string | null;
}

/**
 * Redelivers a range of deliveries by as many calls as it takes.
 *
 * @param call With `isPaged`.
 * @param notify Takes a notice of how to continue, if a call fails after others have succeeded.
 * @returns The last response, with the sum over all calls; the response of a call that failed as it is.
 */
export async function redeliverRange(
  call: AdminCall,
  send: SendAdminCall,
  notify: (message: string) => void,
): Promise<AdminResponse> {
  let redelivered = 0;
  let after = call.body?.after;
  let isUnfinished = false;
  try {
    // Ends with the range: each part begins after the one before.
    for (;;) {
      const response = await send({ ...call, body: { ...call.body, after } });
      if (response.status >= 400) return response;
      const part = response.body as PartResponse;
      redelivered += part.redelivered;
      isUnfinished = part.next !== null;
      if (!isUnfinished) return { ...response, body: { ...part, redelivered } };
      after = part.next;
    }
  } finally {
    if (isUnfinished) {
      notify(`${redelivered} deliveries were restarted; to continue, add --after ${after} to the same command`);
    }
  }
}
