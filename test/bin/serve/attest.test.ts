import { zeroAddress } from "viem";
import { expect, test } from "vitest";
import { parseConfig } from "../../../bin/config.ts";
import { attestPort } from "../../../bin/serve/attest.ts";

const CHAIN = { chainId: 31_337, oracle: zeroAddress };

test("verification alone is served without the key that signs scores, which scoring asks for", () => {
  expect(() => attestPort(parseConfig({ INTERFACES: "verification" }), CHAIN)).not.toThrow();
  for (const INTERFACES of ["scoring", "scoring,verification"])
    expect(() => attestPort(parseConfig({ INTERFACES }), CHAIN)).toThrow("SIGNER_PRIVATE_KEY");
});
