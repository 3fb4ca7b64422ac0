import { parseArgs } from "node:util";
import {
  type Address,
  encodeFunctionData,
  formatEther,
  getAddress,
  type Hex,
  isAddress,
  isAddressEqual,
  maxUint64,
  type PublicClient,
  zeroAddress,
} from "viem";
import { agentHealthOracleAbi } from "../../service/chain/abi/agent-health-oracle.ts";
import { type ChainRoles, type ContractRoles, readRoles } from "../../service/chain/read-roles.ts";
import { unknownAction } from "../command.ts";
import type { Config, Invocation } from "../config.ts";
import { formsOf } from "../keys/key-settings.ts";
import { ROLE_PREFIXES, ROLES, type Role } from "../keys/key-variables.ts";
import { openAccounts } from "../keys/open-accounts.ts";
import { renderTable } from "../render-table.ts";
import { makeOwnerCall, type OwnerCall, openOwnerChain } from "../roles/owner-call.ts";

/** `ahs roles`: who may publish, sign and own; and the owner's calls that change it. */
export async function run({ config, args, out }: Invocation): Promise<void> {
  if (args.length === 0) throw new Error(USAGE);
  const chain = await openOwnerChain(config);
  const { chainId, client } = chain;
  const seen = await readRoles(client, chain.deployment);
  if (args[0] === "show" && args.length === 1) {
    const { gasPriceWei, accounts } = await lookAtAccounts(config, chainId, client);
    for (const line of renderRoles({ roles: seen, accounts, gasPriceWei })) out(line);
    return;
  }
  const change = readRoleChange(args, seen);
  await makeOwnerCall(chain, change, { send: change.send, out });
}

async function lookAtAccounts(
  config: Config,
  chainId: number,
  client: PublicClient,
): Promise<Omit<RolesSeen, "roles">> {
  const opened = await openAccounts(config, { required: [], optional: ROLES }, { chainId });
  const configured = ROLES.flatMap((role) => {
    const account = opened[role];
    return account === undefined ? [] : [{ role, address: account.address }];
  });
  const accounts = await Promise.all(
    configured.map(async (one) => ({ ...one, balanceWei: await client.getBalance(one) })),
  );
  return { accounts, gasPriceWei: await client.getGasPrice() };
}

export const USAGE = `Usage: ahs roles show
       ahs roles set-publisher ADDRESS [--send]
       ahs roles set-signer ADDRESS --on oracle|evaluator --until DATE|DAYSd [--send]
       ahs roles remove-signer ADDRESS --on oracle|evaluator [--send]
       ahs roles transfer-ownership ADDRESS --on oracle|evaluator [--send]
       ahs roles accept-ownership --on oracle|evaluator [--send]

Without --send the call is printed, for an owner that is a multisig, and tried at the newest block; with it, the key of OWNER_… sends it.`;

const DAYS = /^(\d{1,5})d$/;
const DATE = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2})?Z)?$/;
const DAY_SECONDS = 86_400;

/** Reads what follows `ahs roles`; throws with what was given and expected where it does not fit. */
export function readRoleChange(args: readonly string[], roles: ChainRoles): OwnerCall & { send: boolean } {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { on: { type: "string" }, until: { type: "string" }, send: { type: "boolean", default: false } },
  });
  const [action, given, ...more] = positionals;
  if (more.length > 0) throw new Error(`one address at a time\n${USAGE}`);
  const contract = contractOf(action === "set-publisher" ? (values.on ?? "oracle") : values.on, roles);
  const call = callOf(action, { given, until: values.until, now: roles.time });
  if (action === "set-publisher" && contract.name !== "oracle")
    throw new Error("the oracle alone has a publisher");
  const from = action === "accept-ownership" ? contract.roles.pendingOwner : contract.roles.owner;
  if (from === null) throw new Error(`no transfer of the ownership of the ${contract.name} is pending`);
  const words = `${contract.name}: ${call.words}`;
  return { words, to: contract.roles.address, from, data: call.data, send: values.send };
}

function contractOf(name: string | undefined, { oracle, evaluator }: ChainRoles) {
  if (name === "oracle") return { name, roles: oracle };
  if (name !== "evaluator")
    throw new Error(`--on: expected oracle or evaluator, got "${name ?? ""}"\n${USAGE}`);
  if (evaluator === null) throw new Error("the deployment has no evaluator");
  return { name, roles: evaluator };
}

/** By the oracle's ABI: the evaluator names what both have alike. */
function callOf(
  action: string | undefined,
  { given, until, now }: { given: string | undefined; until: string | undefined; now: bigint },
): { readonly words: string; readonly data: Hex } {
  const abi = agentHealthOracleAbi;
  switch (action) {
    case "set-publisher": {
      const address = addressOf(given);
      const data = encodeFunctionData({ abi, functionName: "setPublisher", args: [address] });
      return { words: `setPublisher(${address})`, data };
    }
    case "set-signer": {
      const [address, last] = [addressOf(given), momentOf(until, now)];
      const data = encodeFunctionData({ abi, functionName: "setSigner", args: [address, last] });
      return { words: `setSigner(${address}, ${last}), until ${isoOf(last)}`, data };
    }
    case "remove-signer": {
      const address = addressOf(given);
      const data = encodeFunctionData({ abi, functionName: "setSigner", args: [address, 0n] });
      return { words: `setSigner(${address}, 0), no signer from then on`, data };
    }
    case "transfer-ownership": {
      const address = addressOf(given);
      const data = encodeFunctionData({ abi, functionName: "transferOwnership", args: [address] });
      return { words: `transferOwnership(${address}), which has to accept it`, data };
    }
    case "accept-ownership":
      if (given !== undefined) throw new Error(`accept-ownership takes no address\n${USAGE}`);
      return {
        words: "acceptOwnership()",
        data: encodeFunctionData({ abi, functionName: "acceptOwnership" }),
      };
    default:
      throw unknownAction(action, USAGE);
  }
}

function addressOf(given: string | undefined): Address {
  if (given === undefined || !isAddress(given) || given === zeroAddress)
    throw new Error(`expected an address, got "${given ?? ""}"\n${USAGE}`);
  return getAddress(given);
}

/** Unix seconds of a date, or of so many days from now; it has to lie ahead. */
function momentOf(until: string | undefined, now: bigint): bigint {
  const days = DAYS.exec(until ?? "")?.[1];
  const isDate = until !== undefined && DATE.test(until);
  const date = isDate ? Date.parse(until) / 1_000 : Number.NaN;
  const moment = days === undefined ? date : Number(now) + Number(days) * DAY_SECONDS;
  if (!Number.isSafeInteger(moment) || moment <= Number(now))
    throw new Error(`--until: expected a day ahead as 2030-12-31, or as 365d, got "${until ?? ""}"`);
  return BigInt(moment);
}

/** A moment of the chain in words; contracts take any number of 64 bits, and dates end sooner. */
export function isoOf(unixSeconds: bigint): string {
  const isDate = unixSeconds <= 8_640_000_000_000n;
  return isDate ? new Date(Number(unixSeconds) * 1_000).toISOString() : `second ${unixSeconds}`;
}

type RolesSeen = {
  readonly roles: ChainRoles;
  readonly accounts: readonly { role: Role; address: Address; balanceWei: bigint }[];
  /** Wei that a unit of gas costs now. */
  readonly gasPriceWei: bigint;
};

/** Gas of a day of publishing for some thousand wallets; with less, a sending key soon stops. */
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

function rowOf(role: Role, account: RolesSeen["accounts"][number] | undefined, seen: RolesSeen): string[] {
  const name = ROLE_PREFIXES[role];
  if (account === undefined) return [name, `not set: ${formsOf(role)}`];
  const { address, balanceWei } = account;
  return [
    name,
    address,
    describeHolder(role, address, seen.roles),
    SENDING.includes(role) ? paysFor(balanceWei, seen) : "",
  ];
}

function describeHolder(role: Role, address: Address, { oracle, evaluator, time }: ChainRoles): string {
  switch (role) {
    case "publisher":
      return isAddressEqual(address, oracle.publisher) ? "publisher" : "NOT THE PUBLISHER";
    case "signer":
      return describeSigner(oracle.signers, address, time);
    case "verdictSigner":
      return evaluator === null ? "no evaluator" : describeSigner(evaluator.signers, address, time);
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

function describeSigner(signers: ContractRoles["signers"], address: Address, now: bigint): string {
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
