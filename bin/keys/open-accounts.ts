import { readFile } from "node:fs/promises";
import { isAddressEqual } from "viem";
import { type LocalAccount, privateKeyToAccount } from "viem/accounts";
import { LOCAL_CHAIN_ID } from "../../service/chain/networks.ts";
import { openKeystore } from "../../service/sender/keystore.ts";
import { remoteSigner } from "../../service/sender/remote-signer.ts";
import type { Config } from "../config.ts";
import { formsOf, type KeySetting } from "./key-settings.ts";
import { ROLE_PREFIXES, type Role } from "./key-variables.ts";

/** Patience of a process that has no waiting caller. */
const PATIENT = { timeoutMs: 5_000, retries: 2 };

type Asked = { readonly chainId: number; readonly patience?: { timeoutMs: number; retries: number } };

/** Accounts by role; undefined for one that was not asked for, or that may be absent and is. */
export type Accounts = Readonly<Partial<Record<Role, LocalAccount>>>;

/**
 * Opens the keys of these roles, those of `optional` where they are set. Throws one error that lists every role that has none, whose
 * keystore cannot be read or opened, whose raw key is no good on this chain, or that shares its key with another that sends.
 */
export async function openAccounts<Required extends Role>(
  config: Config,
  roles: { readonly required: readonly Required[]; readonly optional?: readonly Role[] },
  asked: Asked,
): Promise<Accounts & Readonly<Record<Required, LocalAccount>>> {
  const wanted = new Set<Role>([...roles.required, ...(roles.optional ?? [])]);
  const isRequired = (role: Role) => roles.required.some((one) => one === role);
  const opened = await Promise.all(
    [...wanted].map(async (role) => {
      const setting = config.keys[role];
      if (setting !== null) return { role, ...(await open(role, setting, { config, ...asked })) };
      return isRequired(role) ? { role, fault: `missing settings: ${formsOf(role)}` } : null;
    }),
  );
  const accounts: Accounts = Object.fromEntries(
    opened.flatMap((one) => (one !== null && "account" in one ? [[one.role, one.account]] : [])),
  );
  const faults = opened.flatMap((one) => (one !== null && "fault" in one ? [one.fault] : []));
  const all = [...faults, ...clashes(accounts, config)];
  if (all.length === 1) throw new Error(all[0]);
  if (all.length > 1)
    throw new Error(`keys that cannot be used:\n${all.map((one) => `  ${one}`).join("\n")}`);
  // Every required role has an account, or a fault was thrown.
  return accounts as Accounts & Readonly<Record<Required, LocalAccount>>;
}

async function open(
  role: Role,
  setting: KeySetting,
  { config, chainId, patience = PATIENT }: Asked & { readonly config: Config },
): Promise<{ readonly account: LocalAccount } | { readonly fault: string }> {
  const prefix = ROLE_PREFIXES[role];
  switch (setting.kind) {
    case "raw":
      return chainId === LOCAL_CHAIN_ID || config.allowRawKeys
        ? { account: privateKeyToAccount(setting.privateKey) }
        : {
            fault: `${prefix}_PRIVATE_KEY holds a raw key, which chain ${chainId} is refused unless ALLOW_RAW_KEYS=1`,
          };
    case "keystore":
      return openFile(prefix, setting);
    case "remote":
      return { account: remoteSigner({ ...setting, ...patience }, setting.address) };
  }
}

async function openFile(
  prefix: string,
  { file, passwordFile }: Extract<KeySetting, { kind: "keystore" }>,
): ReturnType<typeof open> {
  const [text, password] = await Promise.all([read(file), read(passwordFile)]);
  if (typeof text !== "string") return { fault: `${prefix}_KEYSTORE: ${file} cannot be read (${text.code})` };
  if (typeof password !== "string")
    return { fault: `${prefix}_KEYSTORE_PASSWORD_FILE: ${passwordFile} cannot be read (${password.code})` };
  const opened = openKeystore(text, withoutLineEnd(password));
  return opened.kind === "open"
    ? { account: privateKeyToAccount(opened.privateKey) }
    : { fault: `${prefix}_KEYSTORE: ${file} ${opened.fault}` };
}

/** A password as its file holds it, without the line end that editors add. */
export function withoutLineEnd(text: string): string {
  return text.replace(/\r?\n$/, "");
}

/** The file's text, or the code of the error. */
async function read(file: string): Promise<string | { readonly code: string }> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "unknown";
    return { code };
  }
}

/** Settings of payments name the facilitator by its address, and its settlements must not wait behind publications. */
function clashes({ facilitator, publisher }: Accounts, { payments }: Config): string[] {
  if (facilitator === undefined) return [];
  const { address } = facilitator;
  const named = payments.facilitatorAddress;
  return [
    ...(named !== null && !isAddressEqual(address, named)
      ? [`X402_FACILITATOR_ADDRESS: is not ${address}, the address of the facilitator's key`]
      : []),
    ...(publisher !== undefined && isAddressEqual(address, publisher.address)
      ? ["the facilitator's key must be another than the publisher's"]
      : []),
  ];
}

/** The account of one role; throws where its key is not set or cannot be used, as openAccounts does for several at once. */
export async function accountFromConfig(config: Config, chainId: number, role: Role): Promise<LocalAccount> {
  const accounts = await openAccounts(config, { required: [role] }, { chainId });
  return accounts[role];
}
