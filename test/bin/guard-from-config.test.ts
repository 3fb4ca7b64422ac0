import { expect, test } from "vitest";
import { parseConfig } from "../../bin/config.ts";
import { guardFromConfig } from "../../bin/from-config.ts";

test("loopback hosts are refused unless the local chain is asked for them", () => {
  expect(guardFromConfig(parseConfig({}), 31337)).toMatchObject({ loopback: "refused" });
  expect(guardFromConfig(parseConfig({ PROBE_LOOPBACK: "0" }), 8453)).toMatchObject({ loopback: "refused" });
  expect(guardFromConfig(parseConfig({ PROBE_LOOPBACK: "1" }), 31337)).toMatchObject({ loopback: "allowed" });
});

test("no other chain allows them", () => {
  expect(() => guardFromConfig(parseConfig({ PROBE_LOOPBACK: "1" }), 8453)).toThrow(
    "PROBE_LOOPBACK=1 is for chain 31337 alone, and this is chain 8453",
  );
});
