import { BlockList, isIP } from "node:net";

/** Where a request came from, as far as the server can see. */
export type CallSource = {
  /** Address of the socket; null without a socket. */
  readonly socket: string | null;
  /** The header X-Forwarded-For. */
  readonly forwardedFor: string | undefined;
};

/** Proxies whose X-Forwarded-For is trusted. */
export type TrustedProxies = { readonly list: BlockList; readonly none: boolean };

const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;
const BITS = { 4: 32, 6: 128 } as const;

/** A list of addresses and CIDR ranges; null where an entry is neither. */
export function readTrustedProxies(entries: readonly string[]): TrustedProxies | null {
  const list = new BlockList();
  for (const entry of entries) {
    const [network = "", prefix, ...rest] = entry.split("/");
    const version = isIP(network);
    if ((version !== 4 && version !== 6) || rest.length > 0 || network.includes("%")) return null;
    const bits = prefix === undefined ? BITS[version] : Number(prefix);
    if ((prefix !== undefined && !/^\d{1,3}$/.test(prefix)) || bits > BITS[version]) return null;
    list.addSubnet(network, bits, familyOf(version));
  }
  return { list, none: entries.length === 0 };
}

/**
 * The address that a call is counted for: the socket's address, or behind trusted proxies the right-most untrusted
 * entry of X-Forwarded-For. An entry that is not an address ends the search at the proxy before it. Null without a
 * socket. IPv6 addresses are cut to the first 64 bits, since that is what one customer gets.
 */
export function clientAddress({ socket, forwardedFor }: CallSource, trusted: TrustedProxies): string | null {
  if (socket === null) return null;
  let address = plain(socket);
  if (trusted.none || forwardedFor === undefined || !isTrusted(address, trusted)) return networkOf(address);
  for (const entry of forwardedFor.split(",").reverse()) {
    const hop = plain(withoutPort(entry.trim()));
    if (isIP(hop) === 0) break;
    address = hop;
    if (!isTrusted(address, trusted)) break;
  }
  return networkOf(address);
}

/** The address that a connection is counted for; null for a trusted proxy, which carries many clients. */
export function connectionAddress(socket: string | undefined, trusted: TrustedProxies): string | null {
  if (socket === undefined || isTrusted(plain(socket), trusted)) return null;
  return networkOf(plain(socket));
}

function isTrusted(address: string, { list }: TrustedProxies): boolean {
  const version = isIP(address);
  return version !== 0 && list.check(address, familyOf(version));
}

function familyOf(version: number): "ipv4" | "ipv6" {
  return version === 4 ? "ipv4" : "ipv6";
}

/** Drops the IPv6 zone and unwraps IPv4-mapped addresses. */
function plain(address: string): string {
  if (!address.includes(":")) return address;
  const [bare = ""] = address.split("%");
  return MAPPED.exec(bare)?.[1] ?? bare;
}

/** Some proxies add the port: 192.0.2.1:443 or [2001:db8::1]:443. */
function withoutPort(entry: string): string {
  return /^\[([^\]]+)\](?::\d+)?$/.exec(entry)?.[1] ?? /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(entry)?.[1] ?? entry;
}

function networkOf(address: string): string {
  if (isIP(address) !== 6) return address;
  const [head = "", tail] = address.toLowerCase().split("::");
  const groups = head === "" ? [] : head.split(":");
  if (tail !== undefined) {
    const last = tail === "" ? [] : tail.split(":");
    // A dotted IPv4 tail stands for two groups.
    const missing = 8 - groups.length - last.length - (tail.includes(".") ? 1 : 0);
    groups.push(...Array<string>(missing).fill("0"), ...last);
  }
  return `${groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(":")}::/64`;
}
