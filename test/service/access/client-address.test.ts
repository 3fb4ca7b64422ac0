import { describe, expect, it } from "vitest";
import { clientAddress, readTrustedProxies } from "../../../service/access/client-address.ts";

const PROXIES = ["10.0.0.0/8", "2001:db8:ffff::/48", "192.0.2.7"];

function addressBehind(socket: string | null, forwardedFor?: string, proxies: readonly string[] = PROXIES) {
  const trusted = readTrustedProxies(proxies);
  if (trusted === null) throw new Error("no list");
  return clientAddress({ socket, forwardedFor }, trusted);
}

describe("the address that a call is counted for", () => {
  it.each([
    ["the socket's", "203.0.113.9", undefined, "203.0.113.9"],
    ["the socket's, whatever a stranger forwards", "203.0.113.9", "1.2.3.4", "203.0.113.9"],
    [
      "the entry that the proxy added, not those that the client made up",
      "10.1.1.1",
      "6.6.6.6, 203.0.113.9",
      "203.0.113.9",
    ],
    [
      "the right-most that is no proxy of ours",
      "10.1.1.1",
      "6.6.6.6, 203.0.113.9, 192.0.2.7 ,10.2.2.2",
      "203.0.113.9",
    ],
    ["the left-most where all are proxies of ours", "10.1.1.1", "10.3.3.3, 10.2.2.2", "10.3.3.3"],
    ["the proxy's where it forwards nothing", "10.1.1.1", undefined, "10.1.1.1"],
    ["the proxy's where it forwards no address", "10.1.1.1", "203.0.113.9, unknown", "10.1.1.1"],
    ["one with a port", "10.1.1.1", "203.0.113.9:4711", "203.0.113.9"],
    ["IPv6 with a port", "10.1.1.1", "[2001:db8:1:2:3::4]:4711", "2001:db8:1:2::/64"],
    ["IPv4 that IPv6 carries", "::ffff:203.0.113.9", undefined, "203.0.113.9"],
    ["a proxy by the IPv4 that IPv6 carries", "::ffff:10.1.1.1", "203.0.113.9", "203.0.113.9"],
    ["an IPv6 proxy's client", "2001:db8:ffff:1::1", "2001:DB8:0:2::9", "2001:db8:0:2::/64"],
    ["none without a socket", null, "203.0.113.9", null],
  ])("is %s", (_what, socket, forwardedFor, address) => {
    expect(addressBehind(socket, forwardedFor)).toBe(address);
  });

  it.each([
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["2001:db8:1:2::", "2001:db8:1:2::/64"],
    ["2001:0db8:0001:0002:ffff::1", "2001:db8:1:2::/64"],
    ["2001:db8::1:2", "2001:db8:0:0::/64"],
    ["::1", "0:0:0:0::/64"],
    ["fe80::1%eth0", "fe80:0:0:0::/64"],
    ["64:ff9b::192.0.2.1", "64:ff9b:0:0::/64"],
  ])("takes %s by its network %s", (socket, network) => {
    expect(addressBehind(socket)).toBe(network);
  });
});

it.each([
  "10.0.0.0/33",
  "10.0.0.0/",
  "10.0.0.0/8/8",
  "proxy.example",
  "",
  "fe80::1%eth0",
  "::/129",
  "10.0.0.0/0x8",
])("%j is no list of proxies", (entry) => {
  expect(readTrustedProxies([entry])).toBeNull();
});
