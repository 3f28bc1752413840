import type { LoggedRequest } from "../../../src/sandbox/request_log.ts";
import type { KillPoint } from "./kill_points.ts";
import { numberIn, type VideoOrder } from "./video_orders.ts";

/** Requests received by the simulated video vendors. */
export class SeenVideos {
  /** Creates by the number of their order. */
  readonly #byNumber = new Map<number, number>();
  /** Creates by the mark that the vendor can search. */
  readonly #byMark = new Map<string, number>();

  /** Counts a request and returns its kind; null if it is not about videos. */
  note({ method, path, body }: LoggedRequest): KillPoint | null {
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

  /** Returns the number of jobs the vendors created for an order, under any reference. */
  made(order: VideoOrder): number {
    return jobsOf(this.#byNumber.get(order.number) ?? 0, order);
  }

  /** Returns the number of jobs a searchable vendor created for a task of the gateway. */
  madeFor(taskId: string, order: VideoOrder): number {
    return jobsOf(this.#byMark.get(taskId) ?? 0, order);
  }
}

/** Returns the number of jobs among so many creates. */
function jobsOf(creations: number, { failures, isRejected }: VideoOrder): number {
  return isRejected ? 0 : Math.max(creations - failures, 0);
}

function add<K>(counts: Map<K, number>, key: K): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
