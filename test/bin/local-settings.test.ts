import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { localSettings } from "../../bin/local-settings.ts";
import { useFolder } from "../support/use-folder.ts";

const folder = useFolder();

test("takes the settings of the service that runs in the data directory, unless the environment has any of them", () => {
  expect(localSettings({ AHS_DATA_DIR: folder })).toBeNull();
  const file = join(folder, "up.json");
  writeFileSync(file, JSON.stringify({ database_url: "postgres://x", rpc_url: "http://y" }));
  const settings = {
    DATABASE_URL: "postgres://x",
    RPC_URL: "http://y",
    AHS_DEPLOYMENT: join(folder, "deployment.json"),
  };
  expect(localSettings({ AHS_DATA_DIR: folder, RPC_URL: "" })).toEqual({ file, settings });
  expect(localSettings({ AHS_DATA_DIR: folder, RPC_URL: "http://z" })).toBeNull();
});
