import {
  type Admission,
  type Allowance,
  type Charge,
  fixedReservation,
  type LedgerMeter,
  type Meter,
  type Reservation,
  type ReservationRule,
} from "../../../money/billing/meter/meter.ts";
import { CALLER_ENDPOINTS } from "../../../platform/endpoints/callers.ts";
import type { WholeCallServices } from "./whole_call_routes.ts";
import { BATCH_LIMITS, LINE_ENDPOINTS } from "../../../services/batches/batch.ts";
import type { LineReply, LineRequest, LineRunner } from "../../../services/batches/line_runner.ts";
import type { Inbound, Route } from "../../../platform/http/request/inbound.ts";
import { type RequestObserver, RequestRecord } from "../../../platform/http/request/request_record.ts";
import { newRequestId } from "../../../platform/lib/basics/ids.ts";
import { chain, type MaybePromise } from "../../../platform/lib/basics/maybe_promise.ts";
import type { Money } from "../../../platform/lib/basics/money.ts";
import { Late } from "../../../platform/lib/process/late.ts";
import type { LimitedCaller } from "../../../money/limits/limited_caller.ts";
import { allTokensOf } from "../../../conversation/neutral/usage.ts";
import { renderDefaultError } from "../../../protocols/default/error.ts";
import { TextService } from "../../../services/texts/request/text_service.ts";
import type { CacheFeature } from "../opening/caches.ts";
import { createRequestFiles, createTextRoutes } from "./text_routes.ts";
import type { OwnedServices } from "../opening/own.ts";
import { toCallerError } from "../opening/storage_error.ts";

/** Most gateways have no lines of such endpoints. */
const imageRoutesModule = new Late(() => import("./image_routes.ts"));
const wholeCallRoutesModule = new Late(() => import("./whole_call_routes.ts"));

/** What lines need of a gateway. */
export interface LineRunnerOptions {
  /** The services and features of the active configuration. */
  readonly current: () => {
    readonly services: OwnedServices;
    readonly features: { readonly texts: TextService; readonly caches: Pick<CacheFeature, "caches"> };
  };
  /** Receives the record of each line, as that of a request. */
  readonly observer: RequestObserver | null;
}

/** More than any request costs, so that a rule reserves its highest cost. */
const UNLIMITED: Money = 10n ** 30n;

/** The highest cost of a request whose check has ended. It is thrown so that nothing is sent. */
class LineEstimate extends Error {
  constructor(readonly amount: Money) {
    super("The request was checked");
  }
}

/** Aborts nothing: a check sends nothing. */
const NEVER = new AbortController().signal;

/**
 * Answers lines by the handlers of the endpoints, so that a line is checked, routed, translated and priced as the same
 * request of a connection. Only the money differs: the batch has it already, and the line is charged with its reply.
 */
export function createLineRunner({ current, observer }: LineRunnerOptions): LineRunner {
  return {
    async estimate(line) {
      const { services } = current();
      const record = recordOf(line, services, null);
      try {
        await answer(line, { ...current(), meter: new EstimatingMeter(), record, signal: NEVER });
        return 0n; // an answer without a call costs nothing
      } catch (error) {
        if (error instanceof LineEstimate) return error.amount;
        throw toCallerError(error);
      } finally {
        record.release();
      }
    },
    async run(line, part, signal) {
      const { services } = current();
      const meter = new LineMeter(services.meter, part);
      const record = recordOf(line, services, observer);
      const { requestId } = record.arrival;
      try {
        const { status, body } = await answer(line, { ...current(), meter, record, signal });
        record.status = status;
        return { requestId, status, body, charge: meter.charged };
      } catch (thrown) {
        const error = toCallerError(thrown);
        record.status = error.status;
        record.code = error.code;
        record.message = error.details.loggedMessage ?? error.message;
        record.provider ??= error.details.provider ?? null;
        const body = new Uint8Array(await renderDefaultError(error, requestId).arrayBuffer());
        return { requestId, status: error.status, body, charge: meter.charged };
      } finally {
        record.respondedAt = services.clock.now();
        record.release();
      }
    },
    isBusy: () => current().services.slots.waitingByProvider().values().some((waiting) => waiting > 0),
  };
}

function recordOf(
  { endpoint, credential: { accountId, keyId } }: LineRequest,
  { clock }: OwnedServices,
  observer: RequestObserver | null,
): RequestRecord {
  const receivedAt = clock.now();
  const requestId = newRequestId(receivedAt);
  const arrival = { requestId, receivedAt, method: "POST", sentPath: endpoint, path: endpoint, remote: "" };
  const record = new RequestRecord(arrival, observer);
  record.endpoint = endpoint;
  record.accountId = accountId;
  record.keyId = keyId;
  return record;
}

interface LineCall extends ReturnType<LineRunnerOptions["current"]> {
  readonly meter: Meter;
  readonly record: RequestRecord;
  readonly signal: AbortSignal;
}

async function answer(line: LineRequest, call: LineCall): Promise<Pick<LineReply, "status" | "body">> {
  const { services, record, signal } = call;
  const { endpoint: path, credential: { accountId }, body } = line;
  const route = await routeOf(line, call);
  const { requestId, receivedAt } = record.arrival;
  const headers = { "content-type": "application/json", "content-length": String(body.length) };
  const request = new Request(`http://localhost${path}`, { method: "POST", headers, body, signal });
  const memory = services.memory.lease(accountId);
  const facts = { request, method: "POST", path, endpoint: route, query: "", params: {}, remote: "", memory };
  const inbound: Inbound = { ...facts, requestId, receivedAt, record };
  try {
    const response = await route.handler(inbound);
    // The last byte comes when the charge was made.
    return { status: response.status, body: new Uint8Array(await response.arrayBuffer()) };
  } finally {
    memory.end();
  }
}

async function routeOf(
  { endpoint: path, credential, onFiles }: LineRequest,
  { services, features, meter }: LineCall,
): Promise<Route> {
  const { textBodyBytes, bodyIdleMs: idleMs } = services.config.limits;
  const authenticate = () => credential;
  const routes = LINE_ENDPOINTS.get(path)?.format === undefined
    ? await mediaRoutes(path, { ...services, authenticate, meter })
    : createTextRoutes({
      turns: new TextService({ ...features.texts.parts, meter }),
      caches: features.caches.caches,
      authenticate,
      bodyLimits: { capBytes: textBodyBytes, idleMs },
      files: createRequestFiles(services, { maxBytes: BATCH_LIMITS.lineBytes, ...onFiles && { onFiles } }),
    });
  const route = routes.find((each) => each.method === "POST" && each.path === path);
  if (route === undefined) throw new Error(`No route answers the lines of ${path}`);
  return route;
}

async function mediaRoutes(path: string, services: WholeCallServices): Promise<Route[]> {
  return path === CALLER_ENDPOINTS.createImages.path
    ? (await imageRoutesModule.load()).buildImageRoutes(services)
    : (await wholeCallRoutesModule.load()).buildWholeCallRoutes(services);
}

/** Ends a request where it would be admitted, with its highest cost. */
class EstimatingMeter implements Meter {
  admit(_caller: LimitedCaller, reservation: Money | ReservationRule): never {
    throw new LineEstimate(ruleOf(reservation)(UNLIMITED).amount);
  }

  admitFree(): never {
    throw new LineEstimate(0n);
  }

  probe(_caller: LimitedCaller, reservation: Money | ReservationRule | null): Promise<never> {
    return Promise.reject(new LineEstimate(reservation === null ? 0n : ruleOf(reservation)(UNLIMITED).amount));
  }

  reserve(caller: LimitedCaller, reservation: Money | ReservationRule): never {
    return this.admit(caller, reservation);
  }

  allowance(): Allowance {
    return { spendable: UNLIMITED, budget: null };
  }

  invalidate(): void {}

  flush(): Promise<void> {
    return Promise.resolve();
  }
}

/** Admits one line within its part of the hold of its batch, and keeps its charge for the commit of its reply. */
class LineMeter implements Meter {
  /** Null for nothing. */
  charged: Charge | null = null;

  constructor(private readonly meter: LedgerMeter, private readonly part: Money) {}

  /** The limits of rate, tokens and concurrency hold as for any request. */
  admit(caller: LimitedCaller, reservation: Money | ReservationRule): MaybePromise<Admission> {
    const reserved = ruleOf(reservation)(this.part);
    return chain(this.meter.admitHeld(caller, reserved), (admission) => this.#admission(admission, reserved));
  }

  admitFree(caller: LimitedCaller): MaybePromise<Admission> {
    return this.meter.admitFree(caller);
  }

  probe(caller: LimitedCaller, reservation: Money | ReservationRule | null): Promise<Reservation> {
    return this.meter.probe(caller, reservation);
  }

  reserve(caller: LimitedCaller, reservation: Money | ReservationRule): MaybePromise<Admission> {
    return this.admit(caller, reservation);
  }

  allowance(): Allowance {
    return { spendable: this.part, budget: null };
  }

  invalidate(accountId: string): void {
    this.meter.invalidate(accountId);
  }

  flush(): Promise<void> {
    return Promise.resolve();
  }

  #admission(admission: Admission, reserved: Reservation): Admission {
    return {
      reserved,
      charge: (charge) => {
        this.charged ??= charge;
        admission.release(allTokensOf(charge.usage));
      },
      release: (tokens) => admission.release(tokens),
      onOverdrawn: () => {},
    };
  }
}

function ruleOf(reservation: Money | ReservationRule): ReservationRule {
  return typeof reservation === "bigint" ? fixedReservation(reservation) : reservation;
}
