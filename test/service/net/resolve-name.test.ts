import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";
import { afterEach, expect, test } from "vitest";
import { createNameResolver } from "../../../service/net/resolve-name.ts";

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
  const start = performance.now();
  await expect(resolve("agent.test", AbortSignal.timeout(100))).rejects.toMatchObject({ code: "ECANCELLED" });
  expect(performance.now() - start).toBeLessThan(1_500);
});
