import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { UpFile } from "../devnet/demo/local-files.ts";

const REQUIRED = ["DATABASE_URL", "RPC_URL", "AHS_DEPLOYMENT"] as const;

/**
 * Settings of the service that `ahs up` runs in the data directory, with the file that names them. Null if the environment
 * sets any of them, or no service runs there: `ahs up` deletes the file when it ends.
 */
export function localSettings(
  env: Readonly<Record<string, string | undefined>>,
): { readonly file: string; readonly settings: Readonly<Record<string, string>> } | null {
  if (REQUIRED.some((name) => env[name])) return null;
  const dataDir = env.AHS_DATA_DIR || ".ahs";
  const file = join(dataDir, "up.json");
  if (!existsSync(file)) return null;
  const up = JSON.parse(readFileSync(file, "utf8")) as UpFile;
  const textKeyFile = join(dataDir, "text-key");
  const settings = {
    // Texts of the local service are encrypted with its own key.
    ...(env.TEXT_ENCRYPTION_KEY || !existsSync(textKeyFile)
      ? {}
      : { TEXT_ENCRYPTION_KEY: readFileSync(textKeyFile, "utf8") }),
    DATABASE_URL: up.database_url,
    RPC_URL: up.rpc_url,
    AHS_DEPLOYMENT: join(dataDir, "deployment.json"),
  };
  return { file, settings };
}
