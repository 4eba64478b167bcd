// An A2A agent on the official JavaScript SDK that asks for a deployment with a
// structured form. It speaks A2A 1.0 over JSON-RPC, HTTP+JSON and gRPC, and A2A 0.3
// by way of the SDK's compatibility. It listens on free ports of the loopback
// interface, prints the URL of its card as its first line and that of its card for
// 0.3 as its second, and ends when its standard input does.
//
// Told "message" it answers without a task, told "work" it works until it is
// canceled, told "report" it brings an artifact and completes, and told "return" it
// brings back what came with that.

import express from 'express';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import {
  AgentCard,
  Message,
  Task,
  TaskArtifactUpdateEvent,
  TaskStatusUpdateEvent,
} from '@a2a-js/sdk';
import {
  AgentEvent,
  DefaultExecutionEventBusManager,
  DefaultPushNotificationSender,
  DefaultRequestHandler,
  InMemoryPushNotificationStore,
  InMemoryTaskStore,
} from '@a2a-js/sdk/server';
import { agentCardHandler, jsonRpcHandler, restHandler, UserBuilder } from '@a2a-js/sdk/server/express';
import { A2AService, grpcService } from '@a2a-js/sdk/server/grpc';

const EXTENSION = 'https://extensions.allsrc.dev/agent-taskbay/structured-form/v1';
const FORM = 'application/vnd.agent-taskbay.form+json';

const LOG = ['Checking out.\n', 'Building.\n', 'Rolling out.\n'];

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

const cardFor = (supportedInterfaces) =>
  AgentCard.fromJSON({
    name: 'Deploy bot in JavaScript',
    description: 'Asks where to deploy with a form, then says what it would do.',
    version: '1.0.0',
    supportedInterfaces,
    capabilities: { streaming: true, pushNotifications: true, extensions: [{ uri: EXTENSION, params: { startForm } }] },
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
    // A2A 0.3 has no media type on data, so it is in the metadata as well.
    const form = { data: deploymentForm, mediaType: FORM, metadata: { mediaType: FORM } };
    this.status('TASK_STATE_INPUT_REQUIRED', [{ text: prompt }, form], [EXTENSION]);
  }

  stream(name, chunks) {
    const artifactId = crypto.randomUUID();
    chunks.forEach((text, i) => {
      this.update({ artifact: { artifactId, name, parts: [{ text }] }, append: i > 0, lastChunk: i === chunks.length - 1 });
    });
  }

  artifact(name, parts) {
    this.update({ artifact: { artifactId: crypto.randomUUID(), name, parts }, lastChunk: true });
  }

  update(artifact) {
    this.bus.publish(AgentEvent.artifactUpdate(TaskArtifactUpdateEvent.fromJSON({ ...this.ids, ...artifact })));
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
  working = new Map(); // what ends the work of a task

  async execute({ taskId, contextId, task, userMessage }, bus) {
    const turn = new Turn(taskId, contextId, bus);
    const text = userMessage.parts[0]?.content?.value;
    if (text === 'message') {
      const message = { messageId: crypto.randomUUID(), contextId, role: 'ROLE_AGENT', parts: [{ text: 'no task needed' }] };
      bus.publish(AgentEvent.message(Message.fromJSON(message)));
      return;
    }
    this.contexts.set(taskId, contextId);
    bus.publish(AgentEvent.task(task ?? this.submitted(taskId, contextId, userMessage)));
    if (task) {
      this.answered(turn, userMessage);
    } else if (text === 'work') {
      turn.status('TASK_STATE_WORKING');
      await new Promise((canceled) => this.working.set(taskId, canceled));
    } else if (text === 'report') {
      turn.status('TASK_STATE_WORKING');
      turn.stream('Deployment log', LOG);
      turn.status('TASK_STATE_COMPLETED', [{ text: 'done' }]);
    } else if (text === 'return') {
      turn.artifact('Returned', Message.toJSON(userMessage).parts.slice(1));
      turn.status('TASK_STATE_COMPLETED', [{ text: 'done' }]);
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
    const type = part.mediaType || part.metadata?.mediaType; // A2A 0.3 has it there
    if (message.parts.length !== 1 || type !== 'application/json') {
      return turn.ask('I expected exactly one part of the type application/json.');
    }
    turn.status('TASK_STATE_WORKING');
    turn.stream('Deployment log', LOG);
    turn.status('TASK_STATE_COMPLETED', [{ text: `Deploying ${answer.replicas} replica(s) to ${answer.environment}.` }]);
    this.contexts.delete(turn.ids.taskId);
  }

  async cancelTask(taskId, bus) {
    new Turn(taskId, this.contexts.get(taskId), bus).status('TASK_STATE_CANCELED');
    this.contexts.delete(taskId);
    this.working.get(taskId)?.();
    this.working.delete(taskId);
  }
}

const bot = new DeployBot();
const tasks = new InMemoryTaskStore();
const pushes = new InMemoryPushNotificationStore();
const buses = new DefaultExecutionEventBusManager();
const userBuilder = UserBuilder.noAuthentication;

const handlerFor = (card) =>
  new DefaultRequestHandler(card, tasks, bot, buses, pushes, new DefaultPushNotificationSender(pushes));

function serveCurrent(app, base, grpcPort) {
  const requestHandler = handlerFor(
    cardFor([
      { url: `${base}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
      { url: `${base}/rest`, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
      { url: `http://127.0.0.1:${grpcPort}`, protocolBinding: 'GRPC', protocolVersion: '1.0' },
    ]),
  );
  app.use('/.well-known/agent-card.json', agentCardHandler({ agentCardProvider: requestHandler }));
  app.use('/rpc', jsonRpcHandler({ requestHandler, userBuilder }));
  app.use('/rest', restHandler({ requestHandler, userBuilder }));
  return requestHandler;
}

function serveLegacy(app, base) {
  const requestHandler = handlerFor(
    cardFor([
      { url: `${base}/legacy/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
      { url: `${base}/legacy/rest`, protocolBinding: 'HTTP+JSON', protocolVersion: '0.3' },
    ]),
  );
  const options = { requestHandler, userBuilder, legacyCompat: { enabled: true } };
  app.use('/legacy/.well-known/agent-card.json', agentCardHandler({ agentCardProvider: requestHandler, legacyCompat: options.legacyCompat }));
  app.use('/legacy/rpc', jsonRpcHandler(options));
  app.use('/legacy/rest', restHandler(options));
}

const grpc = new Server();
grpc.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, grpcPort) => {
  if (error) throw error;
  const app = express();
  const server = app.listen(0, '127.0.0.1', () => {
    const base = `http://127.0.0.1:${server.address().port}`;
    const requestHandler = serveCurrent(app, base, grpcPort);
    grpc.addService(A2AService, grpcService({ requestHandler, userBuilder }));
    serveLegacy(app, base);
    console.log(`${base}/.well-known/agent-card.json`);
    console.log(`${base}/legacy/.well-known/agent-card.json`);
  });
});

process.stdin.on('end', () => process.exit(0)).resume();
