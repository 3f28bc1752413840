/** The numbers of statuses, as errors of operations have them. Source: google.rpc.Code. */
export const RPC_CODES = {
  CANCELLED: 1,
  UNKNOWN: 2,
  INVALID_ARGUMENT: 3,
  DEADLINE_EXCEEDED: 4,
  NOT_FOUND: 5,
  ALREADY_EXISTS: 6,
  PERMISSION_DENIED: 7,
  RESOURCE_EXHAUSTED: 8,
  FAILED_PRECONDITION: 9,
  ABORTED: 10,
  OUT_OF_RANGE: 11,
  UNIMPLEMENTED: 12,
  INTERNAL: 13,
  UNAVAILABLE: 14,
  DATA_LOSS: 15,
  UNAUTHENTICATED: 16,
} as const;

const NUMBERS: ReadonlyMap<string, number> = new Map(Object.entries(RPC_CODES));

/** The number of a status by its name; that of `UNKNOWN` for any other text. */
export function rpcCodeOf(status: string): number {
  return NUMBERS.get(status) ?? RPC_CODES.UNKNOWN;
}
