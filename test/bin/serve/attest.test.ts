import { expect, test } from "vitest";
import { parseConfig } from "../../../bin/config.ts";
import { scoreSigner } from "../../../bin/serve/attest.ts";

test("verification alone is served without the key that signs scores, which scoring asks for", async () => {
  expect(await scoreSigner(parseConfig({ INTERFACES: "verification" }), 31_337)).toBeNull();
  for (const INTERFACES of ["scoring", "scoring,verification"])
    await expect(scoreSigner(parseConfig({ INTERFACES }), 31_337)).rejects.toThrow("SIGNER_PRIVATE_KEY");
});
