/** No gateway responds at the address, or the gateway refuses the admin key. */
export class GatewayUnreachableError extends Error {
  override readonly name = "GatewayUnreachableError";
}

/** The store lacks a migration that the command depends on. */
export class StoreNotMigratedError extends Error {
  override readonly name = "StoreNotMigratedError";
}

/** A process without an address has the store locked: a gateway that starts or stops, or another command. */
export class StoreBusyError extends Error {
  override readonly name = "StoreBusyError";
}

/** A file that is no backup, is not whole, or cannot be restored here. */
export class BackupError extends Error {
  override readonly name = "BackupError";
}
