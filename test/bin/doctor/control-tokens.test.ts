import { expect, it } from "vitest";
import { doctor } from "../../../bin/commands/doctor.ts";
import { startScriptedModel } from "../../../devnet/scripted-model/start-scripted-model.ts";
import { CHAT_TEMPLATES } from "../../support/chat-templates.ts";
import { startTurnServer } from "../../support/scripted-turn-server.ts";

it("says for each configured model whether its server reads a control token within messages", async () => {
  const [template] = CHAT_TEMPLATES;
  if (template === undefined) throw new Error("there are templates");
  const model = await startScriptedModel({ chainId: 31_337 });
  const server = await startTurnServer({ template, baseUrl: model.baseUrl });
  try {
    const lines: string[] = [];
    const env = {
      PANEL_BASE_URL: model.baseUrl,
      PANEL_MODEL: model.model,
      PANEL_SECOND_BASE_URL: "http://127.0.0.1:1/v1",
      PANEL_SECOND_MODEL: "absent",
      PANEL_APPEAL_BASE_URL: server.baseUrl,
      PANEL_APPEAL_MODEL: model.appealModel,
      APPEAL_WINDOW_SECONDS: "60",
    };
    const isHealthy = await doctor({ env, args: [], out: (line) => void lines.push(line) });
    expect(isHealthy).toBe(false);
    expect(lines.filter((line) => line.includes("control tokens:"))).toEqual([
      "ok    control tokens: scripted: no control token is read",
      expect.stringMatching(/^warn {2}control tokens: not checked: absent: the connection failed/),
      expect.stringMatching(
        /^fail {2}control tokens: scripted-appeal: the control token <\|im_\w+\|> is read → /,
      ),
    ]);
  } finally {
    await server.stop();
    await model.stop();
  }
});
