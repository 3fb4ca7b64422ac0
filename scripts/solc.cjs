#!/usr/bin/env node
// The compiler that forge calls: forge cannot download one, so the npm package `solc` answers for it.
const solc = require("solc");

const [option] = process.argv.slice(2);
if (option === "--version") {
  process.stdout.write(`solc, the solidity compiler commandline interface\nVersion: ${solc.version()}\n`);
} else if (process.argv.includes("--standard-json")) {
  const chunks = [];
  process.stdin.on("data", (chunk) => chunks.push(chunk));
  process.stdin.on("end", () => process.stdout.write(solc.compile(Buffer.concat(chunks).toString("utf8"))));
} else {
  process.stderr.write(
    `solc.cjs: expected --version or --standard-json, got ${process.argv.slice(2).join(" ")}\n`,
  );
  process.exitCode = 1;
}
