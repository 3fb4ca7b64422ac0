import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { numberToHex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { beforeAll, describe, expect, test } from "vitest";
import { parseConfig } from "../../../bin/config.ts";
import { openAccounts } from "../../../bin/keys/open-accounts.ts";
import { keystoreEntropy, writeKeystore } from "../../../service/sender/keystore.ts";
import { useFolder } from "../../support/use-folder.ts";

const KEY = numberToHex(0x51, { size: 32 });
const { address, publicKey } = privateKeyToAccount(KEY);
const OTHER = numberToHex(0x52, { size: 32 });
const LOCAL = { chainId: 31_337 };
const PUBLIC = { chainId: 8_453 };
const folder = useFolder();

beforeAll(() => {
  writeFileSync(
    join(folder, "key.json"),
    writeKeystore({ privateKey: KEY, password: "right" }, keystoreEntropy(), 2),
  );
  writeFileSync(join(folder, "right"), "right\n");
  writeFileSync(join(folder, "wrong"), "wrong\n");
});

const stored = (role: string, password = "right", file = "key.json") => ({
  [`${role}_KEYSTORE`]: join(folder, file),
  [`${role}_KEYSTORE_PASSWORD_FILE`]: join(folder, password),
});

describe("the key of a role", () => {
  test("is a raw key on the local chain, and elsewhere only where that is allowed", async () => {
    const roles = { required: ["publisher"] } as const;
    const given = { PUBLISHER_PRIVATE_KEY: KEY };
    expect((await openAccounts(parseConfig(given), roles, LOCAL)).publisher.address).toBe(address);
    await expect(openAccounts(parseConfig(given), roles, PUBLIC)).rejects.toThrow("ALLOW_RAW_KEYS=1");
    const allowed = parseConfig({ ...given, ALLOW_RAW_KEYS: "1" });
    expect((await openAccounts(allowed, roles, PUBLIC)).publisher.address).toBe(address);
  });

  test("is a keystore or a remote signer on any chain", async () => {
    const config = parseConfig({
      ...stored("PUBLISHER"),
      RELAYER_SIGNER_URL: "http://127.0.0.1:1",
      RELAYER_SIGNER_ADDRESS: publicKey,
    });
    const accounts = await openAccounts(
      config,
      { required: ["publisher"], optional: ["relayer", "owner"] },
      PUBLIC,
    );
    expect([accounts.publisher.address, accounts.relayer?.address, accounts.owner]).toEqual([
      address,
      address,
      undefined,
    ]);
  });

  test("that cannot be used is reported together with all others, without its password", async () => {
    const config = parseConfig({
      ...stored("PUBLISHER", "wrong"),
      ...stored("FACILITATOR", "right", "absent.json"),
      ...stored("RELAYER", "absent"),
      OWNER_PRIVATE_KEY: OTHER,
    });
    const roles = ["publisher", "facilitator", "relayer", "owner", "signer"] as const;
    const failure = openAccounts(config, { required: roles }, PUBLIC);
    await expect(failure).rejects.toThrow(
      [
        "keys that cannot be used:",
        `  PUBLISHER_KEYSTORE: ${join(folder, "key.json")} does not open with that password`,
        `  FACILITATOR_KEYSTORE: ${join(folder, "absent.json")} cannot be read (ENOENT)`,
        `  RELAYER_KEYSTORE_PASSWORD_FILE: ${join(folder, "absent")} cannot be read (ENOENT)`,
        "  OWNER_PRIVATE_KEY holds a raw key, which chain 8453 is refused unless ALLOW_RAW_KEYS=1",
        "  missing settings: SIGNER_PRIVATE_KEY, SIGNER_KEYSTORE or SIGNER_SIGNER_URL",
      ].join("\n"),
    );
  });

  test("of the facilitator is the one that payments name, and not the publisher's", async () => {
    const payments = { X402_PAY_TO: address, X402_FACILITATOR_ADDRESS: privateKeyToAccount(OTHER).address };
    const config = parseConfig({ ...payments, ...stored("FACILITATOR"), ...stored("PUBLISHER") });
    const failure = openAccounts(config, { required: ["publisher", "facilitator"] }, LOCAL);
    await expect(failure).rejects.toThrow("X402_FACILITATOR_ADDRESS: is not");
    await expect(failure).rejects.toThrow("must be another than the publisher's");
  });
});

test.each([
  [
    { PUBLISHER_PRIVATE_KEY: KEY, PUBLISHER_KEYSTORE: "a", PUBLISHER_KEYSTORE_PASSWORD_FILE: "b" },
    "PUBLISHER_PRIVATE_KEY: excludes PUBLISHER_KEYSTORE; one key per role",
  ],
  [{ SIGNER_KEYSTORE: "a" }, "SIGNER_KEYSTORE: needs SIGNER_KEYSTORE_PASSWORD_FILE"],
  [{ RELAYER_KEYSTORE_PASSWORD_FILE: "a" }, "RELAYER_KEYSTORE_PASSWORD_FILE: needs RELAYER_KEYSTORE"],
  [
    { VERDICT_SIGNER_SIGNER_URL: "http://s" },
    "VERDICT_SIGNER_SIGNER_URL: needs VERDICT_SIGNER_SIGNER_ADDRESS",
  ],
  [{ OWNER_SIGNER_ADDRESS: address }, "OWNER_SIGNER_ADDRESS: needs OWNER_SIGNER_URL"],
  [
    { OWNER_SIGNER_URL: "http://s", OWNER_SIGNER_ADDRESS: "0x12" },
    'OWNER_SIGNER_ADDRESS: expected an address, or a public key of 64 bytes where the signer is asked by that, got "0x12"',
  ],
  [
    { OWNER_SIGNER_URL: "ftp://me:hunter2@s", OWNER_SIGNER_ADDRESS: address },
    "got a value not repeated here",
  ],
])("settings that do not fit are refused: %j", (given, message) => {
  expect(() => parseConfig(given)).toThrow(message);
  expect(() => parseConfig(given)).not.toThrow("hunter2");
});
