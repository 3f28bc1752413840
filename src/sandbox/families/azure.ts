import { isObject, objectOf, objectsOf, parsedOrNull } from "../../conversation/neutral/wire_value.ts";
import type { MaybePromise } from "../../platform/lib/basics/maybe_promise.ts";
import { type Call, isMissingModel, isRejectedKey, jsonResponse, type VendorApi } from "../call.ts";
import { SimulatedError } from "../simulated_error.ts";
import { openai } from "./openai/openai.ts";

const DEPLOYMENT = /^\/openai\/deployments\/([^/]+)(\/.+)$/;
const API_VERSION = /^20\d\d-\d\d-\d\d(?:-preview)?$/;
const OF_DEPLOYMENTS = /^\/(?:chat\/completions|embeddings|images\/(?:generations|edits)|audio\/[a-z]+)$/;

/**
 * A resource of Azure OpenAI: the v1 API, and the dated API, in which a deployment is named by the address. The key is
 * sent in `api-key`, a token as bearer. Source: Azure OpenAI REST API reference, "Data plane inference", "v1 API".
 */
export const azure: VendorApi = {
  prefix: "/azure",
  handle(call) {
    const authorized = { ...call, headers: authorizedHeaders(call) };
    if (call.path.endsWith("/chat/completions")) checkParts(call.text);
    if (call.path.startsWith("/openai/v1/")) {
      return openai.handle({ ...authorized, path: call.path.slice("/openai".length) });
    }
    if (!API_VERSION.test(call.query.get("api-version") ?? "")) throw notFound();
    const [, name, endpoint] = DEPLOYMENT.exec(call.path) ?? [];
    if (name !== undefined && endpoint !== undefined) return callDeployment(authorized, name, endpoint);
    if (call.path !== "/openai/responses" && call.path !== "/openai/models") throw notFound();
    return openai.handle({ ...authorized, path: call.path.replace("/openai", "/v1") });
  },
  writeError(failure, call) {
    if (failure.details.code === undefined || !/^\d+$|^Deployment/.test(failure.details.code)) {
      return openai.writeError(failure, call);
    }
    return jsonResponse({ error: { code: failure.details.code, message: failure.message } }, {}, failure.status);
  },
};

/** Source: pydantic/pydantic-ai, provider of Azure: chat completions has no documents. */
function checkParts(text: string): void {
  const messages = objectsOf(objectOf(parsedOrNull(text))?.messages);
  if (!messages.some(({ content }) => objectsOf(content).some(({ type }) => type === "file"))) return;
  throw new SimulatedError(400, "Invalid Value: 'file'. This model does not support file content types.", {
    param: "messages",
  });
}

function authorizedHeaders({ headers }: Call): Headers {
  const key = headers.get("api-key") ?? /^Bearer (\S+)$/i.exec(headers.get("authorization") ?? "")?.[1];
  if (key === undefined || isRejectedKey(key)) {
    throw new SimulatedError(
      401,
      "Access denied due to invalid subscription key or wrong API endpoint. Make sure to provide a valid key for an " +
        "active subscription and use a correct regional API endpoint for your resource.",
      { code: "401" },
    );
  }
  const authorized = new Headers(headers);
  authorized.set("authorization", `Bearer ${key}`);
  return authorized;
}

/** The model in the body does not count. */
function callDeployment(call: Call, name: string, endpoint: string): MaybePromise<Response> {
  const model = decodeURIComponent(name);
  if (!OF_DEPLOYMENTS.test(endpoint)) throw notFound();
  if (isMissingModel(model)) {
    throw new SimulatedError(
      404,
      "The API deployment for this resource does not exist. If you created the deployment within the last 5 minutes, " +
        "please wait a moment and try again.",
      { code: "DeploymentNotFound" },
    );
  }
  const body = call.form === null ? parsedOrNull(call.text) : null;
  call.form?.set("model", model);
  const text = isObject(body) ? JSON.stringify({ ...body, model }) : call.text;
  return openai.handle({ ...call, path: `/v1${endpoint}`, text });
}

function notFound(): SimulatedError {
  return new SimulatedError(404, "Resource not found", { code: "404" });
}
