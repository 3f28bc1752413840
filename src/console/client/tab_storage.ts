/** The only thing that the console keeps in a tab: what was written in the playground. */
const KEY = "switchyard-playground";
/** Enough to tell sessions apart, and too little to be the token. */
const OWNER_CHARACTERS = 8;

/** The session that a tab belongs to. */
export interface TabOwner {
  /** What a change must repeat in a header field. */
  readonly token: string;
}

interface Kept {
  readonly owner: string;
  readonly value: unknown;
}

/**
 * Keeps a value in the tab for a session, so that it survives a reload of the page. It ends with the tab and with the
 * session.
 *
 * @param candidates What is kept: the first one for which the tab has room.
 * @returns Whether one was kept. Otherwise nothing is.
 */
export function keepInTab({ token }: TabOwner, candidates: Iterable<unknown>): boolean {
  for (const value of candidates) {
    try {
      const kept: Kept = { owner: token.slice(0, OWNER_CHARACTERS), value };
      sessionStorage.setItem(KEY, JSON.stringify(kept));
      return true;
    } catch {
      continue; // it is too large
    }
  }
  forgetTab();
  return false;
}

/** What was kept for a session; null without it. What another session has left is removed. */
export function keptInTab({ token }: TabOwner): unknown {
  try {
    const { owner, value }: Kept = JSON.parse(sessionStorage.getItem(KEY) ?? "{}");
    if (owner === token.slice(0, OWNER_CHARACTERS)) return value;
  } catch {
    // Nothing that can be read is kept.
  }
  forgetTab();
  return null;
}

/** Removes what was kept. */
export function forgetTab(): void {
  try {
    sessionStorage.removeItem(KEY);
  } catch {
    // A browser that allows no storage has kept nothing.
  }
}
