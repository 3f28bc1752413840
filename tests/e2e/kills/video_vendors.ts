import type { LoggedRequest } from "../../../src/sandbox/request_log.ts";
import type { Moment } from "./moments.ts";
import { numberIn, type VideoOrder } from "./video_orders.ts";

/** What the simulated vendors of videos were asked for. */
export class SeenVideos {
  /** Creations by the number of their order. */
  readonly #byNumber = new Map<number, number>();
  /** The same by the mark that the vendor can be searched for. */
  readonly #byMark = new Map<string, number>();

  /** Counts a request; gives what it is, null when it is not about videos. */
  note({ method, path, body }: LoggedRequest): Moment | null {
    const number = method === "POST" ? numberIn(body) : null;
    if (number !== null) {
      add(this.#byNumber, number);
      const { safety_identifier: ark, external_task_id: kling } = body as Record<string, unknown>;
      const mark = ark ?? kling;
      if (typeof mark === "string") add(this.#byMark, mark);
      return "create";
    }
    if (/\/results\/|\/files\/|\/content(\?|$)/.test(path)) return "result";
    if (method === "DELETE" || /\/cancel(\?|$)/.test(path)) return "stop";
    return method === "GET" && /tasks|\/v1\/videos|\/requests\//.test(path) ? "poll" : null;
  }

  /** How many jobs the vendor made for an order, whatever the gateway called them. */
  made(order: VideoOrder): number {
    return jobsOf(this.#byNumber.get(order.number) ?? 0, order);
  }

  /** How many jobs a vendor that can be searched made for a task of the gateway. */
  madeFor(taskId: string, order: VideoOrder): number {
    return jobsOf(this.#byMark.get(taskId) ?? 0, order);
  }
}

/** Of so many creations. */
function jobsOf(creations: number, { failures, isRejected }: VideoOrder): number {
  return isRejected ? 0 : Math.max(creations - failures, 0);
}

function add<K>(counts: Map<K, number>, key: K): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
