/** A thread of `spinning_gateway.ts`: the module that its address names, and a way to hold it up. */
import { spin } from "./spin.ts";

const { searchParams } = new URL(import.meta.url);
await import(searchParams.get("address") ?? "");
const channel = new BroadcastChannel("spin");
channel.onmessage = ({ data }: MessageEvent<{ readonly kind: string; readonly ms: number }>) => {
  if (data.kind === searchParams.get("path")) spin(data.ms);
};
