import { startBusbar } from "./busbar.ts";
import { startGomodel } from "./gomodel.ts";
import { startLitellm } from "./litellm.ts";
import type { PeerId, PeerOptions, RunningPeer } from "./peer.ts";
import { startPortkey } from "./portkey.ts";

const STARTERS: Readonly<Record<PeerId, (options: PeerOptions) => Promise<RunningPeer | string>>> = {
  litellm: startLitellm,
  portkey: startPortkey,
  gomodel: startGomodel,
  busbar: startBusbar,
};

/**
 * Starts a peer.
 *
 * @returns The peer, or the reason why there is none, as the end of a sentence.
 */
export async function startPeer(id: PeerId, options: PeerOptions): Promise<RunningPeer | string> {
  try {
    return await STARTERS[id](options);
  } catch (error) {
    return String(error).split("\n").slice(0, 3).join(" ");
  }
}
