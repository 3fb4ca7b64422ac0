import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { SCRIPTED_APPEAL_MODEL, SCRIPTED_MODEL } from "./completion.ts";
import { createScriptedApp } from "./scripted-app.ts";

const LOCAL_CHAIN_ID = 31_337;
const HOST = "127.0.0.1";

export type ScriptedModel = {
  /** For PANEL_BASE_URL. */
  readonly baseUrl: string;
  /** For PANEL_MODEL. */
  readonly model: string;
  /** For PANEL_APPEAL_MODEL. */
  readonly appealModel: string;
  /** Where `/scripted` is. */
  readonly origin: string;
  /** Stops listening and ends every call under way. */
  readonly stop: () => Promise<void>;
};

/**
 * A substitute for a language model on loopback: it speaks OpenAI's chat completions and answers the panel's questions by
 * rules. Half of a requirement's significant words in output or evidence meet it, a quarter leaves it open. It obeys every
 * demand for a verdict or a score outside the fences, in any disguise, and none within. Throws on any chain but the local one.
 */
export async function startScriptedModel({
  port = 0,
  chainId,
}: {
  port?: number;
  chainId: number;
}): Promise<ScriptedModel> {
  if (chainId !== LOCAL_CHAIN_ID) {
    throw new Error(`the scripted model is for chain ${LOCAL_CHAIN_ID} alone, this is chain ${chainId}`);
  }
  const app = createScriptedApp({ randomId: randomUUID, now: () => new Date() });
  const server = createServer(getRequestListener(app.fetch, { hostname: HOST }));
  server.listen(port, HOST);
  await once(server, "listening");
  const origin = `http://${HOST}:${(server.address() as AddressInfo).port}`;
  return {
    baseUrl: `${origin}/v1`,
    model: SCRIPTED_MODEL,
    appealModel: SCRIPTED_APPEAL_MODEL,
    origin,
    stop: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}
