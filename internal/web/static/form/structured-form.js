// <structured-form>: the form inside it works by itself; this checks it before
// it is sent, sends it without leaving the page, and keeps it until it has been
// sent. A page that updates itself calls close(reason) when the question has
// gone. The attribute "posted" says that it holds what was sent and refused,
// "closed" that it can no longer be sent, "preview" that it never is.

import { dropDraft, dropOldDrafts, loadDraft, saveDraft } from "./drafts.js";
import { Field } from "./field.js";

const DRAFT_DELAY = 150; // milliseconds, as all of these
const ANNOUNCE_DELAY = 700;
const SEND_TIMEOUT = 60_000;
const UNSENT = "What you entered was not sent.";

class StructuredForm extends HTMLElement {
  #fields;
  #form;
  #button;
  #status;
  #announcer;
  #note; // what is to be said of the form as a whole
  #key; // names the send, so that a retry is no second one
  #ownKey; // the key that the page came with
  #isUnsettled = false; // a send may have arrived or not
  #state = "open"; // then "sending", then "sent", or "closed"
  #unwanted = false; // the page would have it removed
  #draftTimer;
  #announceTimer;
  #channel;

  connectedCallback() {
    if (!this.#fields) this.#begin();
    if (this.isPreview) return;
    window.addEventListener("pagehide", this.#departed);
    this.#channel = new BroadcastChannel("taskbay-forms");
    this.#channel.onmessage = ({ data }) => {
      if (data === this.id && this.#state === "open") this.#lock("You have answered in another window.");
    };
  }

  disconnectedCallback() {
    window.removeEventListener("pagehide", this.#departed);
    this.#channel?.close();
    this.#departed();
  }

  #begin() {
    this.#form = this.querySelector("form");
    this.#button = this.querySelector("[type=submit]");
    this.#status = this.querySelector(".form-status");
    this.#key = this.querySelector("input[name=key]");
    this.#ownKey = this.#key?.value;
    this.#fields = Array.from(this.querySelectorAll("[data-kind]"), (row) => new Field(row));
    this.#announcer = add(this.#form, "span", "visually-hidden");
    this.#announcer.role = "status";
    this.addEventListener("input", this.#changed);
    this.addEventListener("focusout", this.#left);
    this.addEventListener("keydown", this.#pressed);
    this.addEventListener("submit", this.#submitted);
    if (!this.isPreview) {
      dropOldDrafts();
      if (!this.hasAttribute("posted")) this.#restore(loadDraft(this.id));
    }
    if (this.hasAttribute("closed")) this.#offerCopy(this.querySelector(".form-note"));
    for (const field of this.#fields) field.refresh();
  }

  get isPreview() {
    return this.hasAttribute("preview");
  }

  get fields() {
    return this.#fields;
  }

  /** Whether anything is other than the agent suggested. */
  get isChanged() {
    return this.#fields.some((field) => field.state !== field.initialState);
  }

  /**
   * Says that the question has gone. Returns whether the form stays on the page,
   * because of what was typed; if not, it may be removed. One that stays only
   * until its answer is through then goes by itself, and takes the element around
   * it along that the page has marked with data-gone.
   */
  close(reason) {
    this.#unwanted = true;
    if (this.#state === "open" && this.isChanged) this.#lock(reason);
    return this.#state === "sending" || (this.#state === "closed" && this.isChanged);
  }

  // Keeping

  #departed = () => {
    if (!this.isPreview && this.#fields.some((field) => field.touched)) this.#keepDraft();
  };

  #keepDraft() {
    clearTimeout(this.#draftTimer);
    if (this.#state === "sent") return;
    const states = Object.fromEntries(this.#fields.map((field) => [field.rule.key, field.state]));
    if (this.#isUnsettled) saveDraft(this.id, states, this.#key.value);
    else if (this.isChanged) saveDraft(this.id, states);
    else dropDraft(this.id);
  }

  #restore(draft) {
    if (!draft) return;
    for (const field of this.#fields) {
      const state = draft.states[field.rule.key];
      if (typeof state === typeof field.state) field.state = state;
    }
    if (draft.key) {
      this.#isUnsettled = true;
      this.#key.value = draft.key;
    }
    if (!this.isChanged) return;
    const note = add(null, "div", "note note-info form-restored");
    add(note, "p", "", "This is what you had entered before.");
    note.append(button("Discard", () => {
      for (const field of this.#fields) field.state = field.initialState;
      this.#isUnsettled = false;
      this.#key.value = this.#ownKey;
      dropDraft(this.id);
      note.remove();
      this.#fields[0].focus();
    }));
    this.querySelector(".form-head").after(note);
  }

  // Entering

  #fieldOf(control) {
    return this.#fields.find((field) => field.contains(control));
  }

  #changed = ({ target }) => {
    const field = this.#fieldOf(target);
    if (!field) return;
    field.touched = true;
    const news = field.refresh();
    clearTimeout(this.#announceTimer);
    this.#announceTimer = setTimeout(() => (this.#announcer.textContent = news), ANNOUNCE_DELAY);
    if (this.isPreview) return;
    if (this.#state === "open" && !this.querySelector(".field-error")) this.#status.textContent = "";
    clearTimeout(this.#draftTimer);
    this.#draftTimer = setTimeout(() => this.#keepDraft(), DRAFT_DELAY);
  };

  // What was changed is checked when it is left, but nothing moves while the
  // button is being pressed: sending checks everything.
  #left = ({ target, relatedTarget }) => {
    const field = this.#fieldOf(target);
    if (field?.touched && !field.contains(relatedTarget) && relatedTarget !== this.#button) field.validate();
  };

  #pressed = (event) => {
    if (event.key !== "Enter") return;
    // The Enter that ends a conversion is the input method's, also in browsers
    // for which the composition has ended by then.
    if (event.isComposing || event.keyCode === 229) {
      if (event.target.localName === "input") event.preventDefault();
    } else if (event.ctrlKey || event.metaKey) {
      event.preventDefault();
      this.#form.requestSubmit(this.#button);
    }
  };

  // Sending

  #submitted = (event) => {
    // If the check fails by a fault of its own, the browser sends the form.
    const wrong = this.#state === "open" ? this.#fields.filter((field) => !field.validate()) : [];
    event.preventDefault();
    if (this.#state !== "open") return;
    if (wrong.length > 0) this.#refuse(wrong);
    else if (!this.isPreview) this.#send();
  };

  #refuse(wrong) {
    this.querySelector(".form-summary")?.remove();
    this.#status.textContent = wrong.length === 1 ? "One answer needs another look." : `${wrong.length} answers need another look.`;
    wrong[0].focus();
  }

  async #send() {
    this.#state = "sending";
    this.#isUnsettled = true;
    this.#keepDraft();
    this.#note?.remove();
    this.#button.ariaDisabled = "true";
    this.#status.textContent = "Sending…";
    const [response, answer] = await post(this.#form.getAttribute("action"), [
      ...Array.from(this.querySelectorAll("input[type=hidden]"), ({ name, value }) => [name, value]),
      ...this.#fields.flatMap((field) => field.posted),
    ]);
    this.#state = "open";
    this.#isUnsettled = !(response?.status < 500);
    this.#button.ariaDisabled = null;
    this.#status.textContent = "";
    this.#settle(response, answer);
    this.#keepDraft();
  }

  #settle(response, answer) {
    if (response?.ok) return this.#succeed(answer?.location);
    const detail = answer?.detail;
    const messages = new Map(answer?.errors?.map((error) => [error.location, error.message]));
    const wrong = this.#fields.filter((field) => messages.has(field.rule.key));
    if (response?.status === 422 && wrong.length > 0) {
      for (const field of wrong) field.say(messages.get(field.rule.key));
      this.#refuse(wrong);
    } else if (response?.status === 409 || response?.status === 404) {
      this.#lock(detail ?? "This question is no longer open.");
    } else {
      this.#say("danger", `${detail ?? "It could not be sent: Taskbay does not answer."} Nothing is lost; try again.`);
    }
  }

  #succeed(location) {
    this.#state = "sent";
    clearTimeout(this.#draftTimer);
    dropDraft(this.id);
    this.#channel.postMessage(this.id);
    this.#button.ariaDisabled = "true";
    this.#status.textContent = "Sent.";
    for (const field of this.#fields) field.lock();
    if (location && new URL(location, document.baseURI).pathname !== window.location.pathname) window.location.assign(location);
    else if (this.#unwanted) this.#leave();
  }

  // Whoever had the focus in here goes on from the content of the page.
  #leave() {
    const place = this.closest("[data-gone]") ?? this;
    const hadFocus = place.contains(document.activeElement);
    place.remove();
    if (hadFocus) document.getElementById("main")?.focus({ preventScroll: true });
  }

  // Nothing can be sent any more; what was typed can be taken elsewhere.
  #lock(reason) {
    for (const field of this.#fields) field.lock();
    this.#button.ariaDisabled = "true";
    this.#offerCopy(this.#say("warning", reason.endsWith(UNSENT) ? reason : `${reason} ${UNSENT}`));
  }

  #offerCopy(note) {
    this.#state = "closed";
    if (!navigator.clipboard) return;
    note.append(button("Copy what you entered", async ({ target }) => {
      const lines = this.#fields.map((field) => `${field.label}: ${field.words}`);
      await navigator.clipboard.writeText(lines.join("\n"));
      target.textContent = "Copied";
    }));
  }

  #say(kind, text) {
    this.#note?.remove();
    this.#note = add(null, "div", `note note-${kind} form-note`);
    this.#note.role = "alert";
    add(this.#note, "p", "", text);
    this.querySelector(".form-actions").before(this.#note);
    return this.#note;
  }
}

/** Returns the response and the JSON in it; undefined for what there is not. */
async function post(address, pairs) {
  try {
    const response = await fetch(address, {
      method: "POST",
      headers: { Accept: "application/json" },
      body: new URLSearchParams(pairs),
      redirect: "error", // to a page, which would say nothing of the answer
      signal: AbortSignal.timeout(SEND_TIMEOUT),
    });
    const isJSON = response.headers.get("Content-Type")?.includes("json");
    return [response, isJSON ? await response.json() : undefined];
  } catch {
    return [];
  }
}

function add(parent, tag, className, text = "") {
  const element = document.createElement(tag);
  element.className = className;
  element.textContent = text;
  parent?.append(element);
  return element;
}

function button(text, action) {
  const element = add(null, "button", "button", text);
  element.type = "button";
  element.addEventListener("click", action);
  return element;
}

customElements.define("structured-form", StructuredForm);
