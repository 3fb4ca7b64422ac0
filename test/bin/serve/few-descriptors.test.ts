import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterEach, expect, test } from "vitest";
import { until } from "../../support/until.ts";

const CHILD = new URL("./few-descriptors-child.ts", import.meta.url).pathname;
const ends: (() => unknown)[] = [];

afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

test("a server without free file descriptors logs it once, and serves again once there are some", async () => {
  const child = spawn("sh", ["-c", `ulimit -n 64; exec "${process.execPath}" "${CHILD}"`]);
  const gone = once(child, "exit");
  ends.push(async () => {
    child.kill();
    await gone;
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (text) => {
      output += String(text);
    });
  const port = await until(
    { what: "the server listens" },
    async () => /port (\d+)/.exec(output)?.[1] ?? null,
  );
  const sockets = Array.from({ length: 150 }, () => idle(Number(port)));
  const closeAll = () => {
    for (const socket of sockets) socket.destroy();
  };
  ends.push(closeAll);
  await until({ what: "the log names the limit" }, async () =>
    output.includes("connections cannot be accepted: see the limit of open files") ? true : null,
  );
  closeAll();
  const answer = await until({ what: "the server answers" }, () =>
    fetch(`http://127.0.0.1:${port}/`).then(
      (response) => response.text(),
      () => null,
    ),
  );
  expect(answer).toBe("here");
  expect(output.match(/connections cannot be accepted/g)).toHaveLength(1);
  expect(JSON.parse(output.split("\n").find((line) => line.includes("EMFILE")) ?? "")).toMatchObject({
    level: 50,
    err: { code: "EMFILE" },
  });
});

/** A connection that sends nothing, and may be ended. */
function idle(port: number): Socket {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => undefined);
  return socket;
}
