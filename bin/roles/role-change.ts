import { parseArgs } from "node:util";
import { type Address, encodeFunctionData, getAddress, type Hex, isAddress, zeroAddress } from "viem";
import { agentHealthOracleAbi } from "../../service/chain/abi/agent-health-oracle.ts";
import type { ChainRoles } from "../../service/chain/read-roles.ts";
import type { OwnerCall } from "./owner-call.ts";

/** A call of the owner that changes who holds a role, and whether it is to be sent. */
export type RoleChange = OwnerCall & { readonly send: boolean };

export const ROLES_USAGE = `Usage: ahs roles show
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
export function readRoleChange(args: readonly string[], roles: ChainRoles): RoleChange {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { on: { type: "string" }, until: { type: "string" }, send: { type: "boolean", default: false } },
  });
  const [action, given, ...more] = positionals;
  if (more.length > 0) throw new Error(`one address at a time\n${ROLES_USAGE}`);
  const contract = contractOf(action === "set-publisher" ? (values.on ?? "oracle") : values.on, roles);
  const call = callOf(action, { given, until: values.until, now: roles.time });
  if (action === "set-publisher" && contract.name !== "oracle")
    throw new Error("the oracle alone has a publisher");
  const from = action === "accept-ownership" ? contract.roles.pendingOwner : contract.roles.owner;
  if (from === null) throw new Error(`nobody was offered the ownership of the ${contract.name}`);
  const words = `${contract.name}: ${call.words}`;
  return { words, to: contract.roles.address, from, data: call.data, send: values.send };
}

function contractOf(name: string | undefined, { oracle, evaluator }: ChainRoles) {
  if (name === "oracle") return { name, roles: oracle };
  if (name !== "evaluator")
    throw new Error(`--on: expected oracle or evaluator, got "${name ?? ""}"\n${ROLES_USAGE}`);
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
      if (given !== undefined) throw new Error(`accept-ownership takes no address\n${ROLES_USAGE}`);
      return {
        words: "acceptOwnership()",
        data: encodeFunctionData({ abi, functionName: "acceptOwnership" }),
      };
    default:
      throw new Error(`${action === undefined ? "no action" : `unknown action "${action}"`}\n${ROLES_USAGE}`);
  }
}

function addressOf(given: string | undefined): Address {
  if (given === undefined || !isAddress(given) || given === zeroAddress)
    throw new Error(`expected an address, got "${given ?? ""}"\n${ROLES_USAGE}`);
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
