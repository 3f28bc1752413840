import { spin } from "./spin.ts";

/** Lets `spinning_gateway.ts` hold up this thread, which runs the module of that path below `src`. */
export function spinOnOrder(path: string): void {
  const channel = new BroadcastChannel("spin");
  channel.onmessage = ({ data }: MessageEvent<{ readonly kind: string; readonly ms: number }>) => {
    if (data.kind === path) spin(data.ms);
  };
}
