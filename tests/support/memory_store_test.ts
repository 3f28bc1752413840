import { openMemoryStore } from "./memory_store.ts";
import { storeContract } from "../contract/store.ts";

storeContract("memory store", async (clock) => ({ store: await openMemoryStore({ clock }) }));
