import { Resolver } from "node:dns/promises";
import { BlockList, isIP } from "node:net";

/**
 * IANA IPv4 special-purpose address registry, multicast and the reserved rest. Entries that the registry calls globally
 * reachable (AS112, AMT, the dead 6to4 relay) are refused with the others: no web page is served there.
 */
const SPECIAL_IPV4 = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.31.196.0/24",
  "192.52.193.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "192.175.48.0/24",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
] as const;

/** A public address that a cloud (Azure) answers from the inside with its machines' metadata. */
const METADATA_IPV4 = "168.63.129.16";

/** The only part of IPv6 that is routed on the internet; loopback, ULA, link-local, mapped and NAT64 forms lie outside. */
const GLOBAL_UNICAST_IPV6 = "2000::/3";

/** Blocks that the IANA IPv6 special-purpose registry takes out of global unicast: Teredo, ORCHID, documentation, 6to4, AS112. */
const SPECIAL_IPV6 = ["2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20"] as const;

const specialIpv4 = blockListOf([...SPECIAL_IPV4, `${METADATA_IPV4}/32`]);
const globalUnicastIpv6 = blockListOf([GLOBAL_UNICAST_IPV6]);
const specialIpv6 = blockListOf(SPECIAL_IPV6);
const loopbackIpv4 = blockListOf(["127.0.0.0/8"]);
const loopbackIpv6 = blockListOf(["::1/128"]);

/** Whether the text is an IPv4 or IPv6 address that belongs to the public internet; false for anything else, zone ids included. */
export function isPublicAddress(address: string): boolean {
  switch (familyOf(address)) {
    case "ipv4":
      return !specialIpv4.check(address, "ipv4");
    case "ipv6":
      return globalUnicastIpv6.check(address, "ipv6") && !specialIpv6.check(address, "ipv6");
    case null:
      return false;
  }
}

/** Whether the text is an address of 127.0.0.0/8, or ::1; false for anything else. */
export function isLoopbackAddress(address: string): boolean {
  switch (familyOf(address)) {
    case "ipv4":
      return loopbackIpv4.check(address, "ipv4");
    case "ipv6":
      return loopbackIpv6.check(address, "ipv6");
    case null:
      return false;
  }
}

function familyOf(address: string): "ipv4" | "ipv6" | null {
  if (address.includes("%")) return null;
  const version = isIP(address);
  if (version === 0) return null;
  return version === 4 ? "ipv4" : "ipv6";
}

function blockListOf(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [network = "", prefix] = range.split("/");
    list.addSubnet(network, Number(prefix), network.includes(":") ? "ipv6" : "ipv4");
  }
  return list;
}

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
