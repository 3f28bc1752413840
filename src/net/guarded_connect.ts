import type { Clock } from "../lib/clock.ts";
import { EgressError } from "./egress_error.ts";
import { Connection } from "./http1/connection.ts";
import type { Opening, PinnedDialer } from "./pinned_socket.ts";
import { hostOf, portOf, type VettedTarget } from "./target.ts";

/** How connections under the egress guard are made. */
export interface GuardedConnectOptions {
  readonly dialer: PinnedDialer;
  readonly clock: Clock;
  /** Longest wait for a connection to one address, TLS included, in milliseconds. */
  readonly connectMs: number;
  /**
   * Called with each socket that is being opened, so that it can be given up; with null when it is not opened any more.
   */
  onOpening(opening: Opening | null): void;
}

/** How many addresses of a name are tried. */
const MAX_ADDRESSES = 3;

/**
 * Connects to one of the addresses that were judged, and to nothing else. They are tried in turn, which is safe because
 * nothing was sent; only a failure to connect leads on.
 *
 * @throws {EgressError} `connect`, `tls`, `refused`, or what the socket was given up with.
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
    opening.giveUp(new EgressError("connect", "no connection was made in time"));
  });
  onOpening(opening);
  try {
    return new Connection({ origin, host: url.host, address, openedAt: clock.now() }, await opening.socket);
  } finally {
    stop();
    onOpening(null);
  }
}
