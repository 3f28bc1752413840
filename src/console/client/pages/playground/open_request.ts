import { ApiError, read } from "../../api.ts";
import { isOwner, session } from "../../session_state.ts";
import { TEXTS } from "../../texts.ts";
import { type LoggedRequest, requestsEndpoint } from "../requests/logged_request.ts";
import { type JsonObject, objectIn, parsedJson, textIn } from "../../json.ts";
import { payer } from "./payer.ts";
import type { PlaygroundState } from "./playground_state.ts";
import { PROTOCOL_NAMES, PROTOCOLS } from "./protocols/all.ts";

/**
 * Takes over a request of the log, and the account that paid for it. Without its body, which only owners read and which
 * is kept on demand, its model and its protocol are taken over. The audit log records the reading of a body.
 *
 * @returns Why the request is not whole; null if it is.
 * @throws {ApiError} If it cannot be read, or if the playground has no such requests.
 */
export async function openRequest(id: string, state: PlaygroundState): Promise<string | null> {
  const request = await read<LoggedRequest>(`${requestsEndpoint()}/${encodeURIComponent(id)}`);
  const { account, endpoint, model, served_model } = request;
  const body = await bodyOf(request);
  const opened = { path: endpoint ?? "", model: served_model ?? model ?? textIn(body?.model) };
  if (body === null) startLike(opened, state);
  else openWhole(opened, body, state);
  if (account) payer.value = account;
  return body === null ? reasonOf(request) : null;
}

interface Opened {
  /** Of the endpoint. */
  readonly path: string;
  readonly model: string;
}

/** Null without a body that is whole. */
async function bodyOf({ id, has_bodies }: LoggedRequest): Promise<JsonObject | null> {
  if (!isOwner() || has_bodies !== true) return null;
  const address = `/admin/v1/requests/${encodeURIComponent(id)}/bodies`;
  const { request } = await read<{ readonly request: string | null }>(address);
  const body = objectIn(parsedJson(request ?? ""));
  return Object.keys(body).length === 0 ? null : body;
}

function reasonOf({ has_bodies }: LoggedRequest): string {
  const { notWhole, notKept, onlyOwners, notForKeys } = TEXTS.playground;
  if (session.value?.kind === "caller") return notForKeys;
  if (has_bodies !== true) return notKept;
  return isOwner() ? notWhole : onlyOwners;
}

function openWhole({ path, model }: Opened, body: JsonObject, { chat, pictures, videos }: PlaygroundState): void {
  const protocol = protocolOf(path);
  if (protocol !== undefined) chat.open(protocol.name, model, protocol.read(body));
  else if (path === "/v1/images/generations") pictures.open(model, body);
  else if (path === "/v1/images/edits") pictures.openEdit(model, body);
  else if (path === "/v1/videos") videos.open(model, body);
  else throw notOpened();
}

/** What was written stays. */
function startLike({ path, model }: Opened, { chat, pictures, videos }: PlaygroundState): void {
  const protocol = protocolOf(path);
  if (protocol !== undefined) {
    chat.protocol.value = protocol.name;
    chat.panes[0].model.value = model;
  } else if (path.startsWith("/v1/images/")) pictures.model.value = model;
  else if (path === "/v1/videos") videos.model.value = model;
  else throw notOpened();
}

function protocolOf(path: string) {
  return PROTOCOL_NAMES.map((name) => PROTOCOLS[name]).find(({ endpoint }) => path.startsWith(endpoint));
}

function notOpened(): ApiError {
  return new ApiError(TEXTS.playground.notOpened, 0, "unsupported", null);
}
