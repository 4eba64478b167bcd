// A front end for Taskbay's AG-UI adapter. The thread is held here and sent whole with
// each run; the console knows which of its messages are new. Whatever comes from an
// agent goes into the page as text.

const find = (id) => document.getElementById(id);

function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

// events reads server-sent events: each is one JSON value.
async function* events(body) {
  let rest = "";
  for await (const text of body.pipeThrough(new TextDecoderStream())) {
    const frames = (rest + text).split("\n\n");
    rest = frames.pop();
    for (const frame of frames) {
      const data = frame.split("\n").filter((line) => line.startsWith("data:")).map((line) => line.slice(5)).join("\n");
      if (data) yield JSON.parse(data); // a comment only says that the run goes on
    }
  }
}

// Thread is one conversation with one agent.
class Thread {
  id = crypto.randomUUID();
  runId = "";
  messages = new Map(); // by ID, in order
  artifacts = new Map(); // by the ID of the activity
  state = {};
  interrupt = null;
  ended = true;

  constructor(base, token, agent) {
    this.base = base.replace(/\/+$/, "");
    this.address = `${this.base}/api/v1/agents/${encodeURIComponent(agent)}/ag-ui`;
    this.headers = { Authorization: `Bearer ${token}` };
  }

  // run makes a run and shows each step of it. Without news it follows what goes on.
  async run({ text, resume }, show) {
    this.runId = crypto.randomUUID();
    const fresh = text && { id: crypto.randomUUID(), role: "user", content: text };
    const input = {
      threadId: this.id, runId: this.runId, protocolVersion: "1.0", state: this.state, tools: [], context: [], forwardedProps: {},
      messages: [...this.messages.values(), ...(fresh ? [fresh] : [])],
      ...(resume && { resume: [resume] }),
    };
    const response = await fetch(this.address, {
      method: "POST",
      headers: { ...this.headers, "Content-Type": "application/json", Accept: "text/event-stream" },
      body: JSON.stringify(input),
    });
    if (!response.ok) throw new Error(await refusal(response));
    if (fresh) this.messages.set(fresh.id, fresh);
    this.ended = false;
    for await (const event of events(response.body)) show(this.take(event));
    // The server breaks a stream off where a run goes on; this is for what stands between.
    if (!this.ended) throw new Error("The stream ended before the run did.");
  }

  // take keeps what an event tells, and returns what is to be said about it.
  take(event) {
    switch (event.type) {
      case "MESSAGES_SNAPSHOT":
        this.messages = new Map(event.messages.map((message) => [message.id, message]));
        break;
      case "TEXT_MESSAGE_START":
        if (!this.messages.has(event.messageId)) this.messages.set(event.messageId, { id: event.messageId, role: event.role ?? "assistant", content: "" });
        break;
      case "TEXT_MESSAGE_CONTENT":
        this.messages.get(event.messageId).content += event.delta;
        break;
      case "ACTIVITY_SNAPSHOT":
        if (event.activityType === "a2a.artifact") this.artifacts.set(event.messageId, event.content);
        break;
      case "ACTIVITY_DELTA":
        for (const { path, value } of event.patch) {
          if (path === "/parts/-") this.artifacts.get(event.messageId)?.parts.push(value);
        }
        break;
      case "STATE_SNAPSHOT":
        this.state = event.snapshot;
        return this.state.a2a?.taskState;
      case "STATE_DELTA":
        for (const { path, value } of event.delta) {
          if (path.startsWith("/a2a/")) this.state.a2a[path.slice("/a2a/".length)] = value;
        }
        return this.state.a2a?.taskState;
      case "CUSTOM":
        return event.name === "a2a.warning" ? event.value?.message ?? "Something was not sent." : undefined;
      case "RUN_ERROR":
        this.ended = true;
        this.interrupt = null;
        throw new Error(`${event.message} (${event.code ?? "no code"})`);
      case "RUN_FINISHED":
        this.ended = true;
        this.interrupt = event.outcome?.type === "interrupt" ? event.outcome.interrupts[0] : null;
        return this.interrupt ? "The agent waits for you." : `The run ended: ${event.outcome?.type ?? "no outcome"}.`;
    }
    return undefined;
  }

  async cancel() {
    const response = await fetch(`${this.address}/runs/${encodeURIComponent(this.runId)}/cancel?threadId=${encodeURIComponent(this.id)}`, { method: "POST", headers: this.headers });
    if (!response.ok) throw new Error(await refusal(response));
  }

  // save fetches a file. The token goes to the console alone, whatever a part says.
  async save(part) {
    const response = await fetch(part.url, { headers: this.headers });
    if (!response.ok) throw new Error(await refusal(response));
    const url = URL.createObjectURL(await response.blob());
    element("a", { href: url, download: part.filename ?? "file" }).click();
    setTimeout(() => URL.revokeObjectURL(url), 60_000);
  }

  isOurs(url) {
    return url?.startsWith(`${this.base}/api/v1/artifacts/`);
  }
}

async function refusal(response) {
  const said = await response.json().catch(() => ({}));
  return said.message ?? said.detail ?? `The console answered ${response.status}.`;
}

let thread;

async function act(what) {
  find("status").className = "";
  try {
    await what();
  } catch (error) {
    find("status").className = "error";
    find("status").textContent = error.message;
  }
  draw();
  drawQuestion();
}

const run = (news) => act(() => thread.run(news, (said) => {
  if (said) find("status").textContent = said;
  draw();
}));

function draw() {
  const items = [];
  for (const { role, content } of thread.messages.values()) {
    const text = typeof content === "string" ? content : (content ?? []).map((part) => part.text ?? "").join("");
    if (text && (role === "user" || role === "assistant")) items.push(element("li", { className: role }, text));
  }
  for (const { name, parts } of thread.artifacts.values()) {
    for (const part of parts.filter(({ url }) => thread.isOurs(url))) {
      const save = element("button", { type: "button" }, `Save ${part.filename ?? name ?? "the file"}`);
      save.addEventListener("click", () => act(() => thread.save(part)));
      items.push(element("li", {}, save));
    }
  }
  find("thread").replaceChildren(...items);
}

// control makes the control of a field of a responseSchema.
function control(key, schema, required) {
  const common = { name: key, id: `field-${key}` };
  if (schema.type === "boolean") return element("input", { ...common, type: "checkbox", checked: schema.default === true });
  if (schema.enum) {
    const options = schema.enum.map((value) => new Option(value, value, false, value === schema.default));
    return element("select", { ...common, required }, ...(required && schema.default !== undefined ? [] : [new Option("", "")]), ...options);
  }
  const number = schema.type === "integer" || schema.type === "number";
  const made = element("input", { ...common, required, type: number ? "number" : "text", value: schema.default ?? "" });
  if (number) Object.assign(made, { min: schema.minimum ?? "", max: schema.maximum ?? "", step: schema.type === "integer" ? 1 : "any" });
  else if (schema.maxLength !== undefined) made.maxLength = schema.maxLength;
  return made;
}

function drawQuestion() {
  const form = find("answer");
  const { id, message, responseSchema, metadata } = thread.interrupt ?? {};
  form.hidden = !id;
  find("composer").hidden = Boolean(id);
  if (!id) return form.replaceChildren();
  const errors = metadata?.validationErrors ?? [];
  if (form.dataset.interrupt === id && form.childElementCount > 0) { // what was typed stays
    form.querySelector(".error").textContent = errors.map(({ path, message: wrong }) => `${path}: ${wrong}`).join("\n");
    return undefined;
  }
  form.dataset.interrupt = id;
  const properties = responseSchema?.properties ?? {};
  const fields = (metadata?.form?.order ?? Object.keys(properties)).filter((key) => properties[key]).map((key) => {
    const schema = properties[key];
    const made = control(key, schema, responseSchema.required?.includes(key) ?? false);
    const label = schema.title ?? key;
    return schema.type === "boolean" ? element("label", { className: "check" }, made, label) : element("label", {}, label, made);
  });
  const cancel = element("button", { type: "button" }, "Give up");
  cancel.addEventListener("click", () => run({ resume: { interruptId: id, status: "cancelled" } }));
  form.replaceChildren(
    element("strong", {}, message), ...fields, element("p", { className: "error" }),
    element("menu", {}, element("button", {}, metadata?.form?.submitLabel ?? "Answer"), cancel),
  );
  return undefined;
}

// payload reads the form: a field that is left empty is left out.
function payload(form, properties) {
  const answer = {};
  for (const [key, schema] of Object.entries(properties)) {
    const made = form.elements.namedItem(key);
    if (schema.type === "boolean") answer[key] = made.checked;
    else if (made.value !== "") answer[key] = schema.type === "integer" || schema.type === "number" ? made.valueAsNumber : made.value;
  }
  return answer;
}

find("connection").addEventListener("submit", (event) => {
  event.preventDefault();
  thread = new Thread(find("console").value, find("token").value, find("agent").value.trim());
  find("conversation").hidden = false;
  find("status").textContent = "";
  draw();
  drawQuestion();
  find("message").focus();
});

find("composer").addEventListener("submit", (event) => {
  event.preventDefault();
  const text = find("message").value;
  find("message").value = "";
  run({ text }).then(() => {
    // What was not sent is not lost.
    const sent = [...thread.messages.values()].some(({ role, content }) => role === "user" && content === text);
    if (!sent && find("message").value === "") find("message").value = text;
  });
});

find("answer").addEventListener("submit", (event) => {
  event.preventDefault();
  const { id, responseSchema } = thread.interrupt;
  run({ resume: { interruptId: id, status: "resolved", payload: payload(event.target, responseSchema?.properties ?? {}) } });
});

find("follow").addEventListener("click", () => run({}));
find("cancel").addEventListener("click", () => act(() => thread.cancel()));
