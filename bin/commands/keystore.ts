import { readFile, writeFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { parseArgs } from "node:util";
import { type Hex, isHex } from "viem";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { keystoreEntropy, openKeystore, writeKeystore } from "../../service/sender/keystore.ts";
import type { Invocation } from "../config.ts";
import { withoutLineEnd } from "../keys/open-accounts.ts";

/** Usage of `ahs keystore`. */
export const USAGE = `Usage: ahs keystore create FILE --password-file FILE [--import]
       ahs keystore address FILE --password-file FILE

create makes a new key, or with --import takes one of 0x and 64 hexadecimal digits from standard input; address opens a keystore.`;

const SHORTEST_PASSWORD = 12;
const PRIVATE_KEY_LENGTH = 66;

type KeystoreDeps = {
  readonly out: (line: string) => void;
  /** Reads standard input; called only to import a key. */
  readonly readInput: () => Promise<string>;
  readonly newKey: () => Hex;
  /** Cost of scrypt; the standard one but in tests. */
  readonly cost?: number;
};

/** `ahs keystore create|address`: encrypted files for the keys of roles. */
export async function run({ args, out }: Invocation): Promise<void> {
  await runKeystore(args, { out, readInput: () => text(process.stdin), newKey: generatePrivateKey });
}

/** Runs `ahs keystore …`; throws with what was given and expected when arguments, files or password do not fit. */
export async function runKeystore(args: readonly string[], deps: KeystoreDeps): Promise<void> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { "password-file": { type: "string" }, import: { type: "boolean", default: false } },
  });
  const [action, file, ...more] = positionals;
  const passwordFile = values["password-file"];
  if (file === undefined || more.length > 0 || passwordFile === undefined) throw new Error(USAGE);
  const password = withoutLineEnd(await readFile(passwordFile, "utf8"));
  switch (action) {
    case "create":
      return create({ file, password, isImport: values.import }, deps);
    case "address":
      return showAddress(file, password, deps);
    default:
      throw new Error(`unknown action "${action}"\n${USAGE}`);
  }
}

async function create(
  { file, password, isImport }: { file: string; password: string; isImport: boolean },
  { out, readInput, newKey, cost }: KeystoreDeps,
): Promise<void> {
  if (password.length < SHORTEST_PASSWORD)
    throw new Error(`the password has ${password.length} characters: expected ${SHORTEST_PASSWORD} or more`);
  const privateKey = isImport ? readKey(await readInput()) : newKey();
  const written = writeKeystore({ privateKey, password }, keystoreEntropy(), cost);
  // Never over another key, and for its owner alone.
  await writeFile(file, written, { flag: "wx", mode: 0o600 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw error;
    throw new Error(`${file} is there already: a keystore replaces no other`);
  });
  out(privateKeyToAddress(privateKey));
}

async function showAddress(file: string, password: string, { out }: KeystoreDeps): Promise<void> {
  const opened = openKeystore(await readFile(file, "utf8"), password);
  if (opened.kind !== "open") throw new Error(`${file} ${opened.fault}`);
  out(privateKeyToAddress(opened.privateKey));
}

/** Never repeats what it was given. */
function readKey(input: string): Hex {
  const given = input.trim();
  if (!isHex(given) || given.length !== PRIVATE_KEY_LENGTH)
    throw new Error("standard input holds no key: expected 0x and 64 hexadecimal digits");
  return given;
}
