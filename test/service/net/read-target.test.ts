import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { mayConnect, readTarget, type TargetPolicy } from "../../../service/net/read-target.ts";
import { ipv4Ranges, ipv4Text, isOutside } from "./address-oracle.ts";

const PRODUCTION: TargetPolicy = { ports: [443, 8_443], loopback: "refused" };
const DEVELOPMENT: TargetPolicy = { ports: [443], loopback: "allowed" };

function verdict(url: string, policy = PRODUCTION): string {
  const target = readTarget(url, policy);
  return target.kind === "failed" ? target.reason : "target";
}

describe("in production", () => {
  test.each([
    // Not https.
    "http://example.com/",
    "ftp://example.com/",
    "file:///etc/passwd",
    "data:text/plain,x",
    "gopher://127.0.0.1:6379/_INFO",
    "javascript:alert(1)",
    "ws://example.com/",
    "http://127.0.0.1/",
    // User information, which also hides the host from a reader.
    "https://user@example.com/",
    "https://user:secret@example.com/",
    "https://:secret@example.com/",
    "https://example.com@127.0.0.1/",
    // Ports.
    "https://example.com:22/",
    "https://example.com:80/",
    "https://example.com:6379/",
    "https://8.8.8.8:8444/",
    // Every spelling of loopback.
    "https://127.0.0.1/",
    "https://127.1/",
    "https://127.0.1/",
    "https://2130706433/",
    "https://0x7f000001/",
    "https://0x7f.0.0.1/",
    "https://0177.0.0.1/",
    "https://017700000001/",
    "https://127.0.0.1./",
    "https://0x7f.1./",
    "https://127。0。0。1/",
    "https://①②⑦.⓪.⓪.①/",
    "https://%31%32%37.0.0.1/",
    "https:127.0.0.1",
    "https:\\\\127.0.0.1\\",
    "  https://127.0.0.1/",
    "https://127.0.0\n.1/",
    "https://[::1]/",
    "https://[0:0:0:0:0:0:0:1]/",
    "https://[::ffff:127.0.0.1]/",
    "https://[::ffff:7f00:1]/",
    "https://[0:0:0:0:0:ffff:127.0.0.1]/",
    "https://[::127.0.0.1]/",
    "https://localhost/",
    "https://LOCALHOST/",
    "https://localhost./",
    "https://api.localhost/",
    // Unspecified, private, link-local, CGNAT, multicast, broadcast, reserved.
    "https://0/",
    "https://0.0.0.0/",
    "https://[::]/",
    "https://10.0.0.1/",
    "https://10.1/",
    "https://172.16.0.1/",
    "https://192.168.1.1/",
    "https://3232235777/",
    "https://0300.0250.1.1/",
    "https://169.254.1.1/",
    "https://100.64.0.1/",
    "https://224.0.0.1/",
    "https://255.255.255.255/",
    "https://240.0.0.1/",
    "https://198.18.0.1/",
    "https://192.0.2.1/",
    "https://[fc00::1]/",
    "https://[fd12:3456::1]/",
    "https://[fe80::1]/",
    "https://[fec0::1]/",
    "https://[ff02::1]/",
    "https://[2001:db8::1]/",
    // Metadata.
    "https://169.254.169.254/latest/meta-data/",
    "https://0xa9fea9fe/",
    "https://2852039166/",
    "https://[::ffff:169.254.169.254]/",
    "https://[fd00:ec2::254]/",
    "https://100.100.100.200/",
    "https://168.63.129.16/",
    "https://metadata.google.internal/",
    // Translated and tunnelled.
    "https://[64:ff9b::7f00:1]/",
    "https://[64:ff9b::8.8.8.8]/",
    "https://[64:ff9b:1::1]/",
    "https://[2002:7f00:1::]/",
    "https://[2001:0:7f00:1::]/",
    // Names that this machine would complete or that no public server answers.
    "https://intranet/",
    "https://example.com./",
    "https://printer.local/",
    "https://db.svc.internal/",
    "https://nas.home.arpa/",
    "https://hidden.onion/",
  ])("%j is refused", (url) => {
    expect(verdict(url)).toBe("refused_target");
  });

  test.each([
    "",
    "example.com",
    "//example.com/",
    "/path",
    "https://",
    "https://[::1/",
    "https://exa mple.com/",
    "https://1.2.3.4.5/",
    "https://256.0.0.1/",
    "https://0x100000000/",
    "https://[fe80::1%25eth0]/",
    "https://example.com:99999/",
    `https://example.com/${"a".repeat(2_048)}`,
  ])("%j is no URL", (url) => {
    expect(verdict(url)).toBe("invalid_url");
  });

  test("a public name is taken apart as the connection needs it", () => {
    expect(readTarget("HTTPS://Agent.Example.com:8443/a/../b?q=1#part", PRODUCTION)).toEqual({
      kind: "target",
      secure: true,
      host: "agent.example.com",
      port: 8_443,
      path: "/b?q=1",
      addresses: null,
    });
  });

  test("a public address is its own answer from DNS", () => {
    expect(readTarget("https://[2606:4700::1111]/", PRODUCTION)).toMatchObject({
      host: "2606:4700::1111",
      addresses: ["2606:4700::1111"],
    });
    expect(readTarget("https://0x08080808/", PRODUCTION)).toMatchObject({ addresses: ["8.8.8.8"] });
  });

  test("every spelling of an IPv4 address gets the verdict of the address", () => {
    const spellings: ((address: bigint) => string)[] = [
      (address) => ipv4Text(address),
      (address) => `${ipv4Text(address)}.`,
      (address) => String(address),
      (address) => `0x${address.toString(16)}`,
      (address) => `0${address.toString(8)}`,
      (address) => `${address >> 24n}.${address & 0xffffffn}`,
      (address) =>
        `0x${(address >> 24n).toString(16)}.0${((address >> 16n) & 0xffn).toString(8)}.${address & 0xffffn}`,
    ];
    const edges = ipv4Ranges.flatMap(({ first, last }) => [first, last]);
    const addresses = fc.oneof(fc.bigInt(0n, 0xffff_ffffn), fc.constantFrom(...edges));
    fc.assert(
      fc.property(addresses, fc.constantFrom(...spellings), (address, spell) => {
        const expected = isOutside(ipv4Ranges, address) ? "target" : "refused_target";
        expect(verdict(`https://${spell(address)}/`)).toBe(expected);
      }),
      { numRuns: 1_000 },
    );
  });

  test("whatever text is given, the verdict is a value and no loopback, private or unencrypted target passes", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.webUrl(),
          fc.string().map((text) => `https://${text}`),
        ),
        (url) => {
          const target = readTarget(url, PRODUCTION);
          if (target.kind === "failed") return;
          expect(target.secure).toBe(true);
          expect(PRODUCTION.ports).toContain(target.port);
          expect(target.host).toMatch(/[.:]/);
        },
      ),
      { numRuns: 1_000 },
    );
  });
});

describe("the addresses of a name", () => {
  const target = {
    kind: "target",
    secure: true,
    host: "a.test",
    port: 443,
    path: "/",
    addresses: null,
  } as const;

  test.each([
    [["8.8.8.8"], true],
    [["8.8.8.8", "2606:4700::1111"], true],
    [["8.8.8.8", "127.0.0.1"], false],
    [["127.0.0.1", "8.8.8.8"], false],
    [["8.8.8.8", "::ffff:8.8.8.8"], false],
    [["8.8.8.8", "not an address"], false],
    [[], false],
  ])("%j: all must be public: %s", (addresses, allowed) => {
    expect(mayConnect(target, addresses, PRODUCTION)).toBe(allowed);
  });
});

describe("in development", () => {
  test.each([
    "http://127.0.0.1:8545/",
    "http://localhost:4020/x",
    "http://[::1]:1/",
    "https://localhost:4020/",
  ])("%s may be asked, on any port", (url) => {
    expect(verdict(url, DEVELOPMENT)).toBe("target");
  });

  test.each([
    "http://8.8.8.8/",
    "http://10.0.0.1/",
    "https://10.0.0.1/",
    "http://[::ffff:127.0.0.1]/",
    "http://0.0.0.0/",
  ])("%s is refused still", (url) => {
    expect(verdict(url, DEVELOPMENT)).toBe("refused_target");
  });

  test("a name by http must have loopback addresses only", () => {
    const target = readTarget("http://agent.test/", DEVELOPMENT);
    if (target.kind === "failed") throw new Error(target.detail);
    expect(mayConnect(target, ["127.0.0.1", "::1"], DEVELOPMENT)).toBe(true);
    expect(mayConnect(target, ["8.8.8.8"], DEVELOPMENT)).toBe(false);
    expect(mayConnect(target, ["127.0.0.1", "8.8.8.8"], DEVELOPMENT)).toBe(false);
    expect(mayConnect(target, ["127.0.0.1", "10.0.0.1"], DEVELOPMENT)).toBe(false);
  });
});
