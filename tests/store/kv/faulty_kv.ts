/** Faults of the database that a test can set. */
export interface KvFaults {
  /** Called before each atomic write. Its error becomes the database's; false makes the checks fail. */
  beforeCommit?: () => void | boolean;
  /** Called after a write, before its writer gets the result. Its error replaces the result. */
  afterCommit?: () => void;
  /** How often a queue message is delivered. Default 1. */
  copiesOfMessages?: number;
  /** Called with each key that is read. */
  onRead?: (key: Deno.KvKey) => void;
}

/** Opens Deno KV with faults that the test can change while it runs. */
export function openFaultyKv(faults: KvFaults): (path: string) => Promise<Deno.Kv> {
  return async (path) => faultyDatabase(await Deno.openKv(path), faults);
}

function faultyDatabase(kv: Deno.Kv, faults: KvFaults): Deno.Kv {
  return new Proxy(kv, {
    get(target, name) {
      if (name === "atomic") return () => faultyAtomic(target.atomic(), faults);
      const member = Reflect.get(target, name);
      if (typeof member !== "function") return member;
      return (...args: unknown[]) => {
        if (name === "get") faults.onRead?.(args[0] as Deno.KvKey);
        if (name === "getMany") { for (const key of args[0] as Deno.KvKey[]) faults.onRead?.(key); }
        return member.apply(target, args);
      };
    },
  });
}

function faultyAtomic(atomic: Deno.AtomicOperation, faults: KvFaults): Deno.AtomicOperation {
  const faulty: Deno.AtomicOperation = new Proxy(atomic, {
    get(target, name) {
      return (...args: unknown[]) => {
        const copies = name === "enqueue" ? faults.copiesOfMessages ?? 1 : 1;
        if (name === "commit") return commitWithFaults(target, faults);
        let result: unknown = target;
        for (let i = 0; i < copies; i++) result = Reflect.get(target, name).apply(target, args);
        return result === target ? faulty : result;
      };
    },
  });
  return faulty;
}

async function commitWithFaults(
  atomic: Deno.AtomicOperation,
  faults: KvFaults,
): Promise<Deno.KvCommitResult | Deno.KvCommitError> {
  if (faults.beforeCommit?.() === false) return { ok: false };
  const result = await atomic.commit();
  faults.afterCommit?.();
  return result;
}
