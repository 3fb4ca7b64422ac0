import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";
import fc from "fast-check";
import { afterEach, expect, test } from "vitest";
import {
  createNameResolver,
  isLoopbackAddress,
  isPublicAddress,
} from "../../../service/net/public-address.ts";
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
  const formats = [
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
      fc.constantFrom(...formats),
      fc.integer({ min: 0, max: 0xffff }),
      fc.integer({ min: 0, max: 0xffff }),
      (format, high, low) => {
        expect(isPublicAddress(format(high.toString(16), low.toString(16)))).toBe(false);
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

const HEADER_BYTES = 12;
const TYPE = { a: 1, aaaa: 28 } as const;
const NAME_ERROR = 3;
const SERVER_FAILURE = 2;

type Zone = {
  readonly code?: number;
  /** Record data in hexadecimal, by type. */
  readonly records?: Readonly<Record<number, readonly string[]>>;
};

const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.close();
});

/** A name server on loopback that answers every question from the zone, or not at all. */
async function startNameServer(zone: Zone | null): Promise<string> {
  const socket = createSocket("udp4");
  sockets.push(socket);
  socket.on("message", (query, sender) => {
    if (zone !== null) socket.send(answerTo(query, zone), sender.port, sender.address);
  });
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  return `127.0.0.1:${socket.address().port}`;
}

/** RFC 1035 section 4.1, for the one question of the query. */
function answerTo(query: Buffer, { code = 0, records = {} }: Zone): Buffer {
  const endOfName = query.indexOf(0, HEADER_BYTES) + 1;
  const type = query.readUInt16BE(endOfName);
  const found = records[type] ?? [];
  const header = Buffer.alloc(HEADER_BYTES);
  query.copy(header, 0, 0, 2);
  header.writeUInt16BE(0x8180 | code, 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(found.length, 6);
  const answers = found.map((data) => {
    const record = Buffer.alloc(12);
    record.writeUInt16BE(0xc000 | HEADER_BYTES, 0);
    record.writeUInt16BE(type, 2);
    record.writeUInt16BE(1, 4);
    record.writeUInt16BE(data.length / 2, 10);
    return Buffer.concat([record, Buffer.from(data, "hex")]);
  });
  return Buffer.concat([header, query.subarray(HEADER_BYTES, endOfName + 4), ...answers]);
}

const IPV6 = `2606470000000000${"0".repeat(12)}1111`;

test("all addresses of both families are given", async () => {
  const zone = { records: { [TYPE.a]: ["5db8d822", "7f000001"], [TYPE.aaaa]: [IPV6] } };
  const resolve = createNameResolver([await startNameServer(zone)]);
  expect(await resolve("agent.test", AbortSignal.timeout(5_000))).toEqual([
    "93.184.216.34",
    "127.0.0.1",
    "2606:4700::1111",
  ]);
});

test("one family is enough, and a name without any has none", async () => {
  const onlyIpv6 = createNameResolver([await startNameServer({ records: { [TYPE.aaaa]: [IPV6] } })]);
  expect(await onlyIpv6("agent.test", AbortSignal.timeout(5_000))).toEqual(["2606:4700::1111"]);
  const unknown = createNameResolver([await startNameServer({ code: NAME_ERROR })]);
  expect(await unknown("agent.test", AbortSignal.timeout(5_000))).toEqual([]);
});

test("a server that fails is an error, not a name without addresses", async () => {
  const resolve = createNameResolver([await startNameServer({ code: SERVER_FAILURE })]);
  await expect(resolve("agent.test", AbortSignal.timeout(5_000))).rejects.toMatchObject({
    code: "ESERVFAIL",
  });
});

test("a silent server is left when the signal says so", async () => {
  const resolve = createNameResolver([await startNameServer(null)]);
  await expect(resolve("agent.test", AbortSignal.timeout(100))).rejects.toMatchObject({ code: "ECANCELLED" });
});
