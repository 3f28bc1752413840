import { ACCOUNT_ID_EXPECTATION, isAccountId } from "../../money/billing/accounts/account_id.ts";
import type { Hold } from "../../money/billing/hold.ts";
import { OPERATOR_ENDPOINTS } from "../../platform/endpoints/operators.ts";
import { type Handler, pathParam } from "../../platform/http/request/inbound.ts";
import { secondsOf } from "../../platform/lib/basics/clock.ts";
import { GatewayError, invalidField } from "../../platform/lib/basics/gateway_error.ts";
import type { JsonObject } from "../../platform/lib/json/json_object.ts";
import { writeMoney } from "../../platform/lib/basics/money.ts";
import { credentialOf, providerNameOf } from "../../platform/names/provider_name.ts";
import { VIDEO_STATUSES, type VideoStatus } from "../../services/videos/tasks/task.ts";
import type { TaskAdmin, TaskWithHold } from "../../services/videos/upkeep/task_admin.ts";
import { answerJson } from "./shared/answer.ts";
import { type AdminRoute, adminRoute } from "./shared/admin_route.ts";
import { cancelTaskHandler, type RunningVideos, taskResultsHandler } from "./shared/task_changes.ts";
import { formatCursor, readRange, readTimePage, TIME_PAGE_PARAMETERS } from "./shared/time_page.ts";

/** The dependencies of the task endpoints. */
export interface AdminTaskOptions {
  readonly admin: TaskAdmin;
  /** Null for a gateway that does not run. */
  readonly videos: RunningVideos | null;
}

/** The task endpoints of the admin API. */
export function adminTaskRoutes({ admin, videos }: AdminTaskOptions): AdminRoute[] {
  const changes = { admin, videos, writeTask };
  return [
    adminRoute(OPERATOR_ENDPOINTS.listTasks, listHandler(admin), {
      parameters: [...TIME_PAGE_PARAMETERS, "account", "status", "model"],
    }),
    adminRoute(OPERATOR_ENDPOINTS.readTask, getHandler(admin)),
    adminRoute(OPERATOR_ENDPOINTS.mirrorTask, mirrorHandler(admin)),
    adminRoute(OPERATOR_ENDPOINTS.cancelTask, cancelTaskHandler(changes)),
    // Results are private: only owners get their addresses, and the audit log tells who did.
    adminRoute(OPERATOR_ENDPOINTS.readTaskResults, taskResultsHandler(changes), {
      role: "owner",
      isResultAudited: false,
    }),
  ];
}

/**
 * `GET /admin/v1/tasks?account&status&model&from&to&order&limit&after`: `{data, next}` by creation time in whole Unix
 * seconds, from `from` inclusive to `to` exclusive; newest first unless `order=asc`. With `model` a page may be short
 * or empty even if it has a `next`.
 */
function listHandler(admin: TaskAdmin): Handler {
  return async ({ query }) => {
    const page = readTimePage(query);
    const filter = { ...filterIn(query), ...readRange(query) };
    const { tasks, next } = await admin.list(filter, page);
    return answerJson({ data: tasks.map(writeTask), next: next && formatCursor(next) });
  };
}

/** `GET /admin/v1/tasks/:task`: the task. */
function getHandler(admin: TaskAdmin): Handler {
  return async ({ params }) => {
    const found = await admin.read(pathParam(params, "task"));
    if (!found) throw new GatewayError("not_found", "Cannot find the task: no such task");
    return answerJson(writeTask(found));
  };
}

/** `POST /admin/v1/tasks/:task/mirror`: 202 with the task, whose results are copied again; 409 if it has none. */
function mirrorHandler(admin: TaskAdmin): Handler {
  return async ({ params, request }) => {
    await request.body?.cancel();
    return answerJson(writeTask(await admin.mirror(pathParam(params, "task"))), 202);
  };
}

function filterIn(query: string): { account: string | null; status: VideoStatus | null; model: string | null } {
  const parameters = new URLSearchParams(query);
  const account = parameters.get("account");
  if (account !== null && !isAccountId(account)) throw invalidField("account", `expected ${ACCOUNT_ID_EXPECTATION}`);
  const word = parameters.get("status");
  const status = VIDEO_STATUSES.find((each) => each === word) ?? null;
  if (word !== null && status === null) throw invalidField("status", `expected one of ${VIDEO_STATUSES.join(", ")}`);
  const model = parameters.get("model");
  if (model !== null && !/^[\x21-\x7e]{1,256}$/.test(model)) throw invalidField("model", "expected the id of a model");
  return { account, status, model };
}

/** For operators: account, provider, state and cost; nothing that the caller wrote, sent or received. */
function writeTask({ task, hold }: TaskWithHold): JsonObject {
  const { stage, status } = task;
  return {
    id: task.id,
    account: task.account,
    key: task.keyId,
    model: task.model,
    mode: task.mode,
    status,
    step: stage.step,
    step_since: stage.step === "waiting" ? null : secondsOf(stage.since),
    pinned_provider: task.pin,
    provider: stage.step === "waiting" ? null : providerNameOf(stage.provider),
    credential: stage.step === "waiting" ? null : credentialOf(stage.provider),
    upstream_model: stage.step === "waiting" ? null : stage.model,
    upstream_task: stage.step === "submitted" ? stage.job.id : null,
    attempts: task.offers ?? null,
    created_at: secondsOf(task.createdAt),
    updated_at: secondsOf(task.updatedAt),
    deadline_at: secondsOf(task.deadlineAt),
    ended_at: status === "pending" ? null : secondsOf(task.updatedAt), // the time does not change after the end
    estimate: writeMoney(task.price.estimate),
    hold: hold && writeHold(hold),
    charge: task.usage && writeMoney(task.usage.cost),
    video_seconds: task.usage?.seconds ?? null,
    failure: task.error?.code ?? null,
    results: task.results.length,
    copies: task.mirrors.length,
    is_copying: task.mirroring,
    has_callback: task.callbackUrl !== null,
  };
}

function writeHold({ amount, state, captured }: Hold): JsonObject {
  return { amount: writeMoney(amount), state, captured: writeMoney(captured) };
}
