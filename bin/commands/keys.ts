import { randomBytes, randomUUID } from "node:crypto";
import { parseArgs } from "node:util";
import {
  type ApiKey,
  createApiKey,
  KEY_SCOPES,
  type KeyEntropy,
  listApiKeys,
  revokeApiKey,
  rotateApiKey,
} from "../../service/access/api-keys.ts";
import type { Database } from "../../service/db/database.ts";
import type { KeyScope } from "../../service/db/tables/api-key.ts";
import { actionsOf, onlyOne, withDatabase } from "../command.ts";
import type { Invocation } from "../config.ts";
import { renderTable } from "../render-table.ts";

type KeysDeps = {
  readonly db: Database;
  readonly out: (line: string) => void;
  readonly clock: { now(): Date };
  readonly entropy: KeyEntropy;
};

/** Usage of `ahs keys`. */
export const USAGE = `Usage: ahs keys create --name NAME | --partner NAME [--balance-usd AMOUNT | --unlimited] [--rate PER_MINUTE] [--expires 30d] [--scope review]
       ahs keys list
       ahs keys rotate ID
       ahs keys revoke ID`;

const UNITS_PER_USD = 1000;
const MS_BY_UNIT = { h: 3_600_000, d: 86_400_000 } as const;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** `ahs keys create|list|rotate|revoke` on the configured database. */
export async function run({ config, args, out }: Invocation): Promise<void> {
  const entropy = { randomBytes, randomUuid: randomUUID };
  await withDatabase(config, "keys", (db, clock) => runKeys(args, { db, out, clock, entropy }));
}

/** Runs `ahs keys …`; throws with what was given and expected when the arguments do not fit. */
export const runKeys = actionsOf<KeysDeps>(USAGE, { create, list, rotate, revoke });

async function create(args: readonly string[], { db, out, clock, entropy }: KeysDeps): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      name: { type: "string" },
      partner: { type: "string" },
      "balance-usd": { type: "string" },
      unlimited: { type: "boolean", default: false },
      rate: { type: "string" },
      expires: { type: "string" },
      scope: { type: "string", multiple: true, default: [] },
    },
  });
  const { key, secret } = await createApiKey(
    db,
    {
      name: nameOf(values.name, values.partner),
      partner: values.partner !== undefined,
      balanceUnits: balanceOf(values["balance-usd"], values.unlimited),
      expiresAt: values.expires === undefined ? null : expiryOf(values.expires, clock.now()),
      scopes: scopesOf(values.scope),
      ...(values.rate === undefined ? {} : { ratePerMinute: rateOf(values.rate) }),
    },
    entropy,
  );
  out(describe(key, clock.now()));
  showSecret(secret, out);
}

function showSecret(secret: string, out: KeysDeps["out"]): void {
  out("This key is shown once and stored nowhere:");
  out(secret);
}

async function list(args: readonly string[], { db, out, clock }: KeysDeps): Promise<void> {
  parseArgs({ args: [...args], options: {} });
  const keys = await listApiKeys(db);
  if (keys.length === 0) return out("no keys");
  const rows = keys.map((key) => cellsOf(key, clock.now()));
  for (const line of renderTable([HEADER, ...rows])) out(line);
}

/** Gives a key whose secret is lost another one: the old one is dead, and balance, rate, scopes and all that is its own stay. */
async function rotate(args: readonly string[], { db, out, clock, entropy }: KeysDeps): Promise<void> {
  const keyId = idIn("rotate", args);
  const rotated = await rotateApiKey(db, { right: { kind: "operator", keyId }, now: clock.now() }, entropy);
  if (rotated === null) throw new Error(`no key that is neither revoked nor expired has the id ${keyId}`);
  out(describe(rotated.key, clock.now()));
  showSecret(rotated.secret, out);
}

async function revoke(args: readonly string[], { db, out, clock }: KeysDeps): Promise<void> {
  const id = idIn("revoke", args);
  const key = await revokeApiKey(db, id, clock.now());
  if (key === null) throw new Error(`no key has the id ${id}`);
  out(describe(key, clock.now()));
}

function idIn(action: string, args: readonly string[]): string {
  const { positionals } = parseArgs({ args: [...args], options: {}, allowPositionals: true });
  const fault = `${action} takes the id of one key, as "ahs keys list" shows it`;
  const id = onlyOne(positionals, fault, USAGE);
  if (!UUID.test(id)) throw new Error(`${fault}, got "${id}"\n${USAGE}`);
  return id;
}

/** Design partners are named by the option that makes them partners. */
function nameOf(name: string | undefined, partner: string | undefined): string {
  if (name !== undefined && partner !== undefined) throw new Error("--name and --partner exclude each other");
  const given = (name ?? partner)?.trim();
  if (given === undefined || given === "") throw new Error(`a key needs a name\n${USAGE}`);
  return given;
}

function scopesOf(given: readonly string[]): readonly KeyScope[] {
  return [...new Set(given)].map((name) => {
    const scope = KEY_SCOPES.find((known) => known === name);
    if (scope === undefined)
      throw new Error(`--scope: expected one of ${KEY_SCOPES.join(", ")}, got "${name}"`);
    return scope;
  });
}

function rateOf(perMinute: string): number {
  if (!/^[1-9]\d{0,5}$/.test(perMinute))
    throw new Error(`--rate: expected calls a minute from 1 to 999999, got "${perMinute}"`);
  return Number(perMinute);
}

/** Units of 0.001 USD; null is unlimited; a key without either is empty until it is topped up. */
function balanceOf(usd: string | undefined, unlimited: boolean): number | null {
  if (unlimited && usd !== undefined) throw new Error("--balance-usd and --unlimited exclude each other");
  if (unlimited) return null;
  if (usd === undefined) return 0;
  if (!/^\d{1,9}(\.\d{1,3})?$/.test(usd)) {
    throw new Error(`--balance-usd: expected an amount in steps of 0.001 such as 10 or 0.25, got "${usd}"`);
  }
  return Math.round(Number(usd) * UNITS_PER_USD);
}

function expiryOf(duration: string, now: Date): Date {
  const match = /^([1-9]\d{0,4})([hd])$/.exec(duration);
  const [, amount, unit] = match ?? [];
  if (amount === undefined || (unit !== "h" && unit !== "d")) {
    throw new Error(`--expires: expected hours or days such as 12h or 30d, got "${duration}"`);
  }
  return new Date(now.getTime() + Number(amount) * MS_BY_UNIT[unit]);
}

function describe(key: ApiKey, now: Date): string {
  return cellsOf(key, now)
    .filter((cell) => cell !== "")
    .join("  ");
}

const HEADER = ["id", "key", "name", "balance", "rate", "rights", "state"];

function cellsOf(key: ApiKey, now: Date): readonly string[] {
  const balance =
    key.balanceUnits === null ? "unlimited" : `${(key.balanceUnits / UNITS_PER_USD).toFixed(3)} USD`;
  const name = key.partner ? `${key.name} (partner)` : key.name;
  const rate = `${key.ratePerMinute}/min`;
  const rights = key.scopes.length === 0 ? "" : `may ${key.scopes.join(", ")}`;
  return [key.id, `${key.keyPrefix}…`, name, balance, rate, rights, stateOf(key, now)];
}

function stateOf(key: ApiKey, now: Date): string {
  if (key.revokedAt !== null) return `revoked ${key.revokedAt.toISOString()}`;
  if (key.expiresAt === null) return "active";
  return `${key.expiresAt <= now ? "expired" : "active until"} ${key.expiresAt.toISOString()}`;
}
