import { type Address, formatEther, isAddressEqual, maxUint64 } from "viem";
import type { ChainRoles, ContractRoles, SignerTerm } from "../../service/chain/read-roles.ts";
import { formsOf } from "../keys/key-settings.ts";
import { ROLE_PREFIXES, ROLES, type Role } from "../keys/key-variables.ts";
import { renderTable } from "../render-table.ts";
import { isoOf } from "./role-change.ts";

/** The configured account of a role, with its balance in wei. */
type RoleAccount = { readonly role: Role; readonly address: Address; readonly balanceWei: bigint };

export type RolesSeen = {
  readonly roles: ChainRoles;
  readonly accounts: readonly RoleAccount[];
  /** Wei that a unit of gas costs now. */
  readonly gasPriceWei: bigint;
};

/** A day of publishing for some thousand wallets: below that, a sending key soon stands still. */
const ENOUGH_GAS = 10_000_000n;
const SENDING: readonly Role[] = ["publisher", "facilitator", "relayer", "owner"];
const MILLION = 1_000_000n;

/** Who holds which role on chain, and whether the configured keys hold theirs and can pay, as lines. */
export function renderRoles(seen: RolesSeen): string[] {
  const { roles, accounts } = seen;
  const { oracle, evaluator, time } = roles;
  return [
    `as of block ${roles.block}, ${isoOf(time)}`,
    "",
    ...renderTable([
      ["oracle", oracle.address],
      ["  owner", oracle.owner],
      ...pendingRow(oracle),
      ["  publisher", oracle.publisher],
      ["  writes", oracle.paused ? "paused" : "open"],
      ...signerRows(oracle, time),
      ...(evaluator === null
        ? [["evaluator", "none"]]
        : [
            ["evaluator", evaluator.address],
            ["  owner", evaluator.owner],
            ...pendingRow(evaluator),
            ...signerRows(evaluator, time),
          ]),
    ]),
    "",
    ...renderTable([
      ["configured here", "account", "on chain", "balance"],
      ...ROLES.map((role) =>
        rowOf(
          role,
          accounts.find((one) => one.role === role),
          seen,
        ),
      ),
    ]),
  ];
}

function pendingRow({ pendingOwner }: ContractRoles): string[][] {
  return pendingOwner === null ? [] : [["  offered to", pendingOwner]];
}

function signerRows({ signers }: ContractRoles, now: bigint): string[][] {
  if (signers.length === 0) return [["  signer", "none"]];
  return signers.map(({ address, until }) => ["  signer", `${address} ${termOf(until, now)}`]);
}

function termOf(until: bigint, now: bigint): string {
  if (until === maxUint64) return "without an end";
  return until < now ? `ran out ${isoOf(until)}` : `until ${isoOf(until)}`;
}

function rowOf(role: Role, account: RoleAccount | undefined, seen: RolesSeen): string[] {
  const name = ROLE_PREFIXES[role];
  if (account === undefined) return [name, `not set: ${formsOf(role)}`];
  const { address, balanceWei } = account;
  return [
    name,
    address,
    standingOf(role, address, seen.roles),
    SENDING.includes(role) ? paysFor(balanceWei, seen) : "",
  ];
}

function standingOf(role: Role, address: Address, { oracle, evaluator, time }: ChainRoles): string {
  switch (role) {
    case "publisher":
      return isAddressEqual(address, oracle.publisher) ? "publisher" : "NOT THE PUBLISHER";
    case "signer":
      return signerStanding(oracle.signers, address, time);
    case "verdictSigner":
      return evaluator === null ? "no evaluator" : signerStanding(evaluator.signers, address, time);
    case "owner": {
      const owned = [
        ...(isAddressEqual(address, oracle.owner) ? ["oracle"] : []),
        ...(evaluator !== null && isAddressEqual(address, evaluator.owner) ? ["evaluator"] : []),
      ];
      return owned.length === 0 ? "OWNS NOTHING" : `owner of ${owned.join(" and ")}`;
    }
    case "facilitator":
    case "relayer":
      return "needs no role";
  }
}

function signerStanding(signers: readonly SignerTerm[], address: Address, now: bigint): string {
  const term = signers.find((signer) => isAddressEqual(signer.address, address));
  if (term === undefined) return "NOT A SIGNER";
  return term.until < now ? "RAN OUT" : `signer ${termOf(term.until, now)}`;
}

function paysFor(balanceWei: bigint, { gasPriceWei }: RolesSeen): string {
  const coins = `${formatEther(balanceWei)} of the chain's coin`;
  if (gasPriceWei === 0n) return coins;
  const gas = balanceWei / gasPriceWei;
  return `${coins}, ${gas / MILLION} million gas${gas < ENOUGH_GAS ? ": TOO LITTLE" : ""}`;
}
