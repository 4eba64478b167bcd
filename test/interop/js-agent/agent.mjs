// An A2A agent on the official JavaScript SDK that asks for a deployment with a
// structured form. It listens on a free port of the loopback interface, prints
// the URL of its card as its first line, and ends when its standard input does.

import express from 'express';
import {
  AgentCard,
  Task,
  TaskArtifactUpdateEvent,
  TaskStatusUpdateEvent,
} from '@a2a-js/sdk';
import { AgentEvent, DefaultRequestHandler, InMemoryTaskStore } from '@a2a-js/sdk/server';
import { agentCardHandler, jsonRpcHandler, restHandler, UserBuilder } from '@a2a-js/sdk/server/express';

const EXTENSION = 'https://extensions.allsrc.dev/agent-taskbay/structured-form/v1';
const FORM = 'application/vnd.agent-taskbay.form+json';

const deploymentForm = {
  title: 'Deployment',
  description: 'This agent deploys nothing.',
  submitLabel: 'Deploy',
  schema: {
    type: 'object',
    properties: {
      environment: {
        title: 'Environment',
        enum: ['staging', 'production'],
        enumNames: ['Staging, for the team', 'Production, for customers'],
      },
      replicas: { type: 'integer', title: 'Replicas', minimum: 1, maximum: 10, default: 2 },
      note: { type: 'string', title: 'Note for the log', maxLength: 200 },
      dryRun: { type: 'boolean', title: 'Dry run' },
    },
    required: ['environment', 'replicas'],
  },
};

const startForm = {
  title: 'What should be deployed?',
  schema: {
    type: 'object',
    properties: {
      service: { type: 'string', title: 'Service', maxLength: 80 },
      priority: { title: 'Priority', enum: ['normal', 'urgent'], default: 'normal' },
    },
    required: ['service'],
  },
};

const cardFor = (base) =>
  AgentCard.fromJSON({
    name: 'Deploy bot in JavaScript',
    description: 'Asks where to deploy with a form, then says what it would do.',
    version: '1.0.0',
    supportedInterfaces: [
      { url: `${base}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
      { url: `${base}/rest`, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
    ],
    capabilities: { streaming: true, extensions: [{ uri: EXTENSION, params: { startForm } }] },
    defaultInputModes: ['text/plain', 'application/json'],
    defaultOutputModes: ['text/plain', 'application/json'],
    skills: [
      {
        id: 'deploy',
        name: 'Deploy a service',
        description: 'Brings a service to staging or production.',
        tags: ['deployment'],
        examples: ['Deploy the billing service'],
      },
    ],
  });

// Turn speaks for the agent on one task.
class Turn {
  constructor(taskId, contextId, bus) {
    this.ids = { taskId, contextId };
    this.bus = bus;
  }

  status(state, parts, extensions = []) {
    const message = parts && {
      ...this.ids,
      messageId: crypto.randomUUID(),
      role: 'ROLE_AGENT',
      parts,
      extensions,
    };
    const status = { state, message, timestamp: new Date().toISOString() };
    this.bus.publish(AgentEvent.statusUpdate(TaskStatusUpdateEvent.fromJSON({ ...this.ids, status })));
  }

  ask(prompt) {
    this.status('TASK_STATE_INPUT_REQUIRED', [{ text: prompt }, { data: deploymentForm, mediaType: FORM }], [EXTENSION]);
  }

  stream(name, chunks) {
    const artifactId = crypto.randomUUID();
    chunks.forEach((text, i) => {
      this.bus.publish(
        AgentEvent.artifactUpdate(
          TaskArtifactUpdateEvent.fromJSON({
            ...this.ids,
            artifact: { artifactId, name, parts: [{ text }] },
            append: i > 0,
            lastChunk: i === chunks.length - 1,
          }),
        ),
      );
    });
  }
}

// faultIn says what is wrong with an answer to the deployment form, or nothing.
function faultIn(answer) {
  if (answer === null || typeof answer !== 'object' || Array.isArray(answer)) return 'It is no object.';
  const { environment, replicas, note = '', dryRun, ...rest } = answer;
  if (Object.keys(rest).length > 0) return 'It has members that I did not ask for.';
  if (!['staging', 'production'].includes(environment)) return 'The environment is unknown.';
  if (!Number.isInteger(replicas) || replicas < 1 || replicas > 10) return 'The replicas are not between 1 and 10.';
  if (typeof note !== 'string' || [...note].length > 200) return 'The note is no text of at most 200 characters.';
  if (typeof dryRun !== 'boolean') return 'It does not say whether this is a dry run.';
  return '';
}

class DeployBot {
  contexts = new Map(); // of the tasks that wait, for cancelTask

  async execute({ taskId, contextId, task, userMessage }, bus) {
    const turn = new Turn(taskId, contextId, bus);
    this.contexts.set(taskId, contextId);
    bus.publish(AgentEvent.task(task ?? this.submitted(taskId, contextId, userMessage)));
    if (task) {
      this.answered(turn, userMessage);
    } else {
      turn.ask('Where should I deploy it, and with how many replicas?');
    }
  }

  submitted(id, contextId, message) {
    const task = Task.fromJSON({ id, contextId, status: { state: 'TASK_STATE_SUBMITTED' } });
    task.history = [message];
    return task;
  }

  answered(turn, message) {
    const part = message.parts.find(({ content }) => content?.$case === 'data');
    if (!part) return turn.ask('Please fill in the form.');
    const answer = part.content.value;
    const fault = faultIn(answer);
    if (fault) return turn.ask(`I cannot work with that answer. ${fault}`);
    if (message.parts.length !== 1 || part.mediaType !== 'application/json') {
      return turn.ask('I expected exactly one part of the type application/json.');
    }
    turn.status('TASK_STATE_WORKING');
    turn.stream('Deployment log', ['Checking out.\n', 'Building.\n', 'Rolling out.\n']);
    turn.status('TASK_STATE_COMPLETED', [{ text: `Deploying ${answer.replicas} replica(s) to ${answer.environment}.` }]);
    this.contexts.delete(turn.ids.taskId);
  }

  async cancelTask(taskId, bus) {
    new Turn(taskId, this.contexts.get(taskId), bus).status('TASK_STATE_CANCELED');
    this.contexts.delete(taskId);
  }
}

const app = express();
const server = app.listen(0, '127.0.0.1', () => {
  const base = `http://127.0.0.1:${server.address().port}`;
  const requestHandler = new DefaultRequestHandler(cardFor(base), new InMemoryTaskStore(), new DeployBot());
  const options = { requestHandler, userBuilder: UserBuilder.noAuthentication };
  app.use('/.well-known/agent-card.json', agentCardHandler({ agentCardProvider: requestHandler }));
  app.use('/rpc', jsonRpcHandler(options));
  app.use('/rest', restHandler(options));
  console.log(`${base}/.well-known/agent-card.json`);
});

process.stdin.on('end', () => process.exit(0)).resume();
