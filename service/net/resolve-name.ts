import { Resolver } from "node:dns/promises";

/** All addresses of a host name, asked once; empty when it has none, rejecting when it could not be found out. */
export type ResolveName = (name: string, signal: AbortSignal) => Promise<readonly string[]>;

const TRY_MS = 2_000;
const TRIES = 2;
/** The name exists without addresses of this family, or not at all. */
const NO_ADDRESS = new Set(["ENODATA", "ENOTFOUND"]);

/**
 * Asks the name servers of this machine, or those given, for A and AAAA records. It reads no hosts file and no search
 * list, and ends with the signal; getaddrinfo would do the first two and not the last, and block a thread.
 */
export function createNameResolver(servers?: readonly string[]): ResolveName {
  return async (name, signal) => {
    const resolver = new Resolver({ timeout: TRY_MS, tries: TRIES });
    if (servers !== undefined) resolver.setServers(servers);
    const cancel = () => resolver.cancel();
    signal.addEventListener("abort", cancel, { once: true });
    try {
      const families = await Promise.all([
        resolver.resolve4(name).catch(noneWhereThereAreNone),
        resolver.resolve6(name).catch(noneWhereThereAreNone),
      ]);
      return families.flat();
    } finally {
      signal.removeEventListener("abort", cancel);
    }
  };
}

function noneWhereThereAreNone(error: NodeJS.ErrnoException): string[] {
  if (NO_ADDRESS.has(error.code ?? "")) return [];
  throw error;
}
