import { isIPv4, isIPv6 } from "node:net";
import { getDomain } from "tldts";

/**
 * The owner's part of a URL's host: the public suffix and one label, an IPv4 address, or the first 64 bits of an IPv6 one.
 * Suffixes below which a provider gives names to its customers count as public (publicsuffix.org, private section). A host
 * without a suffix is returned whole, and so is a text that is no URL.
 */
export function registrableDomain(url: string): string {
  if (!URL.canParse(url)) return url;
  const { hostname } = new URL(url);
  const address = hostname.replace(/^\[|\]$/g, "");
  if (isIPv4(address)) return address;
  if (isIPv6(address)) return networkOf(address);
  return getDomain(hostname, { allowPrivateDomains: true, validateHostname: false }) ?? hostname;
}

/** Of an address as the URL parser writes it: without a dotted end. */
function networkOf(address: string): string {
  const [head = "", tail] = address.split("::");
  const groups = head === "" ? [] : head.split(":");
  if (tail !== undefined) {
    const last = tail === "" ? [] : tail.split(":");
    groups.push(...Array<string>(8 - groups.length - last.length).fill("0"), ...last);
  }
  return `${groups.slice(0, 4).join(":")}::/64`;
}
