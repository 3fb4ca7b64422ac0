import { getAddress, numberToHex, toFunctionSelector } from "viem";
import { describe, expect, test } from "vitest";
import { readRoleChange, renderRoles } from "../../../bin/commands/roles.ts";
import type { ChainRoles } from "../../../service/chain/read-roles.ts";

const account = (number: number) => getAddress(numberToHex(number, { size: 20 }));
const [OWNER, PUBLISHER, SIGNER, OTHER] = [account(1), account(2), account(3), account(4)];
/** 2026-11-20T00:00:00Z. */
const NOW = 1_795_132_800n;
const DAY = 86_400n;

const oracle = {
  address: account(10),
  owner: OWNER,
  pendingOwner: null,
  publisher: PUBLISHER,
  paused: false,
  signers: [
    { address: SIGNER, until: NOW + DAY },
    { address: OTHER, until: NOW - DAY },
  ],
};
const evaluator = { address: account(11), owner: OWNER, pendingOwner: OTHER, signers: [] };
const roles: ChainRoles = { block: 7n, time: NOW, oracle, evaluator };

const change = (line: string, seen = roles) => readRoleChange(line.split(" "), seen);

describe("a change of roles", () => {
  test("is the owner's call to the contract, sent only with --send", () => {
    expect(change(`set-publisher ${OTHER}`)).toEqual({
      words: `oracle: setPublisher(${OTHER})`,
      to: oracle.address,
      from: OWNER,
      data: `${toFunctionSelector("setPublisher(address)")}${OTHER.slice(2).padStart(64, "0")}`,
      send: false,
    });
    expect(change(`set-publisher ${OTHER} --send`).send).toBe(true);
    expect(change(`accept-ownership --on evaluator`)).toMatchObject({ from: OTHER, to: evaluator.address });
  });

  test("gives a signer a last day, as a date or in days from the chain's now", () => {
    expect(change(`set-signer ${OTHER} --on evaluator --until 2027-01-01`).words).toBe(
      `evaluator: setSigner(${OTHER}, 1798761600), until 2027-01-01T00:00:00.000Z`,
    );
    expect(change(`set-signer ${OTHER} --on oracle --until 365d`).words).toContain(`${NOW + 365n * DAY}`);
    expect(change(`remove-signer ${OTHER} --on oracle`).words).toContain(`setSigner(${OTHER}, 0)`);
  });

  test.each([
    ["set-publisher", "expected an address"],
    ["set-publisher 0x0000000000000000000000000000000000000000", "expected an address"],
    [`set-publisher ${OTHER} --on evaluator`, "the oracle alone has a publisher"],
    [`set-signer ${OTHER} --until 365d`, "--on: expected oracle or evaluator"],
    [`set-signer ${OTHER} --on oracle`, "--until: expected a day ahead"],
    [`set-signer ${OTHER} --on oracle --until 2020-01-01`, "--until: expected a day ahead"],
    [`set-signer ${OTHER} --on oracle --until soon`, "--until: expected a day ahead"],
    ["accept-ownership --on oracle", "no transfer of the ownership"],
    [`set-publisher ${OTHER} ${OWNER}`, "one address at a time"],
    ["fire --on oracle", 'unknown action "fire"'],
  ])("%s is refused", (line, message) => {
    expect(() => change(line)).toThrow(message);
  });

  test("of an evaluator that there is not is refused", () => {
    expect(() => change(`remove-signer ${OTHER} --on evaluator`, { ...roles, evaluator: null })).toThrow(
      "the deployment has no evaluator",
    );
  });
});

test("the table says who holds what, until when, and which configured key does not hold its role or cannot pay", () => {
  const gasPriceWei = 10n ** 9n;
  const balanceWei = 10n ** 18n;
  const text = renderRoles({
    roles,
    gasPriceWei,
    accounts: [
      { role: "publisher", address: OTHER, balanceWei },
      { role: "signer", address: SIGNER, balanceWei: 0n },
      { role: "verdictSigner", address: SIGNER, balanceWei: 0n },
      { role: "relayer", address: OTHER, balanceWei: 10n ** 15n },
      { role: "owner", address: OWNER, balanceWei },
    ],
  }).join("\n");
  for (const line of [
    "as of block 7, 2026-11-20T00:00:00.000Z",
    `  publisher   ${PUBLISHER}`,
    `  signer      ${SIGNER} until 2026-11-21T00:00:00.000Z`,
    `  signer      ${OTHER} ran out 2026-11-19T00:00:00.000Z`,
    `  offered to  ${OTHER}`,
    "NOT THE PUBLISHER",
    "NOT A SIGNER",
    "owner of oracle and evaluator",
    "1 million gas: TOO LITTLE",
    "not set: FACILITATOR_PRIVATE_KEY, FACILITATOR_KEYSTORE or FACILITATOR_SIGNER_URL",
  ])
    expect(text).toContain(line);
});
