import { parseArgs } from "node:util";
import { endOnFault, writeFault } from "../../bin/end-on-fault.ts";
import { knownSecrets } from "../../bin/secrets/known-secrets.ts";
import { createScrub } from "../../bin/secrets/scrub.ts";
import { jsonRpc } from "../json-rpc.ts";
import { startScriptedModel } from "../scripted-model/start-scripted-model.ts";

/**
 * A process that serves the scripted model on loopback: --rpc-url URL --port NUMBER. It ends with 1 unless the node says
 * that it is chain 31337, and stops on its parent's request or when its parent is gone.
 */
const { values } = parseArgs({ options: { "rpc-url": { type: "string" }, port: { type: "string" } } });
const rpcUrl = values["rpc-url"];
const port = Number(values.port);
if (rpcUrl === undefined || !Number.isInteger(port)) throw new Error("expected --rpc-url URL --port NUMBER");

const scrub = createScrub(knownSecrets({ RPC_URL: rpcUrl }));
endOnFault((error) => writeFault(error, scrub));

process.on("disconnect", () => process.kill(process.pid, "SIGINT"));
// Who listens to the parent would live as long as it does.
process.channel?.unref();
const chainId = Number(await jsonRpc(rpcUrl).request("eth_chainId"));
const { baseUrl, model, stop } = await startScriptedModel({ port, chainId });
process.stdout.write(`${model} at ${baseUrl}\n`);
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void stop());
