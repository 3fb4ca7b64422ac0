import fc from "fast-check";
import { expect, test } from "vitest";
import { isLoopbackAddress, isPublicAddress } from "../../../service/net/public-address.ts";
import { ipv4Ranges, ipv4Text, ipv6Ranges, ipv6Text, isOutside, type Range } from "./address-oracle.ts";

/** Anywhere, and as often within two of a range's edge. */
function addresses(bits: number, ranges: readonly Range[]): fc.Arbitrary<bigint> {
  const last = (1n << BigInt(bits)) - 1n;
  const edges = ranges.flatMap(({ first, last: end }) => [first, end]);
  return fc.oneof(
    fc.bigInt(0n, last),
    fc
      .tuple(fc.constantFrom(...edges), fc.bigInt(-2n, 2n))
      .map(([edge, step]) => edge + step)
      .filter((address) => address >= 0n && address <= last),
  );
}

test("an IPv4 address is public exactly where no special-purpose range holds it", () => {
  fc.assert(
    fc.property(addresses(32, ipv4Ranges), (address) => {
      expect(isPublicAddress(ipv4Text(address))).toBe(isOutside(ipv4Ranges, address));
    }),
    { numRuns: 3_000 },
  );
});

test("an IPv6 address is public exactly where it is global unicast of no special purpose, however it is written", () => {
  fc.assert(
    fc.property(addresses(128, ipv6Ranges), (address) => {
      const text = ipv6Text(address);
      const shortest = new URL(`http://[${text}]`).hostname.slice(1, -1);
      const isPublic = isOutside(ipv6Ranges, address);
      expect([isPublicAddress(text), isPublicAddress(shortest), isPublicAddress(text.toUpperCase())]).toEqual(
        [isPublic, isPublic, isPublic],
      );
    }),
    { numRuns: 3_000 },
  );
});

test("no IPv6 form that carries an IPv4 address is public, whatever that address is", () => {
  const carriers = [
    (high: string, low: string) => `::ffff:${high}:${low}`,
    (high: string, low: string) => `::${high}:${low}`,
    (high: string, low: string) => `::ffff:0:${high}:${low}`,
    (high: string, low: string) => `64:ff9b::${high}:${low}`,
    (high: string, low: string) => `64:ff9b:1::${high}:${low}`,
    (high: string, low: string) => `2002:${high}:${low}::1`,
    (high: string, low: string) => `2001:0:${high}:${low}::1`,
    (high: string, low: string) => `fe80::5efe:${high}:${low}`,
  ];
  fc.assert(
    fc.property(
      fc.constantFrom(...carriers),
      fc.integer({ min: 0, max: 0xffff }),
      fc.integer({ min: 0, max: 0xffff }),
      (carrier, high, low) => {
        expect(isPublicAddress(carrier(high.toString(16), low.toString(16)))).toBe(false);
      },
    ),
  );
});

test.each([
  "8.8.8.8",
  "93.184.216.34",
  "172.15.255.255",
  "172.32.0.0",
  "100.63.255.255",
  "100.128.0.0",
  "168.63.129.15",
  "2606:4700::1111",
  "2001:200::1",
  "2a00:1450:4001::200e",
])("%s is public", (address) => {
  expect(isPublicAddress(address)).toBe(true);
});

test.each([
  "169.254.169.254",
  "100.100.100.200",
  "168.63.129.16",
  "192.0.0.192",
  "fd00:ec2::254",
  "::ffff:8.8.8.8",
  "::8.8.8.8",
  "fe80::1%eth0",
  "2606:4700::1111%lo",
  "8.8.8.8%lo",
  "",
  "example.com",
  "0x7f000001",
  "2130706433",
  "127.1",
  "8.8.8.8 ",
  "[2606:4700::1111]",
])("%j is not", (address) => {
  expect(isPublicAddress(address)).toBe(false);
});

test("loopback is 127.0.0.0/8 and ::1, and never a mapped form", () => {
  const given = ["127.0.0.1", "127.255.255.254", "::1", "0:0:0:0:0:0:0:1"];
  expect(given.map(isLoopbackAddress)).toEqual([true, true, true, true]);
  const others = ["128.0.0.1", "::ffff:127.0.0.1", "0:0:0:0:0:ffff:7f00:1", "::", "0.0.0.0", "localhost"];
  expect(others.map(isLoopbackAddress)).toEqual([false, false, false, false, false, false]);
});
