import { assert, assertEquals, assertNotEquals } from "@std/assert";
import type { Commit, Key, Store, Version } from "../../../src/platform/store/store.ts";
import { writtenVersion } from "../../../src/platform/store/written_version.ts";
import type { Law } from "./law.ts";

const K: Key = ["k"];

/** The versions that a commit returns, so that no caller reads its own writes. */
export function versionLaws(law: Law): void {
  law(
    "commit() returns the version that get() and scan() give for each value it set, in the order of set",
    async ({ store }) => {
      const set = [{ key: ["v", 2], value: "b" }, { key: ["v", "x"], value: "c" }, { key: ["v", 1], value: "a" }];
      const versions = await versionsOf(store, { set });
      assertEquals(versions.length, 3);
      const read = await store.get(set.map(({ key }) => key));
      assertEquals<unknown>(versions, read.map((entry) => entry?.version));
      const scanned = await store.scan(["v"], { limit: 9 });
      assertEquals(scanned.map(({ version }) => version), [versions[2], versions[0], versions[1]]);
    },
  );

  law("a returned version passes a check until the value is written again or deleted", async ({ store }) => {
    const version = await write(store, 1);
    await store.commit(null, { set: [{ key: ["other"], value: 1 }] });
    const next = await write(store, 2, version);
    assertEquals(await store.commit(null, { check: [{ key: K, version }] }), CONFLICT);
    assertNotEquals(next, version);
    await store.commit(null, { delete: [K] });
    assertEquals(await store.commit(null, { check: [{ key: K, version: next }] }), CONFLICT);
  });

  law("a chain of changes by returned versions needs no read", async ({ store }) => {
    let version: Version | null = null;
    const seen = new Set<Version>();
    for (let n = 0; n < 20; n++) {
      version = await write(store, n, version);
      seen.add(version);
    }
    assertEquals(seen.size, 20);
    assertEquals((await store.get([K]))[0]?.value, 19);
  });

  law("a write of an equal value has a new version", async ({ store }) => {
    assertNotEquals(await write(store, "same"), await write(store, "same"));
  });

  law("of values that commits set at the same time, only the version of the last passes a check", async ({ store }) => {
    const versions = await Promise.all(Array.from({ length: 30 }, (_, n) => write(store, n)));
    assertEquals(new Set(versions).size, 30);
    const [entry] = await store.get<number>([K]);
    assertEquals(versions.indexOf(entry?.version ?? ""), entry?.value);
    const checks = versions.map((version) => store.commit(null, { check: [{ key: K, version }] }));
    assertEquals(
      (await Promise.all(checks)).map(({ ok }) => ok),
      versions.map((version) => version === entry?.version),
    );
  });

  law("the version of a value that a waiting commit replaces or deletes never passes a check", async ({ store }) => {
    const [first, , third, last] = await Promise.all([
      write(store, 1),
      store.commit(null, { delete: [K] }),
      write(store, 3),
      store.commit(null, { set: [{ key: K, value: 4 }] }),
    ]);
    assert(last.ok);
    for (const version of [first, third]) {
      assertEquals(await store.commit(null, { check: [{ key: K, version }], set: [{ key: K, value: 5 }] }), CONFLICT);
    }
    await Promise.all([write(store, 6), store.commit(null, { check: [{ key: K, version: third }] })]);
    assertEquals((await store.get([K]))[0]?.value, 6);
  });

  law(
    "of a key that is set twice the last version is the current one; of one set and deleted none is",
    async ({ store }) => {
      const [first, second] = await versionsOf(store, { set: [{ key: K, value: 1 }, { key: K, value: 2 }] });
      assertNotEquals(first, second);
      assertEquals((await store.get([K]))[0]?.version, second);
      const [gone] = await versionsOf(store, { set: [{ key: K, value: 3 }], delete: [K] });
      await write(store, 4);
      for (const version of [first, gone]) {
        assert(version !== undefined);
        assertEquals(await store.commit(null, { check: [{ key: K, version }] }), CONFLICT);
      }
    },
  );

  law("a refused commit and a repeat return no versions", async ({ store }) => {
    const commit: Commit = { check: [{ key: K, version: null }], set: [{ key: K, value: 1 }] };
    const made = await store.commit("once", commit);
    const [entry] = await store.get([K]);
    assertEquals(writtenVersion(commit, made, K), entry?.version);
    for (const operation of ["once", null]) {
      const again = await store.commit(operation, commit);
      assert(!("versions" in again));
      assertEquals(writtenVersion(commit, again, K), null);
    }
    assertEquals(await store.get([K]), [entry ?? null]);
  });

  law("returned versions survive a restart", async ({ store, restarted }) => {
    const version = await write(store, 1);
    const later = await restarted();
    assertEquals((await later.get([K]))[0]?.version, version);
    await write(later, 2, version);
  });
}

const CONFLICT = { ok: false, why: "conflict", at: 0 } as const;

async function versionsOf(store: Store, commit: Commit): Promise<readonly Version[]> {
  const result = await store.commit(null, commit);
  assert(result.ok && !result.replayed);
  return result.versions;
}

/** Sets the value under one key and returns its version. */
async function write(store: Store, value: unknown, checked?: Version | null): Promise<Version> {
  const check = checked === undefined ? {} : { check: [{ key: K, version: checked }] };
  const [version] = await versionsOf(store, { ...check, set: [{ key: K, value }] });
  assert(version !== undefined);
  return version;
}
