import type { Authenticate } from "../../../money/billing/authenticate.ts";
import type { Config } from "../../../config/config.ts";
import { commandKeyOf, configuredAdminKeys } from "../../../config/sections/admin_keys.ts";
import type { AccountKeys } from "../../../console/account_keys.ts";
import { withSecurityHeaders } from "../../../console/security_headers.ts";
import type { ConsoleSessions, ConsoleSessionsParts } from "../../../console/sessions.ts";
import { CONSOLE_ENDPOINTS, CONSOLE_ROOT } from "../../../platform/endpoints/service.ts";
import type { ErrorRenderer, Route } from "../../../platform/http/request/inbound.ts";
import { lazyRoutes } from "../../../platform/http/lazy_routes.ts";
import type { Clock } from "../../../platform/lib/basics/clock.ts";
import { holdWork } from "../../../platform/lib/basics/held.ts";
import { Late } from "../../../platform/lib/process/late.ts";
import type { RequestMetrics } from "../../../observers/metrics/request_metrics.ts";
import type { TrafficHistory } from "../../../observers/metrics/traffic_history.ts";
import type { TrafficKeeper, TrafficKeeperParts } from "../../../observers/metrics/traffic_keeper.ts";
import { renderAdminError } from "../../../protocols/admin/shared/answer.ts";
import type { LiveStreams } from "../../../protocols/admin/shared/live_streams.ts";
import type { AdminAccess } from "../opening/admin_access.ts";
import { createRouter } from "../routing/router.ts";
import { errorName } from "../../../platform/lib/basics/log.ts";

/** Whether a gateway serves the console: as `console` sets, else if it has an admin key. */
export function hasConsole({ console, server }: Pick<Config, "console" | "server">): boolean {
  return console ?? configuredAdminKeys(server).length > 0;
}

/** The parts of the console that last longer than a configuration. Their code is loaded when they are used. */
export class ConsoleState {
  /** The people who have signed in. */
  readonly sessions: Late<ConsoleSessions>;
  /** The keys by which operators send requests as an account. */
  readonly accountKeys: Late<AccountKeys>;
  /** The traffic since the first use, and before it what the store has. */
  readonly history: Late<TrafficHistory>;
  /** The open streams of the overview. */
  readonly streams: Late<LiveStreams>;
  #keeper: TrafficKeeper | null = null;
  #hasEndedStreams = false;
  #isClosed = false;

  constructor(
    readonly clock: Clock,
    readonly requests: Pick<RequestMetrics, "totals">,
    readonly parts: Pick<ConsoleSessionsParts, "store" | "log"> & Pick<TrafficKeeperParts, "store" | "log">,
  ) {
    this.sessions = new Late(async () =>
      new (await import("../../../console/sessions.ts")).ConsoleSessions({ ...parts, clock })
    );
    this.accountKeys = new Late(async () => new (await import("../../../console/account_keys.ts")).AccountKeys(clock));
    this.history = new Late(async () =>
      this.#startHistory(
        ...await Promise.all([
          import("../../../observers/metrics/traffic_history.ts"),
          import("../../../observers/metrics/traffic_keeper.ts"),
        ]),
      )
    );
    this.streams = new Late(async () => {
      const streams = new (await import("../../../protocols/admin/shared/live_streams.ts")).LiveStreams(clock);
      if (this.#hasEndedStreams) streams.close();
      return streams;
    });
  }

  /** Ends the open streams, because the configuration has changed. Their clients connect again. */
  restartStreams(): void {
    const { loading } = this.streams;
    if (loading !== null) holdWork(loading.then((streams) => streams.endAll()));
  }

  /** Ends the open streams and all further ones, because the gateway stops. */
  endStreams(): void {
    this.#hasEndedStreams = true;
    const { loading } = this.streams;
    if (loading !== null) holdWork(loading.then((streams) => streams.close()));
  }

  /** Creates a link that signs in once with the highest admin key of a configuration; null if there is none. */
  async createLink({ config, address }: { readonly config: Config; readonly address: string }): Promise<string | null> {
    const key = hasConsole(config) ? commandKeyOf(config.server) : null;
    if (key === null) return null;
    const sessions = await this.sessions.load();
    // Browsers do not send the part behind the number sign, so no log has it.
    return `${address}${CONSOLE_ROOT}#link=${sessions.createLink(key)}`;
  }

  /** Stops counting, and writes what was counted to the store. */
  async close(): Promise<void> {
    this.#isClosed = true;
    (await this.history.loading)?.stop();
    await this.#keeper?.stop();
  }

  async #startHistory(
    { TrafficHistory }: typeof import("../../../observers/metrics/traffic_history.ts"),
    { TrafficKeeper }: typeof import("../../../observers/metrics/traffic_keeper.ts"),
  ): Promise<TrafficHistory> {
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

const consoleCode = new Late(() =>
  Promise.all([import("../../../console/console.ts"), import("../../../console/bundle.ts")])
);

/** The addresses of the console. The first request to one of them loads its code. */
export function createConsoleRoutes(options: ConsoleRouteOptions): Route[] {
  const { state, access, authenticate, forOperators, forCallers, baseUrl } = options;
  const routes = Object.values(CONSOLE_ENDPOINTS).map((endpoint) => ({ ...endpoint, renderError: renderConsoleError }));
  return lazyRoutes(routes, async () => {
    const [{ consoleRoutes }, { loadConsoleAssets }] = await consoleCode.load();
    const own = forCallers.filter(({ isInConsole }) => isInConsole);
    const rules = { sections: [], renderError: renderConsoleError };
    return consoleRoutes({
      sessions: await state.sessions.load(),
      accountKeys: await state.accountKeys.load(),
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
