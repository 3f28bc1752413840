import type { Server } from "../child.ts";
import type { Mode } from "../load_request.ts";

/** The other gateways that can be compared with. */
export type PeerId = "litellm" | "portkey" | "gomodel" | "busbar";

/** Every peer. */
export const PEER_IDS: readonly PeerId[] = ["litellm", "portkey", "gomodel", "busbar"];

/** A running peer. */
export interface RunningPeer {
  readonly id: PeerId;
  /** The name in the report. */
  readonly label: string;
  readonly server: Server;
  /** How it runs, as the end of a sentence. */
  readonly note: string;
  headersFor(mode: Mode): Readonly<Record<string, string>>;
  /** The model of a request for a reply in a mode. */
  modelFor(mode: Mode): string;
}

/** Where and how a peer is started. */
export interface PeerOptions {
  /** A folder of its own. */
  readonly folder: string;
  readonly upstreamPort: number;
  readonly core: number | null;
  /** The program that the operator supplies; null when none was given. */
  readonly binary: string | null;
}
