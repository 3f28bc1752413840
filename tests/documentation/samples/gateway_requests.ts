import { type Answer, callerOf } from "../../support/gateway_call.ts";
import type { Session } from "./scenario.ts";

/** A caller's request. */
export interface Request {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Default: that of the session. */
  readonly key?: string;
}

/** A chat request to a model of `dev`. */
export const CHAT = { model: "sandbox/chat-1", messages: [{ role: "user", content: "Say hello" }] };

/** Sends a caller's request, and gives the body of the answer. */
export async function callGateway(
  session: Session,
  method: string,
  path: string,
  request: Request = {},
): Promise<unknown> {
  const { body, headers = {}, key = session.variables.SWITCHYARD_KEY ?? "" } = request;
  return (await callerOf(session.stage.address, { authorization: `Bearer ${key}` })(method, path, body, headers)).json;
}

/** Sends an operator's request. */
export async function callAdmin({ stage }: Session, method: string, path: string, body?: unknown): Promise<Answer> {
  return await callerOf(stage.address, { authorization: `Bearer ${stage.adminKey}` })(method, path, body);
}

/** Creates a key of the account `demo`, with these fields, and gives its secret. */
export async function createKey(session: Session, fields: Readonly<Record<string, unknown>>): Promise<string> {
  const { json, text } = await callAdmin(session, "POST", "/admin/v1/accounts/demo/keys", fields);
  if (typeof json?.secret !== "string") throw new Error(`no key was created: ${text}`);
  return json.secret;
}

/** A video task that has ended. */
export async function untilEnded(session: Session, id: string): Promise<Answer> {
  const call = callerOf(session.stage.address, { authorization: `Bearer ${session.variables.SWITCHYARD_KEY}` });
  await call("GET", `/v1/videos/${id}/events`); // a stream until the end
  return await call("GET", `/v1/videos/${id}`);
}

/** The id in this run of a task whose id a sample shows. */
export function idOf({ ids }: Session, start: string): string {
  const [, id] = [...ids].find(([shown]) => shown.startsWith(start)) ?? [];
  if (id === undefined) throw new Error(`no sample showed an id that starts with ${start}`);
  return id;
}
