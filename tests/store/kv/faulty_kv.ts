/** What a test may do to the database beneath the engine. */
export interface KvFaults {
  /** Called before each atomic write; a throw is the database's. Returning false makes its checks fail. */
  beforeCommit?: () => void | boolean;
  /** Called when a write is done, before its writer hears of it; a throw is the answer lost on the way. */
  afterCommit?: () => void;
  /** What comes of a queue message: itself, nothing, or twice. Default 1. */
  copiesOfMessages?: number;
  /** Called with each key that is read. */
  onRead?: (key: Deno.KvKey) => void;
}

/** Opens Deno KV with a harm that the test may change while it runs. */
export function openFaultyKv(harm: KvFaults): (path: string) => Promise<Deno.Kv> {
  return async (path) => hurtDatabase(await Deno.openKv(path), harm);
}

function hurtDatabase(kv: Deno.Kv, harm: KvFaults): Deno.Kv {
  return new Proxy(kv, {
    get(target, name) {
      if (name === "atomic") return () => hurtAtomic(target.atomic(), harm);
      const member = Reflect.get(target, name);
      if (typeof member !== "function") return member;
      return (...args: unknown[]) => {
        if (name === "get") harm.onRead?.(args[0] as Deno.KvKey);
        if (name === "getMany") { for (const key of args[0] as Deno.KvKey[]) harm.onRead?.(key); }
        return member.apply(target, args);
      };
    },
  });
}

function hurtAtomic(atomic: Deno.AtomicOperation, harm: KvFaults): Deno.AtomicOperation {
  const hurt: Deno.AtomicOperation = new Proxy(atomic, {
    get(target, name) {
      return (...args: unknown[]) => {
        const copies = name === "enqueue" ? harm.copiesOfMessages ?? 1 : 1;
        if (name === "commit") return commitHurt(target, harm);
        let result: unknown = target;
        for (let i = 0; i < copies; i++) result = Reflect.get(target, name).apply(target, args);
        return result === target ? hurt : result;
      };
    },
  });
  return hurt;
}

async function commitHurt(
  atomic: Deno.AtomicOperation,
  harm: KvFaults,
): Promise<Deno.KvCommitResult | Deno.KvCommitError> {
  if (harm.beforeCommit?.() === false) return { ok: false };
  const result = await atomic.commit();
  harm.afterCommit?.();
  return result;
}
