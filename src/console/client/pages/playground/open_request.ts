import { ApiError, read } from "../../api.ts";
import { TEXTS } from "../../texts.ts";
import type { LoggedRequest } from "../requests/logged_request.ts";
import { objectIn, parsedJson, textIn } from "../../json.ts";
import { payer } from "./payer.ts";
import type { PlaygroundState } from "./playground_state.ts";
import { PROTOCOL_NAMES, PROTOCOLS } from "./protocols/all.ts";

/**
 * Takes over a request of the log whose body was captured, and the account that paid for it. The audit log records the
 * reading.
 *
 * @throws {ApiError} If it cannot be read, or if the playground has no such requests.
 */
export async function openRequest(id: string, { chat, pictures, videos }: PlaygroundState): Promise<void> {
  const address = `/admin/v1/requests/${encodeURIComponent(id)}`;
  const { account, endpoint, model, served_model } = await read<LoggedRequest>(address);
  const { request } = await read<{ readonly request: string | null }>(`${address}/bodies`);
  const body = objectIn(parsedJson(request ?? ""));
  const path = endpoint ?? "";
  const protocol = PROTOCOL_NAMES.map((name) => PROTOCOLS[name]).find((each) => path.startsWith(each.endpoint));
  if (Object.keys(body).length === 0) throw new ApiError(TEXTS.playground.notWhole, 0, "unreadable", null);
  const name = served_model ?? model ?? textIn(body.model);
  if (protocol !== undefined) chat.open(protocol.name, name, protocol.read(body));
  else if (path === "/v1/images/generations") pictures.open(name, body);
  else if (path === "/v1/images/edits") pictures.openEdit(name, body);
  else if (path === "/v1/videos") videos.open(name, body);
  else throw new ApiError(TEXTS.playground.notOpened, 0, "unsupported", null);
  if (account) payer.value = account;
}
