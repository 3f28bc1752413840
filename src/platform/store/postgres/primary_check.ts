import { codeOf, type Database } from "./database.ts";

/** The functions are missing, not supported or not allowed, as in databases that only speak PostgreSQL's protocol. */
const UNSUPPORTED = /^(0A000|42501|42883)$/;

interface ServerState {
  readonly isStandby: boolean;
  /** Null on a standby, and where there are none. */
  readonly timeline: number | null;
}

/**
 * Finds out whether a server is the primary, since a name or a proxy can lead to another one while a primary is
 * replaced. A standby takes no writes, and what it has is late. A former primary that still runs lacks what was written
 * since. Each promotion begins a timeline with a higher number, so a former primary has a lower one than was seen.
 */
export class PrimaryCheck {
  #timeline = 0;
  #hasTimelines = true;

  /** Why the server of a connection must not be used; null if it may. */
  async refusalOf(sql: Database): Promise<string | null> {
    const { isStandby, timeline } = await this.#stateOf(sql);
    if (isStandby) return "the server is a standby, which takes no writes";
    if (timeline !== null && timeline < this.#timeline) {
      return `the server is a former primary: its timeline is ${timeline}, and ${this.#timeline} was used before. ` +
        "If it is the right one, start the gateway again";
    }
    this.#timeline = timeline ?? this.#timeline;
    return null;
  }

  async #stateOf(sql: Database): Promise<ServerState> {
    if (this.#hasTimelines) {
      try {
        const [row] = await sql<{ isStandby: boolean; file: string | null }[]>`
          select pg_is_in_recovery() as "isStandby",
            case when not pg_is_in_recovery() then pg_walfile_name(pg_current_wal_insert_lsn()) end as file`;
        // The first eight digits of the name of a file of the log are the timeline.
        const timeline = row?.file ? parseInt(row.file.slice(0, 8), 16) : null;
        return { isStandby: row?.isStandby ?? false, timeline };
      } catch (error) {
        if (!UNSUPPORTED.test(codeOf(error))) throw error;
        this.#hasTimelines = false;
      }
    }
    return { isStandby: false, timeline: null };
  }
}
