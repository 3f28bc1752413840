import type { ReplyEvent } from "../../neutral/events.ts";
import type { EventReader } from "../../contract/upstream_format.ts";

/**
 * The failure that one frame of a stream reports; null when it reports none or is not JSON.
 *
 * @param reader A new reader.
 * @param data The frame's data.
 */
export function failureReportedIn(reader: EventReader, data: string): ReplyEvent & { type: "error" } | null {
  try {
    return reader.read({ event: null, data }).find((event) => event.type === "error") ?? null;
  } catch {
    return null;
  }
}
