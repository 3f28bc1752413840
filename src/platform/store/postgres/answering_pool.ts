import type postgres from "postgres";
import { holdWork } from "../../lib/basics/held.ts";

/** The code of the error of a statement that no connection answered. What it did is unknown. */
export const LOST_STATEMENT = "CONNECTION_LOST";

/** A statement of the client. It is sent when it is awaited, and then belongs to a connection of the server. */
interface Statement extends Promise<unknown> {
  handler(statement: Statement): void;
  /** The connection that has it; null or missing while it waits for one. */
  readonly state?: unknown;
  reject(error: unknown): void;
}

/**
 * A pool in which every statement ends. The client loses a statement that it sends over a connection which has failed
 * and is not closed yet: the statement never ends, and in most cases its connection is never used again. Here it is
 * rejected, and the pool is replaced. Statements that were sent before it end on the former connections.
 *
 * @param open Opens a pool of the client.
 * @param deadlineMs The longest time from the sending of a statement to its answer, which must be longer than the
 * server lets a statement run.
 */
export function answeringPool(open: () => postgres.Sql, deadlineMs: number): postgres.Sql {
  const listening = open(); // its connection is not replaced with the others
  let pool = open();
  const replace = (failed: postgres.Sql) => {
    if (pool !== failed) return;
    pool = open();
    void failed.end({ timeout: deadlineMs / 1_000 }).catch(() => {});
  };
  const watched = <T>(made: T, used = pool): T => {
    if (isStatement(made)) watch(made, { deadlineMs, onLost: () => replace(used) });
    return made;
  };
  /** A connection that its user keeps. After its end, the client loses the statements on it. */
  const reserved = async () => {
    const used = pool;
    // The client waits for ever if it has to open a connection for this.
    await watched(used`select 1`);
    const connection = await used.reserve();
    return new Proxy(connection, {
      apply: (_, receiver, given) => watched(Reflect.apply(connection, receiver, given), used),
    });
  };
  return new Proxy(listening, {
    apply: (_, receiver, given) => watched(Reflect.apply(pool, receiver, given)),
    get(_, name) {
      if (name === "unsafe") return (...given: Parameters<postgres.Sql["unsafe"]>) => watched(pool.unsafe(...given));
      if (name === "listen") return listening.listen;
      if (name === "reserve") return reserved;
      if (name === "end") {
        return async (options?: { readonly timeout?: number }) => {
          await Promise.all([listening.end(options), pool.end(options)]);
        };
      }
      return Reflect.get(pool, name);
    },
  });
}

function isStatement(made: unknown): made is Statement {
  return made instanceof Promise && "handler" in made && "reject" in made;
}

function watch(
  statement: Statement,
  { deadlineMs, onLost }: { readonly deadlineMs: number; readonly onLost: () => void },
): void {
  const { handler } = statement;
  // A part of another statement is never sent, and so never watched.
  statement.handler = (sent) => {
    let sentAt: number | null = null;
    const timer = setInterval(() => {
      if (sent.state === null || sent.state === undefined) return; // it waits for a connection
      sentAt ??= performance.now();
      if (performance.now() - sentAt < deadlineMs) return;
      sent.reject(Object.assign(new Error("no connection answered the statement"), { code: LOST_STATEMENT }));
      onLost();
    }, deadlineMs / 10);
    const stop = () => clearInterval(timer);
    holdWork(Promise.prototype.then.call(sent, stop, stop));
    handler.call(sent, sent);
  };
}
