import { isIP } from "node:net";
import { type FetchFailure, fetchFailure } from "./exchange.ts";
import { isLoopbackAddress, isPublicAddress } from "./public-address.ts";

export type TargetPolicy = {
  /** Ports that may be asked on public hosts. */
  readonly ports: readonly number[];
  /** For development only: loopback hosts are allowed too, on any port, and by plain http. */
  readonly loopback: "refused" | "allowed";
};

/** Target of a URL, before its name is resolved. */
export type Target = {
  readonly kind: "target";
  readonly secure: boolean;
  /** As the certificate must show it and as the Host header says it: lower-case, without the brackets of IPv6. */
  readonly host: string;
  readonly port: number;
  readonly path: string;
  /** The addresses that the host itself spells; null for a name that must be resolved. */
  readonly addresses: readonly string[] | null;
};

const MAX_URL_CHARACTERS = 2_048;
const DEFAULT_PORTS: Readonly<Record<string, number>> = { "https:": 443, "http:": 80 };
/** Names that never mean a host of the internet (RFC 6761, 6762, 7686, 8375, 9476 and the .internal of ICANN). */
const LOCAL_SUFFIXES = ["localhost", "local", "internal", "home.arpa", "onion", "invalid", "alt"] as const;

/**
 * Reads a URL by the WHATWG parser alone, which spells every IPv4 form (decimal, octal, hexadecimal, short) the one way,
 * and refuses what can be refused without resolving its name.
 */
export function readTarget(text: string, policy: TargetPolicy): Target | FetchFailure {
  if (text.length > MAX_URL_CHARACTERS || !URL.canParse(text)) return fetchFailure("invalid_url");
  const url = new URL(text);
  const defaultPort = DEFAULT_PORTS[url.protocol];
  if (defaultPort === undefined) return fetchFailure("refused_target", REFUSED.scheme);
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  const target: Target = {
    kind: "target",
    secure: url.protocol === "https:",
    host,
    port: url.port === "" ? defaultPort : Number(url.port),
    path: `${url.pathname}${url.search}`,
    addresses: spelledAddresses(host),
  };
  if (url.username !== "" || url.password !== "") return fetchFailure("refused_target", REFUSED.userInfo);
  const allowed =
    target.addresses === null
      ? isPublicName(host) && mayAsk(target, policy)
      : mayConnect(target, target.addresses, policy);
  return allowed ? target : fetchFailure("refused_target", refusalOf(target, policy));
}

/** Conditions of a URL that need no name server. */
const REFUSED = {
  scheme: "The URL must be https.",
  userInfo: "The URL must be without user name and password.",
  name: "The URL must name a host of the internet: a name with a dot, and none of this machine or its network.",
  address: "The URL must name a public address.",
} as const;

function refusalOf({ secure, port, addresses }: Target, { ports }: TargetPolicy): string {
  if (!secure) return REFUSED.scheme;
  if (!ports.includes(port)) return `The URL must be on port ${ports.join(" or ")}, got ${port}.`;
  return addresses === null ? REFUSED.name : REFUSED.address;
}

/**
 * Whether a host with these addresses may be connected to: all public, on an allowed port by https; or, where the policy
 * allows it, all loopback.
 */
export function mayConnect(
  { secure, port }: Target,
  addresses: readonly string[],
  policy: TargetPolicy,
): boolean {
  if (addresses.length === 0) return false;
  if (policy.loopback === "allowed" && addresses.every(isLoopbackAddress)) return true;
  return secure && policy.ports.includes(port) && addresses.every(isPublicAddress);
}

/** A name that could never be connected to is not resolved. */
function mayAsk({ secure, port }: Target, { ports, loopback }: TargetPolicy): boolean {
  return loopback === "allowed" || (secure && ports.includes(port));
}

function spelledAddresses(host: string): readonly string[] | null {
  if (isIP(host) !== 0) return [host];
  return host === "localhost" || host.endsWith(".localhost") ? ["127.0.0.1", "::1"] : null;
}

/** A name without a dot, or with one at its end, would be resolved by the search list and the habits of this machine. */
function isPublicName(host: string): boolean {
  const labels = host.split(".");
  return (
    labels.length > 1 && !labels.includes("") && !LOCAL_SUFFIXES.some((suffix) => host.endsWith(`.${suffix}`))
  );
}
