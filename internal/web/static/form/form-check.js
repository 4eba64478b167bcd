// <form-check>: the check page, live. While the definition is typed, the server
// says what it thinks of it; while the form is filled in, the rules say what it
// would send. What was entered stays where a field of the same name does.

import { exactValue } from "./field.js";
import { check } from "./rules.js";
import "./structured-form.js";

const DELAY = 300; // milliseconds
const KEPT = "taskbay.form-check";

class FormCheck extends HTMLElement {
  #definition;
  #timer;
  #request;

  connectedCallback() {
    // A browser that cannot take markup from a server safely has the button.
    if (!("setHTML" in Element.prototype)) return;
    this.#definition = this.querySelector("#definition");
    this.addEventListener("input", ({ target }) => (target === this.#definition ? this.#inspectSoon() : this.#answer()));
    this.addEventListener("click", (event) => this.#loadSample(event));
    this.querySelector(".check-source").addEventListener("submit", (event) => {
      event.preventDefault();
      this.#inspect();
    });
    this.#restore();
    this.#answer();
  }

  #restore() {
    if (this.#definition.value !== "") return;
    this.#definition.value = kept();
    if (this.#definition.value !== "") this.#inspect();
  }

  // As if it had been pasted, so that it can be undone.
  #loadSample(event) {
    const { sample } = event.target.dataset;
    if (sample === undefined || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    this.#definition.select();
    document.execCommand("insertText", false, sample);
    this.#definition.setSelectionRange(0, 0);
    this.#definition.scrollTop = 0;
  }

  #inspectSoon() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#inspect(), DELAY);
  }

  async #inspect() {
    clearTimeout(this.#timer);
    this.#request?.abort();
    this.#request = new AbortController();
    const definition = this.#definition.value;
    keep(definition);
    const { signal } = this.#request;
    this.querySelector("#check-result").inert = true; // it is about what stood there before
    const markup = await this.#ask(definition, signal);
    if (signal.aborted) return;
    if (markup) this.#show(markup);
    else this.#showFailure();
  }

  #showFailure() {
    const result = this.querySelector("#check-result");
    result.inert = false;
    result.replaceChildren(document.createElement("p"));
    result.firstChild.role = "alert";
    result.firstChild.textContent = "This could not be checked: it is too large, or Taskbay does not answer.";
  }

  async #ask(definition, signal) {
    try {
      const response = await fetch("?part=result", { method: "POST", body: new URLSearchParams({ definition }), signal });
      return response.ok && (await response.text());
    } catch {
      return "";
    }
  }

  #show(markup) {
    const result = this.querySelector("#check-result");
    const entered = enteredIn(result);
    const drawn = document.createElement("template");
    drawn.setHTML(markup, { sanitizer: new Sanitizer({ removeElements: [] }) });
    result.replaceWith(drawn.content);
    restore(this.querySelector("#check-result"), entered);
    this.#answer();
  }

  #answer() {
    const answer = this.querySelector("#check-answer");
    if (!answer) return;
    const fields = fieldsIn(this);
    const entries = Object.fromEntries(fields.map((field) => [field.rule.key, field.entry]));
    const { errors, members, submission } = check({ fields: fields.map((field) => field.rule) }, entries);
    const lines = members.map((member) => `\n  ${member.join(": ")}`).join();
    const wrong = fields.filter((field) => errors[field.rule.key]).map((field) => `${field.label}: ${errors[field.rule.key]}`);
    if (submission === null) answer.textContent = [answer.dataset.none, ...wrong].join("\n");
    else answer.textContent = lines ? `{${visible(lines)}\n}` : "{}";
  }
}

// Storage may be full or off: then nothing is kept.
function keep(definition) {
  try {
    sessionStorage.setItem(KEPT, definition);
  } catch {}
}

function kept() {
  try {
    return sessionStorage.getItem(KEPT) ?? "";
  } catch {
    return "";
  }
}

const fieldsIn = (element) => element.querySelector("structured-form")?.fields ?? [];

/** What a person entered: the fields by key. */
function enteredIn(result) {
  const changed = fieldsIn(result).filter((field) => field.state !== field.initialState);
  return new Map(changed.map((field) => [field.rule.key, field]));
}

// A choice stays with its value, wherever that is in the list now.
function restore(result, entered) {
  for (const field of fieldsIn(result)) {
    const old = entered.get(field.rule.key);
    if (old?.rule.kind !== field.rule.kind) continue;
    const isSame = (choice) => choice.value && exactValue(choice) === old.entry;
    field.state = field.choices.length ? (field.choices.find(isSame)?.value ?? "") : old.entry;
  }
}

// The same JSON, with an escape for each character that cannot be seen.
function visible(json) {
  return json.replace(/[\p{Cf}\p{Zl}\p{Zp}\x7f-\x9f]/gu, (character) =>
    character.split("").map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`).join(""),
  );
}

customElements.define("form-check", FormCheck);
