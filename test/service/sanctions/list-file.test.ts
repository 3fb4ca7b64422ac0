import { expect, test } from "vitest";
import { sanctionsListFile, sanctionsListHash } from "../../../service/sanctions/list-file.ts";
import type { SanctionsEntry } from "../../../service/sanctions/sanctions.ts";
import { evmAddress } from "./sdn-file.ts";

const entry = (number: number, source: SanctionsEntry["source"], reference: string): SanctionsEntry => ({
  address: evmAddress(number),
  source,
  reference,
  detected_at: "2026-11-20T10:00:00.000Z",
});
const ENTRIES = [
  entry(1, "ofac-sdn", "900"),
  entry(2, "chainalysis-oracle", "0x01"),
  entry(2, "ofac-sdn", "901"),
];

test("the file names every source with the hash of its own list, and every entry, whatever their order", () => {
  const file = sanctionsListFile(ENTRIES);
  expect(file).toEqual({
    sources: [
      {
        source: "chainalysis-oracle",
        list_hash: sanctionsListHash([{ address: evmAddress(2), reference: "0x01" }]),
        entries: 1,
      },
      {
        source: "ofac-sdn",
        list_hash: sanctionsListHash([
          { address: evmAddress(1), reference: "900" },
          { address: evmAddress(2), reference: "901" },
        ]),
        entries: 2,
      },
    ],
    entries: ENTRIES,
  });
  expect(sanctionsListFile(ENTRIES.toReversed())).toEqual(file);
});

test("a world without sanctions has a file as well", () => {
  expect(sanctionsListFile([])).toEqual({ sources: [], entries: [] });
});
