import { Buffer } from "node:buffer";
import { jsonObjectOf } from "../../../platform/http/bodies/json_body.ts";
import type { SentList } from "../../../platform/http/bodies/sent_list.ts";
import { oneLine } from "./input_lines.ts";

const LINE_FEED = new Uint8Array([0x0a]);

/**
 * The requests in the body of a create as lines of a file. Their bytes stay as they were sent.
 *
 * @param model What requests without a model get; null for none.
 */
export async function* inlineLines(requests: SentList, model: string | null): AsyncGenerator<Uint8Array> {
  for (const request of requests) {
    const line = oneLine(request);
    yield await Promise.resolve(model === null ? line : withModel(line, model));
    yield LINE_FEED;
  }
}

/** Adds the model to a body without one. A request that cannot be read is refused later, with its number. */
function withModel(line: Uint8Array<ArrayBuffer>, model: string): Uint8Array {
  try {
    const { outline, scan } = jsonObjectOf(line);
    const { body } = outline;
    const member = scan.members.find(({ key }) => key === "body");
    if (member === undefined || typeof body !== "object" || body === null || Array.isArray(body) || "model" in body) {
      return line;
    }
    const rest = Object.keys(body).length === 0 ? "" : ",";
    const added = Buffer.from(`"model":${JSON.stringify(model)}${rest}`);
    const start = member.valueStart + 1;
    return Buffer.concat([line.subarray(0, start), added, line.subarray(start)]);
  } catch {
    return line;
  }
}
