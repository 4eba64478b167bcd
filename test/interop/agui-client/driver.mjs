// Drives the official AG-UI client for a test: it reads one JSON request a line, and
// answers each with one line. Requests are served side by side, each under its id.
//
//   {id, op: "new", agent, url, threadId, headers?, messages?}
//   {id, op: "run", agent, runId?, resume?, say?, abortOn?, ...}   say: messages to add
//   {id, op: "abort", agent}
//
// The answer to a run is what the client made of it.
import { createInterface } from "node:readline";
import { HttpAgent } from "@ag-ui/client";

const agents = new Map();

// A stream that is cut off rejects elsewhere as well, which would end the process.
process.on("unhandledRejection", () => {});

function create({ agent, url, threadId, headers, messages }) {
  agents.set(agent, new HttpAgent({ url, threadId, headers: headers ?? {}, initialMessages: messages ?? [] }));
  return {};
}

async function run({ agent: name, runId, resume, say, state, tools, context, forwardedProps, abortOn }) {
  const agent = agents.get(name);
  for (const message of say ?? []) agent.addMessage(message);
  if (state !== undefined) agent.setState(state);
  const events = [];
  let rejected = "";
  try {
    await agent.runAgent({ runId, resume, tools, context, forwardedProps }, {
      onEvent({ event }) {
        events.push(event);
        if (event.type === abortOn) agent.abortRun();
      },
    });
  } catch (error) {
    rejected = String(error?.message ?? error);
    return { rejected, status: error?.status, payload: error?.payload, events, messages: agent.messages, state: agent.state, pending: agent.pendingInterrupts };
  }
  return { rejected, events, messages: agent.messages, state: agent.state, pending: agent.pendingInterrupts };
}

const operations = {
  new: create,
  run,
  abort({ agent }) {
    agents.get(agent).abortRun();
    return {};
  },
};

console.log("ready");
for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line);
  Promise.resolve(operations[request.op](request)).then(
    (answer) => console.log(JSON.stringify({ id: request.id, ...answer })),
    (error) => console.log(JSON.stringify({ id: request.id, rejected: `the driver failed: ${error?.stack ?? error}` })),
  );
}
