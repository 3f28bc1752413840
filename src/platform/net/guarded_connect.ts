import type { Clock } from "../lib/basics/clock.ts";
import { EgressError } from "./egress_error.ts";
import { Connection } from "./http1/connection.ts";
import type { Opening, PinnedDialer } from "./pinned_socket.ts";
import { hostOf, portOf, type VettedTarget } from "./target.ts";

/** Options of connections under the egress rules. */
export interface GuardedConnectOptions {
  readonly dialer: PinnedDialer;
  readonly clock: Clock;
  /** The time limit for a connection to one address, including TLS. */
  readonly connectMs: number;
  /** Called with each socket that is being opened, so that it can be cancelled; called with null afterwards. */
  onOpening(opening: Opening | null): void;
}

/** The maximum number of addresses of a name that are tried. */
const MAX_ADDRESSES = 3;

/**
 * Connects to one of the vetted addresses and to nothing else. They are tried in turn, which is safe because no data
 * was sent. Only a failure to connect continues with the next address.
 *
 * @throws {EgressError} `connect`, `tls`, `refused`, or the reason of the cancellation.
 */
export async function connectGuarded(target: VettedTarget, options: GuardedConnectOptions): Promise<Connection> {
  let failure: unknown;
  for (const address of target.addresses.slice(0, MAX_ADDRESSES)) {
    try {
      return await connectTo(address, target.url, options);
    } catch (error) {
      failure = error;
      if (!(error instanceof EgressError) || error.kind !== "connect") break;
    }
  }
  throw failure;
}

async function connectTo(address: string, url: URL, options: GuardedConnectOptions): Promise<Connection> {
  const { dialer, clock, connectMs, onOpening } = options;
  const origin = { tls: url.protocol === "https:", hostname: hostOf(url), port: portOf(url) };
  const opening = dialer.open({ ...origin, address });
  const stop = clock.after(connectMs, () => {
    opening.cancel(new EgressError("connect", "the connection timed out"));
  });
  onOpening(opening);
  try {
    return new Connection({ origin, host: url.host, address, openedAt: clock.now() }, await opening.socket);
  } finally {
    stop();
    onOpening(null);
  }
}
