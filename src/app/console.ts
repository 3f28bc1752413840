import type { Authenticate } from "../billing/authenticate.ts";
import type { Config } from "../config/config.ts";
import { commandKeyOf, configuredAdminKeys } from "../config/admin_keys.ts";
import type { AccountKeys } from "../console/account_keys.ts";
import { withSecurityHeaders } from "../console/security_headers.ts";
import type { ConsoleSessions, ConsoleSessionsParts } from "../console/sessions.ts";
import { CONSOLE_ENDPOINTS, CONSOLE_ROOT } from "../endpoints/service.ts";
import type { ErrorRenderer, Route } from "../http/inbound.ts";
import { lazyRoutes } from "../http/lazy_routes.ts";
import type { Clock } from "../lib/clock.ts";
import { holdWork } from "../lib/held.ts";
import type { RequestMetrics } from "../metrics/request_metrics.ts";
import type { TrafficHistory } from "../metrics/traffic_history.ts";
import type { TrafficKeeper, TrafficKeeperParts } from "../metrics/traffic_keeper.ts";
import { renderAdminError } from "../protocols/admin/answer.ts";
import type { LiveStreams } from "../protocols/admin/live_streams.ts";
import type { AdminAccess } from "./admin_access.ts";
import { createRouter } from "./router.ts";
import { errorName } from "../lib/log.ts";

/** Whether a gateway serves the console: as `console` sets, else if it has an admin key. */
export function hasConsole({ console, server }: Pick<Config, "console" | "server">): boolean {
  return console ?? configuredAdminKeys(server).length > 0;
}

/** The parts of the console that last longer than a configuration. Their code is loaded when they are used. */
export class ConsoleState {
  #sessions: Promise<ConsoleSessions> | null = null;
  #accountKeys: Promise<AccountKeys> | null = null;
  #history: Promise<TrafficHistory> | null = null;
  #keeper: TrafficKeeper | null = null;
  #streams: Promise<LiveStreams> | null = null;
  #hasEndedStreams = false;
  #isClosed = false;

  constructor(
    readonly clock: Clock,
    readonly requests: Pick<RequestMetrics, "totals">,
    readonly parts: Pick<ConsoleSessionsParts, "store" | "log"> & Pick<TrafficKeeperParts, "store" | "log">,
  ) {}

  /** The people who have signed in. */
  sessions(): Promise<ConsoleSessions> {
    return this.#sessions ??= import("../console/sessions.ts").then(({ ConsoleSessions }) =>
      new ConsoleSessions({ ...this.parts, clock: this.clock })
    );
  }

  /** The keys by which operators send requests as an account. */
  accountKeys(): Promise<AccountKeys> {
    return this.#accountKeys ??= import("../console/account_keys.ts").then(({ AccountKeys }) =>
      new AccountKeys(this.clock)
    );
  }

  /** The traffic since the first call, and before it what the store has. */
  history(): Promise<TrafficHistory> {
    return this.#history ??= this.#startHistory();
  }

  /** The open streams of the overview. */
  streams(): Promise<LiveStreams> {
    return this.#streams ??= this.#openStreams();
  }

  /** Ends the open streams, because the configuration has changed. Their clients connect again. */
  restartStreams(): void {
    if (this.#streams !== null) holdWork(this.#streams.then((streams) => streams.endAll()));
  }

  /** Ends the open streams and all further ones, because the gateway stops. */
  endStreams(): void {
    this.#hasEndedStreams = true;
    if (this.#streams !== null) holdWork(this.#streams.then((streams) => streams.close()));
  }

  /** Creates a link that signs in once with the highest admin key of a configuration; null if there is none. */
  async createLink({ config, address }: { readonly config: Config; readonly address: string }): Promise<string | null> {
    const key = hasConsole(config) ? commandKeyOf(config.server) : null;
    // Browsers do not send the part behind the number sign, so no log has it.
    return key === null ? null : `${address}${CONSOLE_ROOT}#link=${(await this.sessions()).createLink(key)}`;
  }

  /** Stops counting, and writes what was counted to the store. */
  async close(): Promise<void> {
    this.#isClosed = true;
    (await this.#history)?.stop();
    await this.#keeper?.stop();
  }

  async #openStreams(): Promise<LiveStreams> {
    const { LiveStreams } = await import("../protocols/admin/live_streams.ts");
    const streams = new LiveStreams(this.clock);
    if (this.#hasEndedStreams) streams.close();
    return streams;
  }

  async #startHistory(): Promise<TrafficHistory> {
    const [{ TrafficHistory }, { TrafficKeeper }] = await Promise.all([
      import("../metrics/traffic_history.ts"),
      import("../metrics/traffic_keeper.ts"),
    ]);
    const totals = () => this.requests.totals();
    const history = new TrafficHistory(totals, this.clock);
    if (this.#isClosed) return history;
    history.start();
    const keeper = new TrafficKeeper({ ...this.parts, clock: this.clock, totals });
    this.#keeper = keeper;
    keeper.start();
    try {
      history.precede(await keeper.read());
    } catch (error) {
      this.parts.log.warn("traffic_not_read", { reason: errorName(error) });
    }
    return history;
  }
}

/** Options of {@linkcode createConsoleRoutes}. */
export interface ConsoleRouteOptions {
  readonly state: ConsoleState;
  /** Null without an admin key; then only API keys sign in. */
  readonly access: Pick<AdminAccess, "keys"> | null;
  readonly authenticate: Authenticate;
  readonly forOperators: readonly Route[];
  readonly forCallers: readonly Route[];
  /** Gives the gateway's own address without a final slash. */
  readonly baseUrl: () => string;
}

/** The addresses of the console. The first request to one of them loads its code. */
export function createConsoleRoutes(options: ConsoleRouteOptions): Route[] {
  const { state, access, authenticate, forOperators, forCallers, baseUrl } = options;
  const routes = Object.values(CONSOLE_ENDPOINTS).map((endpoint) => ({ ...endpoint, renderError: renderConsoleError }));
  return lazyRoutes(routes, async () => {
    const { consoleRoutes } = await import("../console/console.ts");
    const { loadConsoleAssets } = await import("../console/bundle.ts");
    const own = forCallers.filter(({ isInConsole }) => isInConsole);
    const rules = { sections: [], renderError: renderConsoleError };
    return consoleRoutes({
      sessions: await state.sessions(),
      accountKeys: await state.accountKeys(),
      keys: access?.keys ?? { identify: () => Promise.resolve(null) },
      authenticate,
      operatorRouter: createRouter(forOperators, rules),
      callerRouter: createRouter(own, rules),
      assets: loadConsoleAssets,
      renderError: renderConsoleError,
      baseUrl,
    });
  });
}

const renderConsoleError: ErrorRenderer = (...failure) => withSecurityHeaders(renderAdminError(...failure), false);
