/** What a gateway does of the work of all gateways on one store. */
export interface GatewayRoles {
  /** Whether it answers callers. */
  readonly serves: boolean;
  /** Whether it runs jobs: of videos, webhooks, cached contents, usage and retention. */
  readonly works: boolean;
}

/** The connections for statements of a process that does a single thing. Callers wait for theirs, and jobs do not. */
const SERVE_CONNECTIONS = 8;
const WORK_CONNECTIONS = 4;
/** The parts of one process wait for each other less often than those of two. */
const BOTH_CONNECTIONS = 10;
/** A command does one thing after the other. The second is for a statement while rows are read. */
const COMMAND_CONNECTIONS = 2;

/**
 * The most connections to PostgreSQL for statements on the store. The lock, the messages of other gateways and the log
 * of requests have further ones: see docs/scaling.md.
 *
 * @param roles Those of a gateway; null for a command.
 */
export function storeConnections(roles: GatewayRoles | null): number {
  if (roles === null) return COMMAND_CONNECTIONS;
  if (roles.serves && roles.works) return BOTH_CONNECTIONS;
  return roles.serves ? SERVE_CONNECTIONS : WORK_CONNECTIONS;
}
