/** First and last address of every entry, as the IANA registries list them, multicast and reserved space included. */
const IPV4_RANGES: readonly (readonly [string, string])[] = [
  ["0.0.0.0", "0.255.255.255"],
  ["10.0.0.0", "10.255.255.255"],
  ["100.64.0.0", "100.127.255.255"],
  ["127.0.0.0", "127.255.255.255"],
  // Azure's metadata service, which no registry lists.
  ["168.63.129.16", "168.63.129.16"],
  ["169.254.0.0", "169.254.255.255"],
  ["172.16.0.0", "172.31.255.255"],
  ["192.0.0.0", "192.0.0.255"],
  ["192.0.2.0", "192.0.2.255"],
  ["192.31.196.0", "192.31.196.255"],
  ["192.52.193.0", "192.52.193.255"],
  ["192.88.99.0", "192.88.99.255"],
  ["192.168.0.0", "192.168.255.255"],
  ["192.175.48.0", "192.175.48.255"],
  ["198.18.0.0", "198.19.255.255"],
  ["198.51.100.0", "198.51.100.255"],
  ["203.0.113.0", "203.0.113.255"],
  ["224.0.0.0", "239.255.255.255"],
  ["240.0.0.0", "255.255.255.255"],
];

const IPV6_RANGES: readonly (readonly [string, string])[] = [
  // ::/128, ::1/128, the IPv4-compatible and IPv4-mapped forms, NAT64, discard-only, and all else below global unicast.
  ["0:0:0:0:0:0:0:0", "1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["2001:0:0:0:0:0:0:0", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["2001:db8:0:0:0:0:0:0", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["2002:0:0:0:0:0:0:0", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["2620:4f:8000:0:0:0:0:0", "2620:4f:8000:ffff:ffff:ffff:ffff:ffff"],
  ["3fff:0:0:0:0:0:0:0", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff"],
  // Unassigned, SRv6, ULA, link-local, the former site-local and multicast.
  ["4000:0:0:0:0:0:0:0", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
];

export type Range = { readonly first: bigint; readonly last: bigint };

export const ipv4Ranges: readonly Range[] = IPV4_RANGES.map(([first, last]) => ({
  first: ipv4Number(first),
  last: ipv4Number(last),
}));
export const ipv6Ranges: readonly Range[] = IPV6_RANGES.map(([first, last]) => ({
  first: ipv6Number(first),
  last: ipv6Number(last),
}));

/** Whether none of the ranges holds the number. */
export function isOutside(ranges: readonly Range[], address: bigint): boolean {
  return ranges.every(({ first, last }) => address < first || address > last);
}

/** Dotted decimal. */
export function ipv4Text(address: bigint): string {
  return [24n, 16n, 8n, 0n].map((shift) => (address >> shift) & 0xffn).join(".");
}

/** Eight groups, nothing left out. */
export function ipv6Text(address: bigint): string {
  return Array.from({ length: 8 }, (_, group) => (address >> BigInt(112 - 16 * group)) & 0xffffn)
    .map((group) => group.toString(16))
    .join(":");
}

function ipv4Number(text: string): bigint {
  return text.split(".").reduce((sum, part) => sum * 256n + BigInt(part), 0n);
}

function ipv6Number(text: string): bigint {
  return text.split(":").reduce((sum, part) => sum * 65_536n + BigInt(`0x${part}`), 0n);
}
