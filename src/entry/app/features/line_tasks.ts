import type { RequestObserver } from "../../../platform/http/request/request_record.ts";
import { jsonObjectOf } from "../../../platform/http/bodies/json_body.ts";
import { GatewayError } from "../../../platform/lib/basics/gateway_error.ts";
import type { Money } from "../../../platform/lib/basics/money.ts";
import type { HeldMemory } from "../../../platform/lib/process/memory_budget.ts";
import { withOpenaiFields } from "../../../protocols/default/videos/openai_video_fields.ts";
import { dialectNamed } from "../../../protocols/default/videos/video_dialects.ts";
import type { EndedLineTask, LineTasks } from "../../../services/batches/lines/line_tasks.ts";
import type { LineRequest } from "../../../services/batches/lines/line_runner.ts";
import type { VideoCall } from "../../../services/videos/create/plan.ts";
import type { EndedVideo } from "../../../services/videos/tasks/own_tasks.ts";
import type { Videos } from "../../../services/videos/videos.ts";
import type { OwnedServices } from "../opening/own.ts";
import { toCallerError } from "../opening/storage_error.ts";
import { LineMeter } from "./line_meters.ts";
import { recordOf, refusedLine } from "./line_records.ts";
import { ownValue } from "../../../platform/lib/collections/own_value.ts";

/** What lines use of the videos. */
export type LineVideos = Pick<Videos, "estimate" | "createFor" | "readEnded" | "cancel">;

/** What {@linkcode createLineTasks} needs. */
export interface LineTaskOptions {
  /** The services of the active configuration. */
  readonly services: () => OwnedServices;
  readonly observer: RequestObserver | null;
  readonly videos: LineVideos;
}

/** The statuses of tasks without a result in a file of results. Other failures are those of a vendor: 502. */
const STATUSES: Readonly<Record<string, number>> = {
  content_policy_violation: 400,
  cancelled: 409,
  expired: 504,
};

/**
 * The most that the task of a line can cost.
 *
 * @throws {GatewayError} What a create request would be refused with, before its media are read.
 */
export async function estimateTask(
  line: LineRequest,
  { services, videos }: Pick<LineTaskOptions, "videos"> & { readonly services: OwnedServices },
): Promise<Money> {
  const memory = services.memory.lease(line.credential.accountId);
  try {
    return await videos.estimate(callOf(line, { receivedAt: services.clock.now(), memory }));
  } catch (error) {
    throw toCallerError(error);
  } finally {
    memory.end();
  }
}

/** Makes the tasks of lines as their endpoint makes those of requests, with the money of their batch. */
export function createLineTasks({ services: current, observer, videos }: LineTaskOptions): LineTasks {
  return {
    async begin({ request, part, batch, customId, expiresAt }, add) {
      const services = current();
      const { accountId } = request.credential;
      const record = recordOf(request, services, observer);
      const { requestId, receivedAt } = record.arrival;
      const memory = services.memory.lease(accountId);
      record.kind = "video";
      let failure: unknown = null;
      try {
        const call = callOf(request, { receivedAt, memory });
        record.model = typeof call.body.model === "string" ? call.body.model : null;
        const isBegun = await videos.createFor({
          meter: new LineMeter(services.meter, part, services.log),
          deadlineAt: expiresAt,
          line: { batch, customId },
          add: async ({ id: taskId, amount, commit }) => {
            try {
              return await add({ taskId, requestId, amount, commit });
            } catch (error) {
              failure = error; // of the run, not of the line
              throw error;
            }
          },
        }, call);
        if (!isBegun) return "left"; // its record is no request's
        record.status = 202;
        record.respondedAt = services.clock.now();
        record.release();
        return "begun";
      } catch (error) {
        if (failure !== null) throw failure;
        return await refusedLine(request, toCallerError(error), record);
      } finally {
        memory.end();
      }
    },
    async ended({ client }, tasks) {
      const found = await videos.readEnded(tasks.map(({ taskId }) => taskId));
      const ended = new Map<string, EndedLineTask>();
      for (const { taskId, requestId } of tasks) {
        const end = found.get(taskId);
        if (end !== undefined) ended.set(taskId, endOf(end, { requestId, client }));
      }
      return ended;
    },
    async cancel(keyId, taskId) {
      try {
        await videos.cancel(keyId, taskId);
      } catch (error) {
        // It has ended, or it goes on until a later look, its result or its deadline.
        if (!(error instanceof GatewayError)) throw error;
      }
    },
  };
}

/** @throws {GatewayError} `invalid_request`. */
function callOf(
  { body, credential: { keyId, accountId, limits } }: LineRequest,
  { receivedAt, memory }: { readonly receivedAt: number; readonly memory: HeldMemory },
): VideoCall {
  const { body: fields } = jsonObjectOf(body, memory);
  return { keyId, accountId, limits, receivedAt, memory, body: withOpenaiFields(fields) };
}

function endOf(
  end: EndedVideo | null,
  { requestId, client }: { readonly requestId: string; readonly client: string | undefined },
): EndedLineTask {
  const replyOf = (status: number, body: object) => ({
    requestId,
    status,
    body: new TextEncoder().encode(JSON.stringify(body)),
    charge: null,
  });
  if (end === null) {
    const error = { code: "not_found", message: "The video was removed before its line was settled" };
    return { reply: replyOf(404, { error }), cost: 0n, isStopped: false };
  }
  const { task, cost } = end;
  const status = task.status === "completed" ? 200 : ownValue(STATUSES, task.error?.code ?? task.status) ?? 502;
  const isStopped = task.status === "cancelled" || task.status === "expired";
  return { reply: replyOf(status, dialectNamed(client).writeTask(task)), cost, isStopped };
}
