import { AgentHealth, type AgentHealthOptions } from "../../client/src/agent-health.ts";
import { type fakeApp, KEY } from "../service/api/fake-ports.ts";

type World = ReturnType<typeof fakeApp>;

/** A client whose requests go to an app of this process, counted; `before` may answer in the app's place. */
export function clientOf(
  { app }: World,
  options: Partial<AgentHealthOptions> & {
    readonly apiKey?: string | null;
    readonly before?: (attempt: number, request: Request) => Response | undefined;
  } = {},
) {
  const requests: Request[] = [];
  const { apiKey = KEY, before, ...rest } = options;
  const fetch = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const request = new Request(input, init);
    requests.push(request.clone());
    return before?.(requests.length, request) ?? app.request(request);
  };
  return {
    client: new AgentHealth(apiKey, { baseUrl: "https://health.example", fetch, ...rest }),
    requests,
  };
}
