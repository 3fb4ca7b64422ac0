import { z } from "zod";
import { loadDeployment } from "./deployments.ts";

const schema = z.object({
  deploymentFile: z.string().min(1),
  rpcUrl: z.url(),
  databaseUrl: z.string().min(1),
  pollingIntervalMs: z.int().min(100),
  /** Addresses in lower case that the operator does not want followed. */
  unfollowed: z.array(z.templateLiteral(["0x", z.string().regex(/^[0-9a-f]{40}$/)])),
});

/** What the launcher of the indexer hands to its configuration file, through one environment variable. */
export type IndexSettings = z.infer<typeof schema>;

/** Name of the variable that carries the settings as JSON. */
export const INDEX_SETTINGS_VARIABLE = "AHS_INDEX_SETTINGS";

/** Reads the settings and the deployment they name; throws with what is wrong when the launcher did not set them. */
export function readIndexSettings(value: string | undefined) {
  if (value === undefined)
    throw new Error(`${INDEX_SETTINGS_VARIABLE} is not set: start the indexer with "ahs index"`);
  const settings = schema.parse(JSON.parse(value));
  return { ...settings, deployment: loadDeployment(settings.deploymentFile) };
}
