// One field of a drawn form: what stands in its controls, and what is said of it.

import { checkField, countCharacters } from "./rules.js";

const DECIMAL_COMMA = (0.5).toLocaleString().includes(",");

export class Field {
  touched = false; // by the person
  #row;
  #control; // the first, where there are several
  #counter;

  /** @param {HTMLElement} row the field as the server draws it */
  constructor(row) {
    this.#row = row;
    this.#control = row.querySelector("input, select, textarea");
    const { name, options, inputMode, dataset } = this.#control;
    this.choices = [...(options ?? row.querySelectorAll("[type=radio]"))];
    this.rule = readRule(name.slice("f.".length), row.dataset, this.choices);
    if (this.rule.maxLength) this.#counter = this.#append("span", "field-count");
    // A decimal keyboard has the comma of its country, and no point.
    if (DECIMAL_COMMA && inputMode === "decimal") this.#control.inputMode = "text";
    // Nothing here is a credential: password managers keep out.
    dataset["1pIgnore"] = dataset.lpignore = "true";
  }

  get label() {
    return this.#row.querySelector(".field-label > span, .form-box > span").textContent.trim();
  }

  /** What stands in it: a text, a box on or off, the index of an option, or "". */
  get state() {
    const { type, checked, value } = this.#control;
    if (type === "checkbox") return checked;
    return this.choices.length ? (this.chosen?.value ?? "") : value;
  }

  set state(state) {
    if (this.#control.type === "checkbox") this.#control.checked = state;
    else if (this.#control.type === "radio") for (const radio of this.choices) radio.checked = radio.value === state;
    else this.#control.value = state;
    this.refresh();
  }

  /** What stood in it when the page came. */
  get initialState() {
    const { type, defaultChecked, defaultValue } = this.#control;
    if (type === "checkbox") return defaultChecked;
    if (!this.choices.length) return defaultValue;
    return this.choices.find((choice) => choice.defaultChecked || choice.defaultSelected)?.value ?? "";
  }

  get chosen() {
    return this.choices.find((choice) => choice.checked || choice.selected);
  }

  /** What stands in it, as the rules take it. */
  get entry() {
    if (!this.choices.length) return this.state;
    return this.chosen?.value ? exactValue(this.chosen) : undefined;
  }

  /** What stands in it, as a person reads it. */
  get words() {
    if (!this.state || this.state === true) return this.state ? "yes" : "";
    return this.chosen ? (this.chosen.labels?.[0] ?? this.chosen).textContent.trim() : this.state;
  }

  /** What a POST says of it: name and value, or nothing. */
  get posted() {
    const { state } = this;
    if (state === false || (state === "" && this.choices.length)) return [];
    return [[this.#control.name, state === true ? "on" : state]];
  }

  contains(node) {
    return this.#row.contains(node);
  }

  focus() {
    this.#control.focus();
  }

  /** Checks it, says what is wrong, and returns whether nothing is. */
  validate() {
    const { error } = checkField(this.rule, this.entry);
    this.say(error);
    return !error;
  }

  /** Says what is wrong with it, or that nothing is. */
  say(message) {
    const spoken = this.#row.querySelector("[role=radiogroup]") ?? this.#control;
    let line = this.#row.querySelector(".field-error");
    spoken.ariaInvalid = message ? "true" : null;
    if (message) {
      line ??= this.#append("p", "field-error");
      line.id = `f-${this.rule.key}-error`;
      line.role = "alert";
      if (line.textContent !== message) line.textContent = message;
    } else {
      line?.remove();
    }
    const told = this.#row.querySelectorAll(".field-hint, .field-rule, .field-note, .field-error");
    spoken.setAttribute("aria-describedby", Array.from(told, ({ id }) => id).join(" "));
  }

  /** Follows a change. Returns how close a text is to its limit, if that is to be announced. */
  refresh() {
    if (this.#row.querySelector(".field-error")) this.validate();
    if (!this.#counter) return "";
    const { maxLength } = this.rule;
    const left = maxLength - countCharacters(this.state);
    const text = left < 0 ? `${-left} too many` : `${left} left`;
    this.#counter.textContent = this.state && text;
    this.#counter.classList.toggle("is-over", left < 0);
    return left <= maxLength / 10 ? `${this.label}: ${text}` : "";
  }

  /** Leaves what stands in it to be read and copied, and no longer changed. */
  lock() {
    for (const control of this.#row.querySelectorAll("input, select, textarea")) {
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

function readRule(key, { kind, required, least, most }, choices) {
  const rule = { key, kind, required: required !== undefined };
  if (kind === "choice") {
    rule.options = choices.filter(({ value }) => value).map((choice) => ({ value: exactValue(choice) }));
  } else if (kind === "text") {
    if (least) rule.minLength = Number(least);
    if (most) rule.maxLength = Number(most);
  } else {
    rule.minimum = least;
    rule.maximum = most;
  }
  return rule;
}

/** The value that an option sends, on a page that needs it; its index on others. */
export const exactValue = ({ dataset, value }) => (dataset.value ? JSON.parse(dataset.value) : value);
