import { describe, expect, test } from "vitest";
import { RefusedList } from "../../../service/sanctions/list-file.ts";
import { parseSdn } from "../../../service/sanctions/parse-sdn.ts";
import { bytesOf, evmAddress, sdnXml, type TestId, type TestParty } from "./sdn-file.ts";

const parse = (xml: string | Uint8Array, size?: number) => parseSdn(bytesOf(xml, size));

const party = (fixedRef: string, ...ids: TestId[]): TestParty => ({ fixedRef, ids });
const id = (currency: string, value: string): TestId => ({ currency, value });
const one = party("12345", id("ETH", evmAddress(1)));

describe("a list", () => {
  test("gives the EVM addresses of every currency once, lower-case, with the lowest OFAC id, and its date of issue", async () => {
    const mixed = "0x8589427373D6D84E98730D7795D8f6f8731FDA16";
    const xml = sdnXml({
      parties: [
        party("27307", id("ETH", mixed), id("USDT", mixed), id("XBT", "12QtD5BFwRsdNsAZY76UVE1xyCGNTojH9h")),
        party("900", id("USDC", evmAddress(2)), id("ARB", evmAddress(3)), id("USDT", mixed)),
        party("31000", id("USDT", "TNiq9AXBp9EjUqhDhrwrfvAA8U3GUQZH81"), id("BSC", ` ${evmAddress(1)}\n`)),
      ],
      edition: ["2026", "3", "9"],
    });
    const expected = {
      edition: "2026-03-09",
      entries: [
        { address: evmAddress(1), reference: "31000" },
        { address: evmAddress(2), reference: "900" },
        { address: evmAddress(3), reference: "900" },
        { address: mixed.toLowerCase(), reference: "900" },
      ],
      parties: 3,
      otherIds: 2,
      malformedCount: 0,
      malformed: [],
    };
    // However the bytes arrive.
    for (const size of [1, 7, 1_000_000]) expect(await parse(xml, size)).toEqual(expected);
  });

  test("is read with a namespace prefix, a byte order mark, character references and CDATA as well", async () => {
    const address = evmAddress(0xab);
    const spelled = `<![CDATA[0x]]>&#48;${address.slice(3)}`;
    const xml = sdnXml({ parties: [party("7", id("ETH", spelled))] })
      .replaceAll(/<(\/?)([A-Z])/g, "<$1s:$2")
      .replace("xmlns=", "xmlns:s=");
    expect((await parse(`\uFEFF${xml}`)).entries).toEqual([{ address, reference: "7" }]);
  });

  test("names the first ids that should be EVM addresses but are not, and counts all of them", async () => {
    const short = id("ETH", "0x123");
    const list = await parse(
      sdnXml({
        parties: [
          one,
          party("5", id("ETH", "\u001bnot an address"), id("USDT", `${evmAddress(4)}00`)),
          party("6", ...Array.from({ length: 30 }, () => short)),
        ],
      }).replace("\u001b", "\u00e9"),
    );
    expect(list.entries).toEqual([{ address: evmAddress(1), reference: "12345" }]);
    expect(list.malformedCount).toBe(32);
    expect(list.malformed).toHaveLength(20);
    expect(list.malformed.slice(0, 3)).toEqual([
      { currency: "ETH", value: "?not an address", reference: "5" },
      { currency: "USDT", value: `${evmAddress(4)}00`, reference: "5" },
      { currency: "ETH", value: "0x123", reference: "6" },
    ]);
  });
});

describe("refused", () => {
  const good = sdnXml({ parties: [one] });
  const address = evmAddress(1);

  test.each<[string, string | Uint8Array, RegExp]>([
    ["an empty file", "", /not well-formed/],
    ["a page in place of the list", "<html><body>Moved</body></html>", /root element is html, not Sanctions/],
    ["text", "not found", /not well-formed/],
    ["a list cut off within an element", good.slice(0, good.indexOf(address) + 9), /not whole/],
    ["a list cut off between parties", good.slice(0, good.indexOf("</DistinctParties>")), /not whole/],
    ["a list cut off at its last character", good.trimEnd().slice(0, -1), /not whole/],
    ["a list twice", `${good.trimEnd()}${good.slice(good.indexOf("<Sanctions "))}`, /not well-formed/],
    [
      "no reference value sets",
      good.replace(/<ReferenceValueSets>[\s\S]*<\/ReferenceValueSets>/, ""),
      /reference value sets/,
    ],
    [
      "no digital currency in them",
      good.replaceAll("Digital Currency Address", "Street Address"),
      /reference value sets/,
    ],
    [
      "reference value sets behind the parties",
      good.replace(/(<ReferenceValueSets>[\s\S]*<\/ReferenceValueSets>)([\s\S]*<\/DistinctParties>)/, "$2$1"),
      /reference value sets/,
    ],
    ["neither reference value sets nor parties", "<Sanctions/>", /reference value sets/],
    [
      "an address of a type that is not defined",
      good.replace('FeatureTypeID="345"', 'FeatureTypeID="346"'),
      /346/,
    ],
    [
      "an address of no party",
      good
        .replace('DistinctParty FixedRef="12345"', "DistinctParty")
        .replace('Profile ID="12345"', "Profile"),
      /OFAC unique id/,
    ],
    [
      "an address in pieces",
      good.replace(address, `${address.slice(0, 9)}<b/>${address.slice(9)}`),
      /element in the text/,
    ],
    ["no date of issue", good.replace(/<DateOfIssue.*<\/DateOfIssue>/, ""), /date of issue/],
    ["a day that does not exist", sdnXml({ parties: [one], edition: ["2026", "2", "30"] }), /date of issue/],
    ["a word for a date", sdnXml({ parties: [one], edition: ["2026", "May", "3"] }), /date of issue/],
    ["bytes that are no UTF-8", Buffer.concat([Buffer.from(good), Buffer.from([0xff, 0xfe])]), /UTF-8/],
    ["another encoding", good.replace("utf-8", "iso-8859-1"), /iso-8859-1/],
    ["UTF-16", Buffer.from(`\uFEFF${good}`, "utf16le"), /UTF-8|well-formed/],
  ])("%s", async (_name, xml, reason) => {
    await expect(parse(xml)).rejects.toThrow(RefusedList);
    await expect(parse(xml)).rejects.toThrow(reason);
  });
});

describe("a hostile file ends early, with little of it read", () => {
  const CHUNK = 65_536;
  const MOST_READ = 2_000_000;

  /** Returns how much of an endless file the parser reads. A parser that reads to the end never returns. */
  async function readOf(start: string, endless: string): Promise<number> {
    let read = 0;
    const piece = Buffer.from(endless.repeat(Math.ceil(CHUNK / endless.length)));
    async function* bytes() {
      yield Buffer.from(start);
      for (;;) {
        read += piece.length;
        yield piece;
      }
    }
    await expect(parseSdn(bytes())).rejects.toThrow(RefusedList);
    return read;
  }

  test.each([
    ["elements within elements", "<Sanctions>", "<a>"],
    ["one attribute value", '<Sanctions a="', "x"],
    ["attributes of one element", "<Sanctions ", 'a="" '],
    ["the name of an element", "<", "a"],
    ["one text", "<Sanctions>", "x"],
    ["a comment", "<Sanctions><!--", "x"],
    ["CDATA", "<Sanctions><![CDATA[", "x"],
    ["a processing instruction", "<Sanctions><?a ", "x"],
    ["a document type", "<!DOCTYPE a [", "<!ENTITY a 'a'>"],
    ["an entity reference", "<Sanctions>&", "a"],
    ["blanks before the root", "", " "],
  ])("%s without end", async (_name, start, endless) => {
    expect(await readOf(start, endless)).toBeLessThan(MOST_READ);
  });

  test("entities that would grow, or read a file of this machine, are not there", async () => {
    const bomb = '<!DOCTYPE s [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>';
    const external = '<!DOCTYPE s [<!ENTITY a SYSTEM "file:///etc/passwd">]>';
    for (const declared of [bomb, external]) {
      const xml = sdnXml({ parties: [one] }).replace("<Sanctions", `${declared}<Sanctions`);
      await expect(parse(xml)).rejects.toThrow("document type");
    }
    await expect(parse(sdnXml({ parties: [party("1", id("ETH", "&b;"))] }))).rejects.toThrow(
      "not well-formed",
    );
  });

  test("more addresses or feature types than any list has are refused", async () => {
    const [head = ""] = sdnXml({ parties: [] }).split("</DistinctParties>");
    const [types = ""] = head.split("</FeatureTypeValues>");
    const cases = [
      [types, (number: number) => `<FeatureType ID="${number + 10_000}">Colour</FeatureType>`, "too many"],
      [
        head,
        (number: number) =>
          `<DistinctParty FixedRef="9"><Profile ID="9"><Feature FeatureTypeID="345"><FeatureVersion><VersionDetail>${evmAddress(number)}</VersionDetail></FeatureVersion></Feature></Profile></DistinctParty>`,
        "more than 100000 addresses",
      ],
    ] as const;
    for (const [start, piece, reason] of cases) {
      let number = 0;
      async function* bytes() {
        yield Buffer.from(start);
        for (;;) yield Buffer.from(Array.from({ length: 100 }, () => piece(++number)).join(""));
      }
      await expect(parseSdn(bytes())).rejects.toThrow(reason);
    }
  });
});
