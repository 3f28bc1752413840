import { signal } from "@preact/signals";
import { forgetTab } from "./tab_storage.ts";

/** Who has signed in, as `GET /console/session` writes it. */
export type SignedIn = OperatorSession | CallerSession;

interface SessionFields {
  /** What a change must repeat in a header field. */
  readonly token: string;
  /** Unix seconds. */
  readonly expires_at: number;
  /** The gateway's public address for callers, without a final slash. */
  readonly base_url: string;
}

/** An operator, by an admin key. */
export interface OperatorSession extends SessionFields {
  readonly kind: "operator";
  /** Of the admin key. */
  readonly name: string;
  readonly role: "read" | "write" | "owner";
}

/** The owner of an account, by one of its API keys. */
export interface CallerSession extends SessionFields {
  readonly kind: "caller";
  readonly account: string;
  /** The id of the key. */
  readonly key: string;
}

/** The session; undefined until it is known, null without one. */
export const session = signal<SignedIn | null | undefined>(undefined);

/** Whether the session ended by itself, which the sign-in page shows. */
export const hasEnded = signal(false);

/** What a change must repeat in a header field; empty without a session. */
export function sessionToken(): string {
  return session.value?.token ?? "";
}

/** Shows the sign-in page because the session has ended. */
export function endSession(): void {
  if (session.value) hasEnded.value = true;
  forgetTab();
  session.value = null;
}

/** Whether the session may change accounts, keys and money. */
export function canWrite(): boolean {
  const { value } = session;
  return value?.kind === "operator" && value.role !== "read";
}

/** Whether the session may read captured bodies. */
export function isOwner(): boolean {
  const { value } = session;
  return value?.kind === "operator" && value.role === "owner";
}
