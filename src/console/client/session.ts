import { ApiError, changeRequest, send, UNREACHABLE } from "./api.ts";
import { endSession, hasEnded, session, type SignedIn } from "./session_state.ts";
import { forgetTab } from "./tab_storage.ts";

interface SessionAnswer {
  readonly session: SignedIn | null;
}

const ADDRESS = "/console/session";
const LINK = /^#link=([0-9A-Za-z]+)$/;

/**
 * Reads the session, or signs in by the link in the address.
 *
 * @throws {ApiError} If the link is not valid. The session is known then.
 */
export async function openSession(): Promise<void> {
  const link = LINK.exec(location.hash)?.[1];
  if (link !== undefined) history.replaceState(null, "", location.pathname + location.search);
  try {
    const answer = link === undefined
      ? await send<SessionAnswer>(ADDRESS, {})
      : await send<SessionAnswer>(ADDRESS, changeRequest("POST", { link }));
    if (answer.session === null) endSession();
    else session.value = sameOr(session.value, answer.session);
  } catch (error) {
    // While the gateway is away, what is shown stays.
    if (!session.value || !(error instanceof ApiError) || error.code !== UNREACHABLE) session.value = null;
    throw error;
  }
}

/**
 * Signs in with an admin key or an API key.
 *
 * @throws {ApiError} If the key is not valid.
 */
export async function signIn(key: string): Promise<void> {
  const answer = await send<SessionAnswer>(ADDRESS, changeRequest("POST", { key }));
  hasEnded.value = false;
  forgetTab();
  session.value = answer.session;
}

/**
 * Signs out.
 *
 * @throws {ApiError}
 */
export async function signOut(): Promise<void> {
  await send<SessionAnswer>(ADDRESS, changeRequest("DELETE", null));
  hasEnded.value = false;
  session.value = null;
  forgetTab();
}

/** The session as it is known, if it is the same one, because the playground belongs to it. */
function sameOr(known: SignedIn | null | undefined, read: SignedIn): SignedIn {
  return known?.token === read.token ? known : read;
}
