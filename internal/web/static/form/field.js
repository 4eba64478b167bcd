// One field of a drawn form: what stands in its controls, and what is said of it.

import { checkField, countCharacters } from "./rules.js";

const DECIMAL_COMMA = (0.5).toLocaleString().includes(",");

export class Field {
  touched = false; // by the person
  #row;
  #controls;
  #first;
  #choices; // radios or options
  #counter;

  /** @param {HTMLElement} row the field as the server draws it */
  constructor(row) {
    this.#row = row;
    this.#controls = [...row.querySelectorAll("input, select, textarea")];
    this.#first = this.#controls[0];
    this.#choices = [...(this.#first.options ?? this.#controls)];
    this.rule = readRule(row.dataset, this.#choices);
    if (this.rule.maxLength) this.#counter = this.#append("span", "field-count");
    // A decimal keyboard has the comma of its country, and no point.
    if (DECIMAL_COMMA && this.#first.inputMode === "decimal") this.#first.inputMode = "text";
  }

  get label() {
    return this.#row.querySelector(".field-label > span, .form-box > span").textContent.trim();
  }

  /** What stands in it: a text, a box on or off, the index of an option, or "". */
  get state() {
    const { type, checked, value } = this.#first;
    if (type === "checkbox") return checked;
    return type === "radio" ? (this.#chosen?.value ?? "") : value;
  }

  set state(state) {
    const { type } = this.#first;
    if (type === "checkbox") this.#first.checked = state;
    else if (type === "radio") for (const radio of this.#controls) radio.checked = radio.value === state;
    else this.#first.value = state;
    this.refresh();
  }

  /** What stood in it when the page came. */
  get initialState() {
    const { type, defaultChecked, defaultValue } = this.#first;
    if (type === "checkbox") return defaultChecked;
    if (this.rule.kind !== "choice") return defaultValue;
    return this.#choices.find((choice) => choice.defaultChecked || choice.defaultSelected)?.value ?? "";
  }

  /** What stands in it, as the rules take it. */
  get entry() {
    if (this.rule.kind !== "choice") return this.state;
    return this.#chosen?.value ? exactValue(this.#chosen) : undefined;
  }

  set entry(entry) {
    const isChoice = this.rule.kind === "choice";
    this.state = isChoice ? (this.#choices.find((choice) => choice.value && exactValue(choice) === entry)?.value ?? "") : entry;
  }

  /** What stands in it, as a person reads it. */
  get words() {
    if (this.rule.kind !== "choice") return String(this.state);
    return (this.#chosen?.labels?.[0] ?? this.#chosen)?.textContent.trim() ?? "";
  }

  /** What a POST says of it: name and value, or nothing. */
  get posted() {
    const { state } = this;
    return state === false || (state === "" && this.rule.kind === "choice") ? [] : [[this.#first.name, state === true ? "on" : state]];
  }

  get #chosen() {
    return this.#choices.find((choice) => choice.checked || choice.selected);
  }

  contains(node) {
    return this.#row.contains(node);
  }

  focus() {
    this.#first.focus();
  }

  /** Checks it, says what is wrong, and returns whether nothing is. */
  validate() {
    const { error } = checkField(this.rule, this.entry);
    this.say(error);
    return !error;
  }

  /** Says what is wrong with it, or that nothing is. */
  say(message) {
    const state = this.#row.querySelector("[role=radiogroup]") ?? this.#first;
    let line = this.#row.querySelector(".field-error");
    if (message) {
      line ??= this.#append("p", "field-error");
      line.id = `f-${this.rule.key}-error`;
      line.role = "alert";
      if (line.textContent !== message) line.textContent = message;
      state.ariaInvalid = "true";
    } else {
      line?.remove();
      state.ariaInvalid = null;
    }
    const told = this.#row.querySelectorAll(".field-hint, .field-rule, .field-note, .field-error");
    state.setAttribute("aria-describedby", Array.from(told, ({ id }) => id).join(" "));
  }

  /** Follows a change. Returns what to announce: how close its text is to the limit, or "". */
  refresh() {
    if (this.#row.querySelector(".field-error")) this.validate();
    grow(this.#first);
    if (!this.#counter) return "";
    const { maxLength } = this.rule;
    const left = maxLength - countCharacters(this.state);
    const text = left < 0 ? `${-left} too many` : `${left} left`;
    this.#counter.textContent = this.state === "" ? "" : text;
    this.#counter.classList.toggle("is-over", left < 0);
    return left <= maxLength / 10 ? `${this.label}: ${text}` : "";
  }

  /** Leaves what stands in it to be read and copied, and no longer changed. */
  lock() {
    for (const control of this.#controls) {
      if (control.matches("textarea, [type=text]")) control.readOnly = true;
      else control.disabled = true;
    }
  }

  #append(tag, className) {
    const element = document.createElement(tag);
    element.className = className;
    this.#row.append(element);
    return element;
  }
}

function readRule({ key, kind, required, least, most }, choices) {
  const rule = { key, kind, required: required !== undefined };
  if (kind === "text") {
    if (least) rule.minLength = Number(least);
    if (most) rule.maxLength = Number(most);
  } else if (kind === "choice") {
    rule.options = choices.filter(({ value }) => value).map((choice) => ({ value: exactValue(choice) }));
  } else {
    rule.minimum = least;
    rule.maximum = most;
  }
  return rule;
}

// A page that shows the answer has the values; any other does with the index.
const exactValue = ({ dataset, value }) => (dataset.value ? JSON.parse(dataset.value) : value);

// Where no style sheet can do it yet.
function grow(control) {
  if (control.localName !== "textarea" || CSS.supports("field-sizing", "content")) return;
  control.style.height = "auto";
  control.style.height = `${control.scrollHeight + 2}px`;
}
