import type { AdminIdentity, AdminKeys } from "../observers/audit/admin_keys.ts";
import { includesRole } from "../observers/audit/admin_role.ts";
import type { Authenticate } from "../money/billing/authenticate.ts";
import { CALLER_ENDPOINTS as ENDPOINTS, FILES_ROOT } from "../platform/endpoints/callers.ts";
import { addressOf, type Endpoint } from "../platform/endpoints/endpoint.ts";
import { OPERATOR_ENDPOINTS } from "../platform/endpoints/operators.ts";
import { CONSOLE_API, CONSOLE_ENDPOINTS } from "../platform/endpoints/service.ts";
import type { ErrorRenderer, Handler, Inbound, Route } from "../platform/http/request/inbound.ts";
import { readJsonObject } from "../platform/http/bodies/json_body.ts";
import type { RequestRouter } from "../platform/http/request_handler.ts";
import { GatewayError, invalidField } from "../platform/lib/basics/gateway_error.ts";
import type { JsonObject } from "../platform/lib/json/json_object.ts";
import { secondsOf } from "../platform/lib/basics/clock.ts";
import type { AccountKeys, Acting } from "./account_keys.ts";
import { answerAsset, type ConsoleAssets } from "./assets.ts";
import { forwardCall, type ForwardedCall, forwardedInbound, sendOwnCall } from "./forward.ts";
import { endWithSession } from "./session_stream.ts";
import { requireSameOrigin } from "./same_origin.ts";
import { withSecurityHeaders } from "./security_headers.ts";
import { readSessionCookie, writeSessionCookie } from "./session_cookie.ts";
import type { Session } from "./session.ts";
import { type ConsoleSessions, hasCsrfToken } from "./sessions.ts";

/** The dependencies of the console. */
export interface ConsoleOptions {
  readonly sessions: ConsoleSessions;
  /** The keys by which operators send requests as an account. */
  readonly accountKeys: AccountKeys;
  readonly keys: Pick<AdminKeys, "identify">;
  /** Authenticates API keys, and delays the errors of wrong keys. */
  readonly authenticate: Authenticate;
  /** The endpoints for operators. */
  readonly operatorRouter: RequestRouter;
  /** The endpoints for callers that the console uses. */
  readonly callerRouter: RequestRouter;
  readonly assets: () => Promise<ConsoleAssets>;
  readonly renderError: ErrorRenderer;
  /** Gives the gateway's public address without a final slash. */
  readonly baseUrl: () => string;
}

const CSRF_FIELD = "x-console-token";
/** Names the account as which an operator sends a request to an endpoint for callers. */
const ACCOUNT_FIELD = "x-console-account";
/** Addresses of files are signed, so every session may open those that it has. */
const FILES = `${FILES_ROOT}/`;
const BODY_LIMITS = { capBytes: 4_096, idleMs: 10_000 };
/** The endpoint by whose rules an API key signs in; it is open to every valid key. */
const OWN_KEY: Endpoint = ENDPOINTS.readOwnKey;

/** A session, and who it is now. */
interface SignedIn {
  readonly session: Session;
  readonly identity: JsonObject;
}

/**
 * The web console: its page and files, sessions at `/console/session`, and the gateway's own API below `/console/api`,
 * which a session's cookie opens. No other endpoint accepts the cookie. Source: docs/console.md#security.
 */
export function consoleRoutes(options: ConsoleOptions): Route[] {
  const { renderError } = options;
  const route = (endpoint: Endpoint, handler: Handler): Route => ({
    ...endpoint,
    handler: async (inbound) => {
      try {
        return withSecurityHeaders(await handler(inbound), !endpoint.path.startsWith(CONSOLE_API));
      } catch (error) {
        inbound.record.isProbe = false;
        throw error;
      }
    },
    renderError,
  });
  const { readFirstPage, readPage, readAsset, readSession, signIn, signOut, ...api } = CONSOLE_ENDPOINTS;
  return [
    route(readFirstPage, pageHandler(options)),
    route(readPage, pageHandler(options)),
    route(readAsset, assetHandler(options)),
    route(readSession, showHandler(options)),
    route(signIn, signInHandler(options)),
    route(signOut, signOutHandler(options)),
    ...Object.values(api).map((endpoint) => route(endpoint, apiHandler(options))),
  ];
}

/** The page, which is the same for every path below `/console`: the browser's part reads the path. */
function pageHandler({ assets }: ConsoleOptions): Handler {
  return async ({ request }) => answerAsset(request, (await assets()).page);
}

function assetHandler({ assets }: ConsoleOptions): Handler {
  return async ({ request, params }) => {
    const asset = (await assets()).files.get(params.name ?? "");
    if (asset === undefined) throw new GatewayError("not_found", "The console has no such file: reload the page");
    return answerAsset(request, asset);
  };
}

function showHandler(options: ConsoleOptions): Handler {
  return async (inbound) => {
    requireSameOrigin(inbound, options.baseUrl());
    return answer({ session: writeSession(await findSignedIn(inbound, options), options) });
  };
}

/** `POST /console/session` with `{key}`, or with the `{link}` that the gateway has printed. */
function signInHandler(options: ConsoleOptions): Handler {
  const { sessions } = options;
  return async (inbound) => {
    requireSameOrigin(inbound, options.baseUrl());
    const { body } = await readJsonObject(inbound, BODY_LIMITS);
    const key = keyIn(body, sessions);
    const identity = await identify(inbound, key, options);
    const { session, token } = await sessions.start({ key, isOperator: identity.kind === "operator" });
    const replaced = readSessionCookie(inbound.request.headers.get("cookie"));
    if (replaced !== null) await sessions.drop(replaced);
    const response = answer({ session: writeSession({ session, identity }, options) }, 201);
    response.headers.set("set-cookie", writeSessionCookie(token, isSecure(inbound, options)));
    return response;
  };
}

function keyIn({ key, link }: JsonObject, sessions: ConsoleSessions): string {
  if (typeof link === "string") {
    const linked = sessions.useLink(link);
    if (linked !== null) return linked;
    throw new GatewayError("unauthorized", "Cannot sign in: the link was used before or is too old", { field: "link" });
  }
  if (typeof key === "string" && /^[\x21-\x7e]{1,512}$/.test(key)) return key;
  throw invalidField("key", "expected an admin key or an API key");
}

function signOutHandler(options: ConsoleOptions): Handler {
  return async (inbound) => {
    const { session, token } = await requireSession(inbound, options);
    requireToken(inbound, session);
    await options.sessions.end(token);
    await inbound.request.body?.cancel();
    const response = answer({ session: null });
    response.headers.set("set-cookie", writeSessionCookie(null, isSecure(inbound, options)));
    return response;
  };
}

/** Any endpoint of the gateway's API, with the key of the session, or with that of the account an operator acts as. */
function apiHandler(options: ConsoleOptions): Handler {
  const { sessions, callerRouter } = options;
  return async (inbound) => {
    const { session, token } = await requireSession(inbound, options);
    if (inbound.method !== "GET") requireToken(inbound, session);
    const { key, isOperator } = session;
    const call = { path: inbound.path.slice(CONSOLE_API.length), key, hasBody: inbound.method !== "GET" };
    if (isOperator) {
      const operator = await options.keys.identify(key);
      if (operator !== null) {
        const response = await answerOperator(inbound, operator, call, options);
        return isEventStream(inbound, response) ? endWithSession(response, sessions, token) : response;
      }
    } else {
      const response = await unlessInvalidKey(forwardCall(callerRouter, inbound, call));
      if (response !== null) return response;
    }
    await sessions.drop(token);
    throw ended();
  };
}

/** Whether a response sends changes until somebody ends it. Answers to a change, such as replies of models, do not. */
function isEventStream({ method }: Inbound, { headers }: Response): boolean {
  return method === "GET" && headers.get("content-type") === "text/event-stream";
}

async function answerOperator(
  inbound: Inbound,
  { name, role }: AdminIdentity,
  call: ForwardedCall,
  options: ConsoleOptions,
): Promise<Response> {
  const { operatorRouter, callerRouter, accountKeys } = options;
  const account = inbound.request.headers.get(ACCOUNT_FIELD);
  if (account === null) {
    return await forwardCall(call.path.startsWith(FILES) ? callerRouter : operatorRouter, inbound, call);
  }
  if (!includesRole(role, "write")) {
    throw new GatewayError(
      "permission_denied",
      `Cannot send a request as an account: the role of the admin key is "${role}", and this request needs "write"`,
      { field: ACCOUNT_FIELD },
    );
  }
  const acting = { operator: name, account };
  const key = await keyFor(inbound, acting, { ...options, adminKey: call.key });
  const response = await unlessInvalidKey(forwardCall(callerRouter, inbound, { ...call, key }));
  if (response !== null) return response;
  accountKeys.drop(acting);
  throw new GatewayError(
    "conflict",
    `Cannot send a request as the account "${account}": it is suspended, or the console's key was revoked`,
    { field: ACCOUNT_FIELD },
  );
}

/** Null if the key of a call is not valid any more. */
async function unlessInvalidKey(call: Promise<Response>): Promise<Response | null> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof GatewayError && error.code === "invalid_api_key") return null;
    throw error;
  }
}

/**
 * The key by which an operator sends requests as an account. A new one is created by the admin API with the operator's
 * own key, so that its role is checked, and the audit log has it.
 */
function keyFor(
  inbound: Inbound,
  acting: Acting,
  { accountKeys, operatorRouter, adminKey }: ConsoleOptions & { readonly adminKey: string },
): Promise<string> {
  return accountKeys.secretFor(acting, async (expiresAt) => {
    const path = addressOf(OPERATOR_ENDPOINTS.issueKey, { account: acting.account });
    const body = { name: `console: ${acting.operator}`, expires_at: Math.floor(expiresAt / 1_000) };
    const { secret } = await (await sendOwnCall(operatorRouter, inbound, { path, key: adminKey, body })).json();
    return secret;
  });
}

async function requireSession(
  inbound: Inbound,
  { sessions, baseUrl }: ConsoleOptions,
): Promise<{ session: Session; token: string }> {
  requireSameOrigin(inbound, baseUrl());
  const token = readSessionCookie(inbound.request.headers.get("cookie"));
  const session = token === null ? null : await sessions.find(token);
  if (token === null || session === null) throw ended();
  return { session, token };
}

function requireToken({ request: { headers } }: Inbound, session: Session): void {
  if (hasCsrfToken(session, headers.get(CSRF_FIELD))) return;
  throw new GatewayError("permission_denied", "Cannot accept this change: reload the page", { field: CSRF_FIELD });
}

function ended(): GatewayError {
  return new GatewayError("unauthorized", "The session has ended: sign in again");
}

/** The session of a request and its holder; null without one, or if its key is no longer valid. */
async function findSignedIn(inbound: Inbound, options: ConsoleOptions): Promise<SignedIn | null> {
  const token = readSessionCookie(inbound.request.headers.get("cookie"));
  const session = token === null ? null : await options.sessions.find(token);
  if (token === null || session === null) return null;
  try {
    return { session, identity: await identify(inbound, session.key, options) };
  } catch (error) {
    if (!(error instanceof GatewayError) || error.status >= 500) throw error;
    await options.sessions.drop(token);
    return null;
  }
}

/**
 * Who a key is: an operator, or the owner of an API key.
 *
 * @throws {GatewayError} `invalid_api_key`, later and later for a client that sends many wrong keys.
 */
async function identify(inbound: Inbound, key: string, { keys, authenticate }: ConsoleOptions): Promise<JsonObject> {
  const operator = await keys.identify(key);
  if (operator !== null) return { kind: "operator", name: operator.name, role: operator.role };
  const { path } = OWN_KEY;
  const asked = { ...forwardedInbound(inbound, { path, key, hasBody: false }), endpoint: OWN_KEY };
  const { accountId, keyId } = await authenticate(asked);
  return { kind: "caller", account: accountId, key: keyId };
}

function writeSession(signedIn: SignedIn | null, { baseUrl }: Pick<ConsoleOptions, "baseUrl">): JsonObject | null {
  if (signedIn === null) return null;
  const { session: { csrfToken, expiresAt }, identity } = signedIn;
  return { ...identity, token: csrfToken, expires_at: secondsOf(expiresAt), base_url: baseUrl() };
}

/** A client that claims TLS falsely gets a cookie that its own browser does not send. */
function isSecure({ request: { headers } }: Inbound, { baseUrl }: ConsoleOptions): boolean {
  return baseUrl().startsWith("https:") || headers.get("x-forwarded-proto") === "https";
}

function answer(body: JsonObject, status = 200): Response {
  return Response.json(body, { status, headers: { "cache-control": "no-store" } });
}
