// <message-composer draft="name">: sends without leaving the page, keeps what is
// typed in this browser until it was accepted, and sends with Ctrl or ⌘ and
// Enter. The form inside works by itself.
import { exactText } from "./copy.js";
import { whose } from "./person.js";

const PREFIX = `taskbay.message.${whose}`;
const DRAFT_DELAY = 200; // milliseconds
const SEND_TIMEOUT = 60_000;

class MessageComposer extends HTMLElement {
  #form;
  #text;
  #key;
  #error;
  #button;
  #unsettled; // {text, pairs}: what was sent and may have arrived or not
  #isSending = false;
  #timer;

  connectedCallback() {
    this.#form = this.querySelector("form");
    this.#text = this.querySelector("textarea");
    this.#key = this.querySelector("input[name=key]");
    this.#error = this.querySelector(".field-error");
    this.#button = this.querySelector("[type=submit]");
    this.#restore();
    this.#text.addEventListener("input", this.#typed);
    this.#text.addEventListener("keydown", this.#pressed);
    this.#form.addEventListener("submit", this.#submitted);
    window.addEventListener("pagehide", this.#save);
  }

  disconnectedCallback() {
    window.removeEventListener("pagehide", this.#save);
  }

  /** Adds a text behind what is typed already. */
  add(text) {
    const typed = this.#text.value.trimEnd();
    this.#text.value = typed ? `${typed}\n\n${text}` : text;
    this.#text.focus();
    this.#typed();
  }

  // Keeping

  get #draftName() {
    return PREFIX + this.getAttribute("draft");
  }

  // A text that came with the page was refused, or asked for: the draft may be
  // another, and is offered.
  #restore() {
    const draft = quietly(() => JSON.parse(localStorage.getItem(this.#draftName)));
    if (typeof draft?.text !== "string") return;
    if (arePairs(draft.pairs)) this.#unsettled = draft;
    if (draft.text === this.#text.value) return;
    if (!this.#text.value) {
      this.#text.value = draft.text;
      return;
    }
    const offer = document.createElement("button");
    offer.type = "button";
    offer.className = "button quiet";
    offer.textContent = "Add what you had typed before";
    offer.addEventListener("click", () => {
      offer.remove();
      this.add(draft.text);
    });
    this.#button.after(offer);
  }

  #typed = () => {
    this.#error.textContent = "";
    this.#text.removeAttribute("aria-invalid");
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.#save, DRAFT_DELAY);
  };

  #save = () => {
    clearTimeout(this.#timer);
    const text = this.#text.value;
    const draft = this.#isRetry ? this.#unsettled : { text };
    quietly(() => (text ? localStorage.setItem(this.#draftName, JSON.stringify(draft)) : localStorage.removeItem(this.#draftName)));
  };

  // Sending

  // The Enter that ends a conversion belongs to the input method.
  #pressed = (event) => {
    const isSend = event.key === "Enter" && (event.ctrlKey || event.metaKey);
    if (!isSend || event.isComposing || event.keyCode === 229) return;
    event.preventDefault();
    this.#form.requestSubmit();
  };

  #submitted = (event) => {
    event.preventDefault();
    if (!this.#isSending) this.#send();
  };

  // While nobody knows whether a message arrived, the same text is the same
  // message, under its key and for the question that it was for.
  get #isRetry() {
    return this.#unsettled?.text === this.#text.value;
  }

  async #send() {
    if (!this.#isRetry) {
      this.#unsettled = { text: this.#text.value, pairs: [...new FormData(this.#form)] };
      this.#key.value = newKey(); // for the next one
    }
    this.#save();
    this.#setSending(true);
    const [response, answer] = await post(this.#form.action, this.#unsettled.pairs);
    this.#setSending(false);
    if (response?.status < 500) this.#unsettled = undefined;
    this.#save();
    if (response?.ok) this.#accepted(answer.location);
    else this.#refused(answer.detail ?? "Taskbay does not answer. Your text is kept; try again.");
  }

  #setSending(isSending) {
    this.#isSending = isSending;
    this.#text.readOnly = isSending;
    this.#button.ariaDisabled = isSending ? "true" : null;
  }

  #accepted(location) {
    this.#text.value = "";
    this.#error.textContent = "";
    this.#save();
    const target = new URL(location, document.baseURI);
    if (target.pathname !== window.location.pathname) window.location.assign(target);
    else if (!document.querySelector("live-region")?.isLive) window.location.reload();
    else this.#text.focus();
  }

  #refused(reason) {
    this.#error.textContent = reason;
    this.#text.ariaInvalid = "true";
    this.#text.focus();
  }
}

/** Returns the response, undefined if there is none, and the JSON in it. */
async function post(address, pairs) {
  try {
    const response = await fetch(address, {
      method: "POST",
      headers: { Accept: "application/json" },
      body: new URLSearchParams(pairs),
      signal: AbortSignal.timeout(SEND_TIMEOUT),
    });
    const isJSON = response.headers.get("Content-Type")?.includes("json");
    return [response, isJSON ? await response.json() : {}];
  } catch {
    return [undefined, {}];
  }
}

const isText = (value) => typeof value === "string";

// What storage holds may be odd.
function arePairs(list) {
  return Array.isArray(list) && list.every((pair) => Array.isArray(pair) && pair.length === 2 && pair.every(isText));
}

function newKey() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

// Storage may be full or off: then nothing is kept.
function quietly(action) {
  try {
    return action();
  } catch {
    return null;
  }
}

// An example of a skill goes into the composer of the page, if it has one.
document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a[data-fill]");
  const composer = link && document.getElementById(link.dataset.fill)?.closest("message-composer");
  if (!composer?.add || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  composer.add(exactText(link));
});

customElements.define("message-composer", MessageComposer);
