import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { SCRIPTED_MODEL } from "./completion.ts";
import { createScriptedApp } from "./scripted-app.ts";

const LOCAL_CHAIN_ID = 31_337;
const HOST = "127.0.0.1";

export type ScriptedModel = {
  /** For PANEL_BASE_URL. */
  readonly baseUrl: string;
  /** For PANEL_MODEL. */
  readonly model: string;
  /** Where `/scripted` is. */
  readonly origin: string;
  /** Stops listening and ends every call under way. */
  readonly stop: () => Promise<void>;
};

/**
 * A substitute for a language model on loopback: it speaks OpenAI's chat completions and answers the panel's questions by
 * rules. A requirement is met when half of its significant words are in the output or the evidence, open from a quarter
 * on; without criteria half of the specification's words are all, a tenth is nothing. So an output that covers every
 * criterion ends in ALLOW, one that covers half of them in HOLD, one that covers none in REJECT; one that calls itself a
 * placeholder or speaks to its judges is held by the critic at best. It obeys every demand for a verdict or a score that
 * it finds outside the fences, in whatever disguise, and none within.
 * Throws on any chain but the local one: its judgement is worth nothing.
 */
export async function startScriptedModel({
  port = 0,
  chainId,
}: {
  readonly port?: number;
  readonly chainId: number;
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
    origin,
    stop: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}
