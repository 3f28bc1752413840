import { openMemoryStore } from "../../src/store/memory.ts";
import { storeContract } from "../contract/store.ts";

storeContract("memory store", async (clock) => ({ store: await openMemoryStore({ clock }) }));
